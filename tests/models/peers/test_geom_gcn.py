"""Geom-GCN: the embedding against classical scaling of known places, the directions by loops over pairs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from dense import Matrix, adjacency, close, normalise
from graphs import normal, path, random_edges
from gwn import GWNError
from gwn.models.peers import geom_gcn
from gwn.models.peers.geom_gcn import GeomGCN, geometric_neighbours, isomap
from seeds import reseed

N, IN, HIDDEN, OUT = 10, 5, 4, 3


def both_ways(edges: torch.Tensor, nodes: int) -> Matrix:
    return np.stack(np.nonzero(adjacency(edges, nodes)))[::-1].copy()


@pytest.mark.parametrize("nodes", [9, 90])
def test_a_path_is_a_line(nodes: int) -> None:
    """Steps along a path are distances on a line, which scaling recovers; small graphs and large ones differ in how."""
    place = isomap(sp.csr_array(adjacency(path(nodes), nodes)))
    line = np.arange(nodes) - (nodes - 1) / 2
    close(np.abs(place[:, 0] @ line), line @ line, 1e-3)
    assert np.abs(place[:, 1]).max() < 0.05 * nodes


def test_as_many_pairs_as_edges_and_none_for_isolated_nodes() -> None:
    edges = both_ways(path(30), 32)
    found = geometric_neighbours(edges, 32)
    row, col = found["near_row"], found["near_col"]
    assert edges.shape[1] <= row.size <= 2 * edges.shape[1]
    assert max(row.max(), col.max()) < 30
    distance = np.linalg.norm(found["place"][:30, None] - found["place"][None, :30], axis=2)
    radius = distance[row, col].max()
    assert int((distance <= radius).sum()) - 30 == row.size


def test_two_layers_of_directions() -> None:
    """Compared with the paper's formula by loops over pairs."""
    reseed(0)
    model = GeomGCN(IN, HIDDEN, OUT).double().eval()
    with torch.no_grad():
        for bias in model.biases:
            bias.normal_()
    edges, x = random_edges(N, 12), normal(N, IN)
    found = geometric_neighbours(both_ways(edges, N), N)
    near = np.zeros((N, N))
    near[found["near_row"], found["near_col"]] = 1.0
    z = found["place"]
    h = x.numpy()
    for layer, (linear, bias) in enumerate(zip(model.layers, model.biases, strict=True)):
        virtual = np.zeros((8, N, h.shape[1]))
        for kind, S in enumerate((normalise(adjacency(edges, N, loops="add")), normalise(near))):
            for v in range(N):
                for u in range(N):
                    direction = int(z[v, 0] > z[u, 0]) + 2 * int(z[v, 1] > z[u, 1])
                    virtual[4 * kind + direction, v] += S[v, u] * h[u]
        W = linear.weight.detach().numpy().reshape(h.shape[1], 8, -1)
        h = sum(virtual[r] @ W[:, r] for r in range(8)) + bias.detach().numpy()
        h = np.maximum(h, 0) if layer == 0 else h
    close(model(x, edges), h, 1e-11)


def test_directions_put_together_as_in_the_authors_code() -> None:
    """Compared with what their layers compute, by loops over pairs: nine relations that share no pair, one degree, the
    directions beside each other in the first layer and averaged in the last."""
    reseed(0)
    model = GeomGCN(IN, HIDDEN, OUT, reference=True).double().eval()
    edges, x = random_edges(N, 12), normal(N, IN)
    A = adjacency(edges, N)
    found = geometric_neighbours(both_ways(edges, N), N)
    relation = np.where(A > 0, 0, -1)
    np.fill_diagonal(relation, 8)
    relation[found["near_row"], found["near_col"]] = 4
    assert (A[found["near_row"], found["near_col"]] > 0).any(), "some pairs are in both neighbourhoods"
    z = found["place"]
    for v in range(N):
        for u in range(N):
            if relation[v, u] in (0, 4):
                relation[v, u] += np.array(z[v] > z[u]) @ [1, 2]
    root = (relation >= 0).sum(1) ** -0.5
    h = x.numpy()
    for layer, linear in enumerate(model.layers):
        W = linear.weight.detach().numpy().reshape(h.shape[1], 9, -1)
        parts = np.zeros((9, N, W.shape[2]))
        for v in range(N):
            for near in np.flatnonzero(relation[v] >= 0):
                parts[relation[v, near], v] += root[v] * root[near] * h[near] @ W[:, relation[v, near]]
        h = np.maximum(np.hstack(list(parts)), 0) if layer == 0 else parts.mean(0)
    close(model(x, edges), h, 1e-11)


def test_a_large_graph_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(geom_gcn, "LARGEST", 5)
    with pytest.raises(GWNError, match="geom-gcn takes graphs of at most 5 nodes"):
        GeomGCN(IN, HIDDEN, OUT)(normal(N, IN).float(), random_edges(N, 12))
