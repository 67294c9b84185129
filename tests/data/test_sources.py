"""Graphs that need no file: handwritten digits and the contextual stochastic block model."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from gwn.data import contextual_sbm, load_dataset
from gwn.data.describe import describe, edge_homophily
from gwn.data.sources.digits import nearest
from gwn.errors import GWNError
from gwn.graph import Graph, undirected


def test_digits_is_a_nearest_neighbour_graph() -> None:
    digits = load_dataset("digits")
    graph = digits.graph
    assert (graph.num_nodes, graph.num_features, graph.num_classes) == (1797, 64, 10)
    assert float(graph.x.min()) == 0.0
    assert float(graph.x.max()) == 1.0
    assert int(torch.bincount(graph.edge_index[0]).min()) >= 8
    assert describe(digits)["edge_homophily"] > 0.95
    assert digits.default_split == "stratified"


def test_nearest_breaks_ties_by_index() -> None:
    points = np.array([[0], [1], [2], [10], [9]])
    assert nearest(points, 1).tolist() == [[0, 1, 2, 3, 4], [1, 0, 1, 4, 3]]


@settings(deadline=None, max_examples=40)
@given(
    homophily=st.floats(0, 1),
    degree=st.floats(0, 12),
    classes=st.integers(2, 5),
    nodes=st.integers(100, 300),
    seed=st.integers(0, 100),
)
def test_csbm_is_as_asked(homophily: float, degree: float, classes: int, nodes: int, seed: int) -> None:
    graph = contextual_sbm(nodes, degree, homophily, 3, classes, 1.0, seed)
    pairs = round(nodes * degree / 2)
    assert graph.num_edges == 2 * pairs
    assert torch.equal(undirected(graph).edge_index, graph.edge_index)  # simple, symmetric, sorted
    if pairs:
        assert edge_homophily(graph) == pytest.approx(homophily, abs=0.5 / pairs + 1e-6)
    assert graph.num_classes == classes
    assert int(torch.bincount(graph.labels).min()) >= nodes // classes


def test_csbm_signal_moves_the_class_means() -> None:
    for signal in (0.0, 5.0):
        graph = contextual_sbm(4000, 2, 0.5, 8, 2, signal, 1)
        for c in (0, 1):
            norm = float(graph.x[graph.labels == c].mean(0).norm())
            assert norm == pytest.approx(signal, abs=0.15)


def test_csbm_is_reproducible_and_its_seed_matters() -> None:
    hashes = [contextual_sbm(seed=seed).content_hash() for seed in (0, 0, 1)]
    assert hashes[0] == hashes[1] != hashes[2]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"homophily": 1.5}, "homophily is 1.5"),
        ({"degree": -1.0}, "degree is -1.0"),
        ({"classes": 1}, "classes is 1"),
        ({"nodes": 3}, "nodes is 3"),
        ({"features": 0}, "features is 0"),
        ({"signal": float("nan")}, "signal is nan"),
        ({"nodes": 20, "degree": 19.0}, "smaller degree or more nodes"),
    ],
)
def test_csbm_refuses_what_cannot_be(wrong: dict[str, float], says: str) -> None:
    with pytest.raises(GWNError, match=says):
        contextual_sbm(**wrong)  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.floats(0, 10, width=32)), max_size=25))
def test_undirected_is_symmetric_simple_and_idempotent(edges: list[tuple[int, int, float]]) -> None:
    index = torch.tensor([(a, b) for a, b, _ in edges], dtype=torch.long).reshape(-1, 2).t()
    weight = torch.tensor([w for *_, w in edges], dtype=torch.float64)
    graph = undirected(Graph(x=torch.ones(7, 1), edge_index=index, edge_weight=weight))
    pairs = list(map(tuple, graph.edge_index.t().tolist()))
    assert set(pairs) == {p for a, b, _ in edges if a != b for p in ((a, b), (b, a))}
    assert len(pairs) == len(set(pairs))
    assert graph.edge_weight is not None
    weights = dict(zip(pairs, graph.edge_weight.tolist(), strict=True))
    for (a, b), value in weights.items():
        given_here = [w for p, q, w in edges if {p, q} == {a, b}]
        assert value == pytest.approx(sum(given_here) / len(given_here))
        assert weights[b, a] == value
    again = undirected(graph)
    assert torch.equal(again.edge_index, graph.edge_index)
    assert again.edge_weight is not None
    torch.testing.assert_close(again.edge_weight, graph.edge_weight)
