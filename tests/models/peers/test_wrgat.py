"""WRGAT: warping by the textbook recursion, rings by shortest paths, attention by loops."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from scipy.sparse.csgraph import shortest_path

from dense import Matrix, adjacency, close, linear
from graphs import normal, path, random_edges
from gwn import GWNError
from gwn.models.peers import wrgat
from gwn.models.peers.wrgat import WRGAT, relation_graphs, structural_edges
from seeds import reseed

N, IN, HIDDEN, OUT = 12, 5, 4, 3


def both_ways(edges: torch.Tensor, nodes: int) -> Matrix:
    return np.stack(np.nonzero(adjacency(edges, nodes)))[::-1].copy()


def warped(a: list[tuple[float, int]], b: list[tuple[float, int]]) -> float:
    """The cheapest way to walk through both sequences, by recursion."""
    if not a and not b:
        return 0.0
    if not a or not b:
        return float("inf")
    (x, many_x), (y, many_y) = a[-1], b[-1]
    cost = (max(x, y) / min(x, y) - 1) * max(many_x, many_y)
    return cost + min(warped(a[:-1], b), warped(a, b[:-1]), warped(a[:-1], b[:-1]))


def test_weights_of_likeness() -> None:
    """Compared with the paper's recursion, written out."""
    edges = random_edges(N, 14)
    A = adjacency(edges, N)
    hops, degree = shortest_path(A, unweighted=True), A.sum(1)
    found = structural_edges(both_ways(edges, N), N, 3)
    for r in range(3):
        assert found[f"row_{r}"].size > 0
        for u, v, weight in zip(found[f"row_{r}"], found[f"col_{r}"], found[f"weight_{r}"], strict=True):
            total = 0.0
            for ring in range(r + 1):
                a, b = (sorted(Counter(degree[hops[w] == ring]).items()) for w in (u, v))
                total += warped(a, b)
            close(weight, np.exp(-total), 1e-12)


def test_the_ends_of_a_path_are_alike() -> None:
    found = structural_edges(both_ways(path(6), 7), 7, 3)
    pairs = set(zip(found["row_2"].tolist(), found["col_2"].tolist(), strict=True))
    assert (0, 5) in pairs
    assert all(6 not in pair for pair in pairs), "a node without edges is like no other"
    place = list(zip(found["row_2"].tolist(), found["col_2"].tolist(), strict=True)).index((0, 5))
    close(found["weight_2"][place], 1.0)


@pytest.mark.parametrize("reference", [False, True])
def test_two_layers(reference: bool) -> None:
    """Compared with the paper's sums by loops over edges, and with the means of the authors' code."""
    reseed(0)
    model = WRGAT(IN, HIDDEN, OUT, relations=2, reference=reference).double().eval()
    edges, x = random_edges(N, 14), normal(N, IN)
    graphs = [graph.csr.to_dense().numpy() for graph in relation_graphs(edges, None, N, torch.float64, 2)]
    close(graphs[0], adjacency(edges, N))
    h = x.numpy()
    for number, layer in enumerate(model.layers):
        out = linear(layer.root, torch.from_numpy(h))
        W = np.split(h @ layer.maps.weight.detach().numpy(), 3, axis=1)
        target, source = layer.target.detach().numpy(), layer.source.detach().numpy()
        for r, w in enumerate(graphs):
            score = (W[r] @ target[r])[:, None] + (W[r] @ source[r])[None, :]
            e = (w > 0) * np.exp(np.where(score > 0, score, 0.2 * score))
            many = np.maximum((w > 0).sum(1, keepdims=True), 1) if reference else 1
            out = out + (w * e / np.maximum(e.sum(1, keepdims=True), 1e-300)) @ W[r] / many
        h = np.maximum(out, 0) if number == 0 else out
    close(model(x, edges), h, 1e-11)


def test_large_graphs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrgat, "MOST_NODES", 5)
    with pytest.raises(GWNError, match="wrgat takes graphs of at most 5 nodes"):
        WRGAT(IN, HIDDEN, OUT)(normal(N, IN).float(), random_edges(N, 14))
    monkeypatch.setattr(wrgat, "LARGEST", 5)
    with pytest.raises(GWNError, match="more than 5 nodes 1 hops apart"):
        structural_edges(both_ways(random_edges(N, 14), N), N, 3)
