"""Geom-GCN (Pei et al., ICLR 2020)."""

from __future__ import annotations

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
from gwn.models.peers.layers import edge_ends, sparse_matrix
from gwn.models.peers.precompute_cache import Arrays, announced, cached_by_graph, cached_on_disk, require_at_most
from gwn.networks.feedforward import Linear, drop_features
from gwn.sparse import SparseMatrix, sparse_linear

BLOCK = 256
DENSE = 64
ROUNDING = 1e-5
"""Places closer than this share of the extent count as the same: leaves of one node differ by rounding alone."""
LARGEST = 20_000
RELATIONS = 8
"""Two neighbourhoods, in the graph and in the plane, with four directions each; the authors' code has the node itself
as a ninth."""


class GeomGCN(nn.Module):
    """`h_v' = relu(W [e_(g,1) || ... || e_(s,4)] + b)`, `e_(i,r) = sum_u (d_v d_u)^-1/2 h_u`.

    The sum is over `u` in `N_i(v)` with `τ(v, u) = r`: `N_g` are the neighbours in the graph and the node itself, `N_s`
    those near it in an embedding in the plane, `τ` tells in which of four directions `u` lies there. Embedding:
    `isomap` (Geom-GCN-I; the paper's other two, Poincaré and struc2vec, are not here); the radius of `N_s` grows until
    there are as many pairs as edges, as in the paper. Two layers of 32 channels and dropout 0.5 as the authors have on
    WebKB (16 on Cora). Choices: `d` counts all of `N_i`; edge weights count in `N_g`.

    `reference`, the default on the shelf, puts directions together as the authors' code does: the layers concatenate
    `W_r e_r` where the last one averages them, without `b`; the node itself is a relation of its own, a pair in both
    neighbourhoods counts in the plane alone, and `d` counts the pairs of both and the node. `reference=false` is the
    paper's sum in every layer, as above. The embedding is the one from here in both.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        dropout: float = 0.5,
        reference: bool = False,
    ) -> None:
        super().__init__()
        self.dropout, self.reference = dropout, reference
        self.relations = RELATIONS + reference
        widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        seen = [in_channels, *[self.relations * hidden_channels] * (num_layers - 1)] if reference else widths[:-1]
        self.layers = nn.ModuleList(
            Linear(a, self.relations * b, bias=False) for a, b in zip(seen, widths[1:], strict=True)
        )
        self.biases = nn.ParameterList(nn.Parameter(torch.empty(width)) for width in widths[1:] if not reference)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for layer in self.layers:
            nn.init.xavier_uniform_(layer.weight)  # type: ignore[arg-type]
        for bias in self.biases:
            nn.init.zeros_(bias)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        nodes, dtype = x.shape[0], x.dtype
        matrices = cached_by_graph(
            edge_index,
            edge_weight,
            ("geom-gcn", nodes, dtype, self.reference),
            lambda: direction_matrices(edge_index, edge_weight, nodes, dtype, self.reference),
        )
        hidden: Tensor | SparseMatrix = drop_features(x, self.dropout, self.training)
        out: Tensor | None = None
        for number, layer in enumerate(self.layers):
            if out is not None:
                hidden = dropout(F.relu(out), self.dropout, self.training)
            parts = layer(hidden).chunk(self.relations, dim=1)
            if self.reference:
                carried = [sparse_linear(matrix, part) for matrix, part in zip(matrices, parts, strict=True)]
                last = number == len(self.layers) - 1
                out = torch.stack(carried).mean(0) if last else torch.cat(carried, dim=1)
                continue
            out = self.biases[number].expand(nodes, -1)
            for matrix, part in zip(matrices, parts, strict=True):
                out = out + sparse_linear(matrix, part)
        assert out is not None
        return out


def direction_matrices(
    edge_index: Tensor, edge_weight: Tensor | None, nodes: int, dtype: torch.dtype, reference: bool = False
) -> list[SparseMatrix]:
    """`(d_v d_u)^-1/2` split by neighbourhood and direction; of `reference`, `d` of both and the diagonal by itself."""
    require_at_most("geom-gcn", nodes, LARGEST, "its embedding holds the distance of every two nodes")
    graph = adjacency_of(edge_index, edge_weight, nodes, dtype=dtype, self_loops="add")
    plain = adjacency_of(edge_index, edge_weight, nodes, dtype=dtype).edge_index.cpu()
    arrays = cached_on_disk("geom-gcn", {"nodes": nodes}, [plain], lambda: geometric_neighbours(plain.numpy(), nodes))
    place = torch.from_numpy(arrays["place"]).to(edge_index.device)
    pairs = torch.stack([torch.from_numpy(arrays[name]) for name in ("near_col", "near_row")]).to(edge_index.device)
    near = normalised_adjacency(pairs, None, nodes, dtype=dtype, directed=True)
    if not reference:
        return [*_by_direction(graph.matrix, graph.is_edge, place), *_by_direction(near.matrix, near.is_edge, place)]
    (v, u), (near_v, near_u) = edge_ends(graph.matrix.pattern), pairs.flip(0)
    alone = graph.is_edge & ~torch.isin(v * nodes + u, near_v * nodes + near_u)
    weight = graph.plain.values * alone
    degree = weight.new_zeros(nodes).index_add_(0, v, weight) + torch.bincount(near_v, minlength=nodes)
    root = torch.where(degree > 0, degree.rsqrt(), 0.0)
    in_graph = graph.matrix.with_values(weight * root[v] * root[u])
    in_plane = sparse_matrix(near_v, near_u, root[near_v] * root[near_u], nodes)
    itself = sparse_matrix(v[v == u], u[v == u], in_graph.values[v == u], nodes)
    everywhere = torch.ones_like(near_v, dtype=torch.bool)
    return [
        *_by_direction(in_graph, alone & (v != u), place),
        *_by_direction(in_plane, everywhere, place),
        itself,
    ]


def _by_direction(matrix: SparseMatrix, kept: Tensor, place: Tensor) -> list[SparseMatrix]:
    """The entries that are kept, one matrix for each of the four directions."""
    v, u = edge_ends(matrix.pattern)
    right, above = (place[v] > place[u]).unbind(1)
    found = []
    for direction in range(4):
        own = kept & (right == bool(direction & 1)) & (above == bool(direction & 2))
        found.append(sparse_matrix(v[own], u[own], matrix.values[own], len(place)))
    return found


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
