"""Who owns which rows: everybody some, about the same work, and few edges between them."""

from __future__ import annotations

import sys

import pytest
import torch

from graphs import NO_EDGES, cycle, random_edges
from gwn import GWNError
from gwn.adjacency import normalised_adjacency
from gwn.training.partitions import assign_rows, contiguous_rows


@pytest.mark.parametrize("method", ["metis", "contiguous"])
@pytest.mark.parametrize("parts", [1, 2, 5, 7])
def test_everybody_has_rows(method: str, parts: int) -> None:
    pytest.importorskip("pymetis")
    for edges, nodes in ((NO_EDGES, 7), (cycle(7), 7), (random_edges(30, 60), 30)):
        owner = assign_rows(normalised_adjacency(edges, None, nodes), parts, method)
        assert owner.shape == (nodes,)
        assert torch.equal(owner.unique(), torch.arange(parts))


def test_contiguous_parts_weigh_the_same() -> None:
    weights = torch.cat([torch.full((10,), 90), torch.full((90,), 10)])
    owner = contiguous_rows(weights, 2)
    assert bool((owner.diff() >= 0).all())
    assert torch.bincount(owner).tolist() == [10, 90]
    assert contiguous_rows(torch.tensor([1000, 1, 1, 1]), 4).tolist() == [0, 1, 2, 3]


def test_metis_cuts_few_edges() -> None:
    pytest.importorskip("pymetis")
    shuffled = torch.randperm(200, generator=torch.Generator().manual_seed(0))
    edges = shuffled[cycle(200)]
    owner = assign_rows(normalised_adjacency(edges, None, 200), 2, "metis")
    assert int((owner[edges[0]] != owner[edges[1]]).sum()) <= 6
    assert abs(int(owner.sum()) - 100) <= 10


def test_bad_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    adjacency = normalised_adjacency(cycle(5), None, 5)
    with pytest.raises(GWNError, match="6 processes asked for, but the graph has 5 nodes; use at most 5"):
        assign_rows(adjacency, 6)
    with pytest.raises(GWNError, match="unknown partition 'random'"):
        assign_rows(adjacency, 2, "random")
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(GWNError, match=r"needs pymetis: pip install 'graph-wave-networks\[large\]'"):
        assign_rows(adjacency, 2, "metis")
    assert assign_rows(adjacency, 2, "auto").tolist() == contiguous_rows(torch.ones(5), 2).tolist()
