"""Features from the edges alone, for graphs whose nodes have none: an explicit choice, computable on any graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from torch import Tensor

from gwn.graph import undirected_edges

BUCKETS = 12
"""Degrees 0, 1, 2, 3-4, 5-8, ..., more than 512."""

WALK_STEPS = (2, 3, 4)
"""Longer walks need powers of the adjacency matrix that are dense on large graphs; one step never returns."""

ROWS = 4096

Features = NDArray[np.float64]


def degree(adjacency: Any) -> Features:
    """log(1 + degree), and which power of two the degree is in."""
    degrees = np.diff(adjacency.indptr)
    bucket = np.where(degrees == 0, 0, 1 + np.ceil(np.log2(np.maximum(degrees, 1))).astype(int)).clip(0, BUCKETS - 1)
    return np.column_stack([np.log1p(degrees), np.eye(BUCKETS)[bucket]])


def random_walk(adjacency: Any) -> Features:
    """Probability that a random walk is back after 2, 3 and 4 steps: degree, triangles and squares around a node.

    With P = D⁻¹A and reversibility, d_i P²_ij = d_j P²_ji, all three are read off the rows of P².
    """
    strength = np.asarray(adjacency.sum(axis=1)).ravel()
    inverse = np.divide(1.0, strength, out=np.zeros_like(strength), where=strength > 0)
    walk = (sp.diags_array(inverse) @ adjacency).tocsr()
    back = walk.T.tocsr()
    out = np.empty((adjacency.shape[0], len(WALK_STEPS)))
    for start in range(0, adjacency.shape[0], ROWS):
        rows = slice(start, start + ROWS)
        twice = (walk[rows] @ walk).tocsr()
        out[rows, 0] = np.asarray(walk[rows].multiply(back[rows]).sum(axis=1)).ravel()
        out[rows, 1] = np.asarray(twice.multiply(back[rows]).sum(axis=1)).ravel()
        out[rows, 2] = np.asarray(twice.power(2) @ inverse).ravel() * strength[rows]
    return out


def constant(adjacency: Any) -> Features:
    """The same number for every node: only the shape of the graph is left to learn from."""
    return np.ones((adjacency.shape[0], 1))


STRUCTURAL: dict[str, tuple[Callable[[Any], Features], tuple[str, ...]]] = {
    "degree": (degree, ("log-degree", *(f"degree-bucket-{number}" for number in range(BUCKETS)))),
    "random-walk": (random_walk, tuple(f"return-after-{steps}" for steps in WALK_STEPS)),
    "constant": (constant, ("constant",)),
}


def structural_features(kind: str, edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int) -> Features:
    """Features [N, f] of the undirected simple graph of these edges."""
    (row, col), weight = undirected_edges(edge_index, edge_weight, num_nodes)
    values = np.ones(row.numel()) if weight is None else weight.numpy().astype(np.float64)
    adjacency = sp.csr_array((values, (row.numpy(), col.numpy())), shape=(num_nodes, num_nodes))
    return STRUCTURAL[kind][0](adjacency)
