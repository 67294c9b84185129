"""Isomap of a graph in the plane, and who is near whom there: what Geom-GCN needs beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import shortest_path
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.spatial import cKDTree

from gwn.baselines.beforehand import Arrays, slowly

BLOCK = 256
DENSE = 64
ROUNDING = 1e-5
"""Places closer than this share of the extent count as the same: leaves of one node differ by rounding alone."""


def isomap(adjacency: Any) -> NDArray[np.float64]:
    """Places in the plane whose distances are, as well as can be, the numbers of steps between the nodes.

    Classical scaling: the two leading eigenvectors of `-1/2 J D² J`, `D` the steps, `J = I - 1 1^T / n`. Parts that
    are not connected are one step further apart than the two nodes furthest from each other within a part.
    """
    nodes = adjacency.shape[0]
    squared = np.empty((nodes, nodes), dtype=np.float32)
    for start in slowly(f"shortest paths between {nodes} nodes", range(0, nodes, BLOCK)):
        rows = np.arange(start, min(start + BLOCK, nodes))
        squared[rows] = shortest_path(adjacency, method="D", unweighted=True, indices=rows)
    finite = np.isfinite(squared)
    squared[~finite] = squared[finite].max() + 1
    np.square(squared, out=squared)

    def centred(x: NDArray[Any]) -> NDArray[Any]:
        flat = np.asarray(x, dtype=np.float64).ravel()
        out = -0.5 * (squared @ (flat - flat.mean()).astype(np.float32)).astype(np.float64)
        shifted: NDArray[Any] = out - out.mean()
        return shifted

    if nodes <= DENSE:
        values, vectors = np.linalg.eigh(np.stack([centred(unit) for unit in np.eye(nodes)]))
    else:
        operator = LinearOperator((nodes, nodes), matvec=centred, dtype=np.float64)
        start_vector = np.sin(np.arange(1.0, nodes + 1.0))
        values, vectors = eigsh(operator, k=2, which="LA", v0=start_vector, tol=1e-6)
    leading = np.argsort(values)[::-1][:2]
    places = vectors[:, leading] * np.sqrt(np.maximum(values[leading], 0.0))
    places = np.pad(places, ((0, 0), (0, 2 - places.shape[1])))
    step = ROUNDING * max(float(np.abs(places).max()), 1e-12)
    rounded: NDArray[np.float64] = np.round(places / step) * step
    return rounded


def geometric_neighbours(edges: NDArray[np.int64], nodes: int) -> Arrays:
    """`place` of every node, and the pairs (`near_row`, `near_col`) closer than a radius.

    The radius is the smallest one with at least as many pairs as the graph has edges. Nodes without edges have no
    place, and no neighbours.
    """
    place = np.zeros((nodes, 2))
    used = np.unique(edges)
    if used.size == 0:
        return {"place": place, "near_row": np.zeros(0, np.int64), "near_col": np.zeros(0, np.int64)}
    number = np.full(nodes, -1)
    number[used] = np.arange(used.size)
    size = (used.size, used.size)
    adjacency = sp.csr_array((np.ones(edges.shape[1]), (number[edges[1]], number[edges[0]])), shape=size)
    place[used] = isomap(adjacency)
    tree = cKDTree(place[used])
    low, high = 0.0, float(np.ptp(place, axis=0).sum())
    for _ in range(50):
        middle = (low + high) / 2
        enough = tree.count_neighbors(tree, middle) - used.size >= edges.shape[1]
        low, high = (low, middle) if enough else (middle, high)
    pairs = tree.query_pairs(high, output_type="ndarray").astype(np.int64)
    row, col = used[pairs[:, 0]], used[pairs[:, 1]]
    return {"place": place, "near_row": np.concatenate([row, col]), "near_col": np.concatenate([col, row])}
