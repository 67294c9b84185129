from __future__ import annotations

from dense import close
from peer import X, normalised, output, peer, relu, weights


def test_residual_layers_by_hand() -> None:
    model = peer("resgcn")
    w, S = weights(model), normalised()
    h = relu(S @ X.numpy() @ w["first.lin.weight"] + w["first.bias"])
    for block in range(3):
        h = h + relu(S @ h @ w[f"blocks.{block}.conv.lin.weight"] + w[f"blocks.{block}.conv.bias"])
    close(output(model), h @ w["head.weight"] + w["head.bias"])
