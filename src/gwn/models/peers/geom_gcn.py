"""Geom-GCN (Pei et al., ICLR 2020)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from scipy.sparse.csgraph import shortest_path
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.spatial import cKDTree
from torch import Tensor, nn

from gwn.adjacency import adjacency_of, normalised_adjacency
from gwn.dropout import dropout
from gwn.models.peers.layers import sparse_matrix
from gwn.models.peers.precompute_cache import Arrays, announced, cached_by_graph, cached_on_disk, require_at_most
from gwn.networks.feedforward import Linear, drop_features
from gwn.sparse import SparseMatrix, sparse_linear

BLOCK = 256
DENSE = 64
ROUNDING = 1e-5
"""Places closer than this share of the extent count as the same: leaves of one node differ by rounding alone."""
LARGEST = 20_000
RELATIONS = 8
"""Two neighbourhoods, in the graph and in the plane, with four directions each."""


class GeomGCN(nn.Module):
    """`h_v' = relu(W [e_(g,1) || ... || e_(s,4)] + b)`, `e_(i,r) = sum_u (d_v d_u)^-1/2 h_u`.

    The sum is over `u` in `N_i(v)` with `τ(v, u) = r`: `N_g` are the neighbours in the graph and the node itself, `N_s`
    those near it in an embedding in the plane, `τ` tells in which of four directions `u` lies there. Embedding:
    `isomap` (Geom-GCN-I; the paper's other two, Poincaré and struc2vec, are not here); the radius of `N_s` grows until
    there are as many pairs as edges, as in the paper. Two layers of 32 channels and dropout 0.5 as the authors have on
    WebKB (16 on Cora). Choices: `d` counts all of `N_i`; `W` adds up the directions in both layers as the equation
    says, where the authors' code concatenates in the first and averages in the last; edge weights count in `N_g`.
    """

    def __init__(
        self, in_channels: int, hidden_channels: int, out_channels: int, *, num_layers: int = 2, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.dropout = dropout
        widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.layers = nn.ModuleList(Linear(a, RELATIONS * b, bias=False) for a, b in pairwise(widths))
        self.biases = nn.ParameterList(nn.Parameter(torch.empty(width)) for width in widths[1:])
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for layer, bias in zip(self.layers, self.biases, strict=True):
            nn.init.xavier_uniform_(layer.weight)  # type: ignore[arg-type]
            nn.init.zeros_(bias)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        nodes, dtype = x.shape[0], x.dtype
        matrices = cached_by_graph(
            edge_index,
            edge_weight,
            ("geom-gcn", nodes, dtype),
            lambda: direction_matrices(edge_index, edge_weight, nodes, dtype),
        )
        hidden: Tensor | SparseMatrix = drop_features(x, self.dropout, self.training)
        out: Tensor | None = None
        for layer, bias in zip(self.layers, self.biases, strict=True):
            if out is not None:
                hidden = dropout(F.relu(out), self.dropout, self.training)
            parts = layer(hidden).chunk(RELATIONS, dim=1)
            out = bias.expand(nodes, -1)
            for matrix, part in zip(matrices, parts, strict=True):
                out = out + sparse_linear(matrix, part)
        assert out is not None
        return out


def direction_matrices(
    edge_index: Tensor, edge_weight: Tensor | None, nodes: int, dtype: torch.dtype
) -> list[SparseMatrix]:
    """`(d_v d_u)^-1/2` split by neighbourhood and direction."""
    require_at_most("geom-gcn", nodes, LARGEST, "its embedding holds the distance of every two nodes")
    graph = adjacency_of(edge_index, edge_weight, nodes, dtype=dtype, self_loops="add")
    plain = adjacency_of(edge_index, edge_weight, nodes, dtype=dtype).edge_index.cpu()
    arrays = cached_on_disk("geom-gcn", {"nodes": nodes}, [plain], lambda: geometric_neighbours(plain.numpy(), nodes))
    place = torch.from_numpy(arrays["place"]).to(edge_index.device)
    pairs = torch.stack([torch.from_numpy(arrays[name]) for name in ("near_col", "near_row")]).to(edge_index.device)
    near = normalised_adjacency(pairs, None, nodes, dtype=dtype, directed=True)
    matrices = []
    for neighbourhood in (graph, near):
        matrix, kept = neighbourhood.matrix, neighbourhood.is_edge
        v, u = matrix.pattern.row.long(), matrix.pattern.col.long()
        right, above = (place[v] > place[u]).unbind(1)
        for direction in range(4):
            own = kept & (right == bool(direction & 1)) & (above == bool(direction & 2))
            matrices.append(sparse_matrix(v[own], u[own], matrix.values[own], nodes))
    return matrices


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


def isomap(adjacency: Any) -> NDArray[np.float64]:
    """Places in the plane whose distances are, as well as can be, the numbers of steps between the nodes.

    Classical scaling: the two leading eigenvectors of `-1/2 J D² J`, `D` the steps, `J = I - 1 1^T / n`. Parts that
    are not connected are one step further apart than the two nodes furthest from each other within a part.
    """
    nodes = adjacency.shape[0]
    squared = np.empty((nodes, nodes), dtype=np.float32)
    for start in announced(f"shortest paths between {nodes} nodes", range(0, nodes, BLOCK)):
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
