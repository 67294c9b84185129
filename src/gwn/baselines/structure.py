"""How alike the surroundings of two nodes are (struc2vec, Ribeiro et al. 2017): what WRGAT needs beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gwn.baselines.beforehand import Arrays, slowly
from gwn.errors import GWNError

BLOCK = 1 << 15
LARGEST = 200_000_000
"""Entries of all rings together; one takes 16 bytes."""

Floats = NDArray[np.float64]


def structural_edges(edges: NDArray[np.int64], nodes: int, relations: int) -> Arrays:
    """For every ring of hops r = 0, 1, ...: pairs of nodes (`row_r`, `col_r`) and `weight_r = exp(-f_r)`.

    `f_r = f_(r-1) + DTW(s_r(u), s_r(v))`, `s_r(u)` the sorted degrees of the nodes exactly `r` hops from `u`; one step
    of the warping costs `max / min - 1` of the degrees, times the larger number of nodes that have them. A pair is
    compared if one is among the `log2(nodes)` next to the other in the order of degrees, ties by the mean degree of
    the neighbours; it belongs to ring `r` while both have nodes there.
    """
    adjacency = sp.csr_array((np.ones(edges.shape[1]), (edges[1], edges[0])), shape=(nodes, nodes))
    degree = np.diff(adjacency.indptr).astype(np.float64)
    pairs = _candidates(adjacency, degree)
    distinct, level = np.unique(degree, return_inverse=True)
    degrees_of = sp.csr_array((np.ones(nodes), (np.arange(nodes), level)), shape=(nodes, distinct.size))
    ring, reached = sp.eye_array(nodes, format="csr"), sp.eye_array(nodes, format="csr")
    total = np.zeros(len(pairs))
    found: dict[str, NDArray[Any]] = {}
    for r in range(relations):
        if r > 0:
            if float(ring.sum(axis=0) @ degree) > LARGEST:
                raise GWNError(
                    f"wrgat would list more than {LARGEST} nodes {r} hops apart on this graph; take fewer relations"
                )
            ring = ((ring @ adjacency) > 0).astype(np.float64)
            ring = ring - ring.multiply(reached)
            ring.eliminate_zeros()
            reached = reached + ring
        counts = (ring @ degrees_of).tocsr()
        counts.sort_indices()
        alive = np.diff(counts.indptr)[pairs].all(axis=1)
        pairs, total = pairs[alive], total[alive]
        total = total + _warped(counts, distinct, pairs, r)
        found[f"row_{r}"] = np.concatenate([pairs[:, 0], pairs[:, 1]])
        found[f"col_{r}"] = np.concatenate([pairs[:, 1], pairs[:, 0]])
        found[f"weight_{r}"] = np.tile(np.exp(-total), 2)
    return found


def _candidates(adjacency: Any, degree: Floats) -> NDArray[np.int64]:
    """Pairs (u, v) that are close in the order of degrees; nodes without edges are in none."""
    around = adjacency @ degree / np.maximum(degree, 1)
    order = np.lexsort((around, degree))
    order = order[degree[order] > 0]
    reach = int(np.ceil(np.log2(max(2, order.size))))
    steps = [np.stack([order[:-step], order[step:]], axis=1) for step in range(1, min(reach, order.size - 1) + 1)]
    return np.concatenate(steps).astype(np.int64) if steps else np.zeros((0, 2), np.int64)


def _warped(counts: Any, distinct: Floats, pairs: NDArray[np.int64], ring: int) -> Floats:
    """Dynamic time warping of the (degree, number) sequences of every pair, many pairs at a time."""
    out = np.zeros(len(pairs))
    for start in slowly(f"structural distances in ring {ring}", range(0, len(pairs), BLOCK)):
        block = slice(start, start + BLOCK)
        (a, many_a, size_a), (b, many_b, size_b) = (_padded(counts, distinct, pairs[block, side]) for side in (0, 1))
        rows = np.arange(len(a))
        before = np.full((len(a), b.shape[1] + 1), np.inf)
        before[:, 0] = 0.0
        for i in range(a.shape[1]):
            now = np.full_like(before, np.inf)
            for j in range(b.shape[1]):
                step = np.maximum(a[:, i], b[:, j]) / np.minimum(a[:, i], b[:, j]) - 1
                cost = step * np.maximum(many_a[:, i], many_b[:, j])
                now[:, j + 1] = cost + np.minimum(np.minimum(before[:, j], before[:, j + 1]), now[:, j])
            last = size_a == i + 1
            out[start + rows[last]] = now[rows[last], size_b[last]]
            before = now
    return out


def _padded(counts: Any, distinct: Floats, which: NDArray[np.int64]) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Degrees, how many nodes have them, and how many there are, of these nodes; ones behind the end."""
    size = np.diff(counts.indptr)[which].astype(np.int64)
    place = np.arange(int(size.max(initial=0)))
    inside = place[None, :] < size[:, None]
    index = (counts.indptr[which][:, None] + place[None, :])[inside]
    degree, many = np.ones(inside.shape), np.ones(inside.shape)
    degree[inside], many[inside] = distinct[counts.indices[index]], counts.data[index]
    return degree, many, size
