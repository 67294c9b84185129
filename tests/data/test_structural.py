"""Structural features against their definitions."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch

from gwn import GWNError
from gwn.data import contextual_sbm
from gwn.data.structural import BUCKETS, EIGENVECTORS, STRUCTURAL, structural_features, structural_names


def test_return_probabilities_are_diagonals_of_powers() -> None:
    graph = contextual_sbm(nodes=40, degree=3, seed=3)
    weight = torch.rand(graph.num_edges, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for given in (None, weight):
        dense = np.zeros((40, 40))
        source, target = graph.edge_index.numpy()
        dense[source, target] = 1.0 if given is None else given.numpy()
        dense = (dense + dense.T) / 2
        strength = dense.sum(1, keepdims=True)
        walk = np.divide(dense, strength, out=np.zeros_like(dense), where=strength > 0)
        expected = np.column_stack([np.diag(np.linalg.matrix_power(walk, k)) for k in (2, 3, 4)])
        found = structural_features("random-walk", graph.edge_index, given, 40)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_degree_buckets_are_powers_of_two() -> None:
    hub = torch.stack([torch.zeros(700, dtype=torch.long), torch.arange(1, 701)])
    features = structural_features("degree", hub, None, 800)
    assert features[0, 0] == pytest.approx(np.log1p(700))
    assert features[[0, 1, 799], 1:].argmax(1).tolist() == [BUCKETS - 1, 1, 0]
    assert (features[:, 1:].sum(1) == 1).all()


@pytest.mark.parametrize("kind", STRUCTURAL)
def test_no_edges_self_loops_and_blocks_of_rows(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = structural_features(kind, torch.zeros(2, 0, dtype=torch.long), None, 5)
    assert empty.shape == (5, len(STRUCTURAL[kind].names))
    assert np.isfinite(empty).all()
    graph = contextual_sbm(nodes=40, degree=3, seed=4)
    whole = structural_features(kind, graph.edge_index, None, 40)
    loops = torch.cat([graph.edge_index, torch.arange(40).repeat(2, 1)], dim=1)
    np.testing.assert_allclose(structural_features(kind, loops, None, 40), whole)
    monkeypatch.setattr("gwn.data.structural.ROWS", 7)
    np.testing.assert_allclose(structural_features(kind, graph.edge_index, None, 40), whole)


def test_structure_is_what_networkx_says() -> None:
    g = nx.disjoint_union(nx.barabasi_albert_graph(60, 3, seed=1), nx.path_graph(4))
    g.add_node(64)
    edges = torch.tensor(list(g.edges)).T
    found = dict(zip(structural_names("structure"), structural_features("structure", edges, None, 65).T, strict=True))
    known = {
        "log-degree": np.log1p([g.degree[node] for node in g]),
        "clustering": [nx.clustering(g)[node] for node in g],
        "log-core": np.log1p([nx.core_number(g)[node] for node in g]),
        "log-pagerank": np.log(65 * np.array([nx.pagerank(g, tol=1e-12)[node] for node in g])),
    }
    for name, values in known.items():
        np.testing.assert_allclose(found[name], values, atol=1e-4, err_msg=name)


def spectral_of(g: nx.Graph) -> np.ndarray:
    return structural_features("spectral", torch.tensor(list(g.edges), dtype=torch.long).reshape(-1, 2).T, None, len(g))


@pytest.mark.parametrize("nodes", [1, 2, 5, 40])
def test_a_tiny_graph_has_as_many_eigenvectors_as_it_can(nodes: int) -> None:
    features = spectral_of(nx.path_graph(nodes))
    assert features.shape == (nodes, EIGENVECTORS)
    assert np.isfinite(features).all()
    assert (features[:, nodes:] == 0).all()


def test_spectral_features_tell_the_parts_of_a_graph_apart() -> None:
    parts = [nx.gnp_random_graph(30, 0.3, seed=seed) for seed in range(3)]
    features = spectral_of(nx.disjoint_union_all(parts))[:, :3].reshape(3, 30, 3)
    centres = features.mean(axis=1)
    for part in range(3):
        distance = np.linalg.norm(features[part][:, None] - centres, axis=2)
        assert (distance.argmin(axis=1) == part).all()


def test_neither_the_order_of_nodes_nor_the_solver_changes_a_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    g = nx.relaxed_caveman_graph(6, 15, 0.1, seed=3)
    whole = spectral_of(g)[:, :6]
    order = np.random.default_rng(0).permutation(90)
    shuffled = nx.relabel_nodes(g, {node: int(order[node]) for node in g})
    shuffled = nx.Graph([*shuffled.edges])
    again = structural_features("spectral", torch.tensor(list(shuffled.edges)).T, None, 90)[:, :6]
    np.testing.assert_allclose(again[order], whole, atol=1e-6)
    monkeypatch.setattr("gwn.data.structural.DENSE", 0)
    np.testing.assert_allclose(spectral_of(g)[:, :6], whole, atol=1e-4)


def test_equal_eigenvalues_get_the_same_basis_from_every_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = nx.cycle_graph(60)  # every eigenvalue but two is double
    whole = spectral_of(ring)[:, :7]
    monkeypatch.setattr("gwn.data.structural.DENSE", 0)
    np.testing.assert_allclose(spectral_of(ring)[:, :7], whole, atol=1e-3)
    monkeypatch.setattr("gwn.data.structural.RESTARTS", 1)  # nothing converges: what was reached is taken
    assert np.isfinite(spectral_of(ring)).all()


def test_several_kinds_are_joined_and_what_they_share_is_there_once() -> None:
    graph = contextual_sbm(nodes=40, degree=3, seed=4)
    names = structural_names("structure, random-walk,constant")
    found = structural_features("structure, random-walk,constant", graph.edge_index, None, 40)
    assert found.shape == (40, len(names)) == (40, len(STRUCTURAL["structure"].names) + 1)
    with pytest.raises(GWNError, match="did you mean 'spectral'"):
        structural_names("degree,spectrl")
    with pytest.raises(GWNError, match="unknown structural features"):
        structural_names(" , ")
