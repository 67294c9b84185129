from __future__ import annotations

import numpy as np
import pytest

from dense import Matrix, close
from peer import EYE, X, graph, output, peer, relu, walk, weights


def layer_norm(x: Matrix, w: dict[str, Matrix], place: str) -> Matrix:
    centred = x - x.mean(1, keepdims=True)
    return centred / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w[place + "weight"] + w[place + "bias"]


@pytest.mark.parametrize(
    ("name", "acmii", "factor"),
    [("acm-gcn", False, 1), ("acm-gcn", True, 1), ("acm-gcn", False, 3), ("acm-gcn-plus", False, 1)],
)
def test_channels_mixed_node_by_node_by_hand(name: str, acmii: bool, factor: int) -> None:
    """Compared with the paper's sum on dense matrices, and with that of the authors' code, three times as large."""
    model = peer(name, acmii=acmii, **({} if factor == 3 else {"reference": False}))
    w, h, P = weights(model), X.numpy(), walk()
    for layer in range(2):
        place = f"layers.{layer}."
        mapped = np.split(h @ w[place + "linear.weight"], 3, 1)
        filters = (P, EYE - P, EYE)
        parts = [F @ relu(z) if acmii else relu(F @ z) for F, z in zip(filters, mapped, strict=True)]
        if name == "acm-gcn-plus":
            parts.append(relu(graph("none") @ w[place + "structure.weight"]))
        scored = parts
        if name == "acm-gcn-plus":
            scored = [layer_norm(part, w, f"{place}norms.{c}.") for c, part in enumerate(parts)]
        scores = np.stack([part @ w[place + "score"][c] for c, part in enumerate(scored)], 1)
        mixture = np.exp((1 / (1 + np.exp(-scores))) @ w[place + "mix"] / len(parts))
        mixture /= mixture.sum(1, keepdims=True)
        h = factor * sum(mixture[:, [c]] * part for c, part in enumerate(parts))
        h = relu(h) if layer == 0 else h
    close(output(model), h)
