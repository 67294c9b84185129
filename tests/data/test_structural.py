"""Structural features against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gwn.data import contextual_sbm
from gwn.data.structural import BUCKETS, STRUCTURAL, structural_features


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
    assert empty.shape == (5, len(STRUCTURAL[kind][1]))
    assert np.isfinite(empty).all()
    graph = contextual_sbm(nodes=40, degree=3, seed=4)
    whole = structural_features(kind, graph.edge_index, None, 40)
    loops = torch.cat([graph.edge_index, torch.arange(40).repeat(2, 1)], dim=1)
    np.testing.assert_allclose(structural_features(kind, loops, None, 40), whole)
    monkeypatch.setattr("gwn.data.structural.ROWS", 7)
    np.testing.assert_allclose(structural_features(kind, graph.edge_index, None, 40), whole)
