from __future__ import annotations

import numpy as np
import pytest

from dense import close
from gwn.models import model_spec
from peer import HIDDEN, X, normalised, output, peer, relu, weights


@pytest.mark.parametrize("variant", [False, True])
def test_initial_residual_and_identity_mapping_by_hand(variant: bool) -> None:
    """Compared with the paper's formula on dense matrices, which the authors' code computes too."""
    model = peer("gcnii", num_layers=4, alpha=0.3, theta=1.5, variant=variant)
    w, S, eye = weights(model), normalised(), np.eye(HIDDEN)
    start = h = relu(X.numpy() @ w["encoder.weight"] + w["encoder.bias"])
    for layer in range(4):
        beta = np.log(1.5 / (layer + 1) + 1)
        near = (1 - beta) * eye + beta * w[f"convs.{layer}.weight1"]
        far = (1 - beta) * eye + beta * w[f"convs.{layer}.weight2"] if variant else near
        h = relu(0.7 * S @ h @ near + 0.3 * start @ far)
    close(output(model), h @ w["head.weight"] + w["head.bias"])


def test_the_size_on_cora() -> None:
    """1433 features, 64 layers of 64 without biases, 7 classes; encoder and head have one."""
    count = sum(p.numel() for p in model_spec("gcnii").build(1433, 7).parameters())
    assert count == 1434 * 64 + 64 * 64 * 64 + 65 * 7
