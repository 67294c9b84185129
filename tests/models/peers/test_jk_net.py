from __future__ import annotations

import numpy as np
import pytest

from dense import close
from peer import X, normalised, output, peer, relu, weights


@pytest.mark.parametrize("mode", ["cat", "max"])
def test_every_layer_jumps_by_hand(mode: str) -> None:
    model = peer("jk-net", num_layers=3, mode=mode)
    w, h, layers = weights(model), X.numpy(), []
    for layer in range(3):
        h = relu(normalised() @ h @ w[f"convs.{layer}.lin.weight"] + w[f"convs.{layer}.bias"])
        layers.append(h)
    jumped = np.concatenate(layers, 1) if mode == "cat" else np.max(layers, 0)
    close(output(model), jumped @ w["head.weight"] + w["head.bias"])


def test_lstm_attention_answers() -> None:
    assert output(peer("jk-net", mode="lstm")).isfinite().all()
