from __future__ import annotations

import numpy as np
import pytest
import torch

from dense import adjacency, close
from graphs import AWKWARD_WEIGHTS
from gwn import GWNError
from gwn.models import model_spec
from peer import EDGES, N, X, attend, graph, output, peer, weights


def by_hand(w: dict[str, np.ndarray], A: np.ndarray, heads: int) -> np.ndarray:
    h = X.numpy() @ w["convs.0.projection.weight"]
    parts = np.split(h, heads, 1)
    hidden = np.concatenate(
        [attend(A, part, w["convs.0.att_src"][0, k], w["convs.0.att_dst"][0, k]) for k, part in enumerate(parts)], 1
    )
    hidden = hidden + w["convs.0.bias"]
    hidden = np.where(hidden > 0, hidden, np.expm1(hidden))
    last = hidden @ w["convs.1.projection.weight"]
    return attend(A, last, w["convs.1.att_src"][0, 0], w["convs.1.att_dst"][0, 0]) + w["convs.1.bias"]


def test_two_layers_of_attention_by_hand(kernels: str) -> None:
    model = peer("gat", heads=4)
    close(output(model), by_hand(weights(model), graph(), 4))


def test_an_edge_weight_multiplies_the_attention() -> None:
    model = peer("gat", heads=4)
    A = adjacency(EDGES, N, AWKWARD_WEIGHTS.tolist(), loops="add")
    close(model(X, EDGES, AWKWARD_WEIGHTS), by_hand(weights(model), A, 4))


def test_gradients_of_attention() -> None:
    model = peer("gat", heads=2)
    conv = model.convs[0]
    loss = output(model).square().sum()
    (exact,) = torch.autograd.grad(loss, conv.att_src)
    step = 1e-6
    with torch.no_grad():
        conv.att_src[0, 0, 0] += step
        more = output(model).square().sum()
        conv.att_src[0, 0, 0] -= 2 * step
        less = output(model).square().sum()
    assert float(exact[0, 0, 0]) == pytest.approx(float(more - less) / (2 * step), rel=1e-5)


def test_the_size_on_cora() -> None:
    """Cora: 1433 features, 8 heads of 8, 7 classes: 92,373."""
    assert sum(p.numel() for p in model_spec("gat").build(1433, 7).parameters()) == 92_373


def test_heads_must_share_the_width() -> None:
    with pytest.raises(GWNError, match="multiple of heads=8"):
        model_spec("gat").build(3, 2, hidden_channels=12)
