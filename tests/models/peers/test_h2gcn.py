"""H2GCN: first and second neighbourhoods apart, all rounds together, on dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

from dense import adjacency, close, normalise
from graphs import normal, random_edges
from gwn import GWNError
from gwn.models.peers import h2gcn
from gwn.models.peers.h2gcn import H2GCN
from seeds import reseed

N, IN, HIDDEN, OUT = 10, 5, 4, 3


def test_two_rounds() -> None:
    """Compared with the paper's formula on dense matrices, which the authors' code computes too."""
    reseed(0)
    model = H2GCN(IN, HIDDEN, OUT).double().eval()
    edges, x = random_edges(N, 12), normal(N, IN)
    A1 = adjacency(edges, N)
    A2 = ((A1 @ A1 > 0) & (A1 == 0) & ~np.eye(N, dtype=bool)) * 1.0
    assert A2.any()
    S1, S2 = normalise(A1), normalise(A2)
    R = [np.maximum(x.numpy() @ model.encoder.weight.detach().numpy(), 0)]
    for _ in range(2):
        R.append(np.hstack([S1 @ R[-1], S2 @ R[-1]]))
    close(model(x, edges), np.hstack(R) @ model.head.weight.detach().numpy(), 1e-12)


def test_number_of_parameters() -> None:
    """Cora, H2GCN-2 with 64 channels: the head sees 7 * 64 of them."""
    assert sum(p.numel() for p in H2GCN(1433, 64, 7).parameters()) == 1433 * 64 + 7 * 64 * 7


def test_too_many_paths_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(h2gcn, "LARGEST", 3)
    with pytest.raises(GWNError, match="at most 3 paths of length two"):
        H2GCN(IN, HIDDEN, OUT)(normal(N, IN).float(), random_edges(N, 12))
