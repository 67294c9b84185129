from __future__ import annotations

from dense import close
from peer import X, output, peer, relu, weights


def test_layers_by_hand() -> None:
    model = peer("mlp", num_layers=3)
    h = X.numpy()
    w = list(weights(model).values())
    for layer in range(3):
        h = h @ w[2 * layer] + w[2 * layer + 1]
        h = relu(h) if layer < 2 else h
    close(output(model), h)
