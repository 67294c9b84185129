"""WRGAT (Suresh et al., KDD 2021)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn
from torch_geometric.utils import softmax

from gwn.adjacency import adjacency_of
from gwn.dropout import dropout
from gwn.errors import GWNError
from gwn.models.peers.layers import attention_product, edge_ends, sparse_matrix
from gwn.models.peers.precompute_cache import Arrays, announced, cached_by_graph, cached_on_disk, require_at_most
from gwn.networks.feedforward import Linear, drop_features
from gwn.sparse import SparseMatrix

BLOCK = 1 << 15
LARGEST = 200_000_000
"""Entries of all rings together; one takes 16 bytes."""

Floats = NDArray[np.float64]
MOST_NODES = 30_000


class RelationalAttention(nn.Module):
    """`H' = H W_0 + b + sum_r (w^r ⊙ a^r) H W_r`, `a^r_ij = softmax_j leaky_relu(l_r . W_r h_i + s_r . W_r h_j)`.

    reference   the messages of a relation are averaged, as in the authors' code, and so smaller where there are many
    """

    def __init__(self, in_channels: int, out_channels: int, relations: int, reference: bool) -> None:
        super().__init__()
        self.reference = reference
        self.relations = relations
        self.root = Linear(in_channels, out_channels)
        self.maps = Linear(in_channels, relations * out_channels, bias=False)
        self.target = nn.Parameter(torch.empty(relations, out_channels))
        self.source = nn.Parameter(torch.empty(relations, out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        self.root.reset_parameters()
        self.maps.reset_parameters()
        nn.init.xavier_uniform_(self.target)
        nn.init.xavier_uniform_(self.source)

    def forward(self, h: Tensor | SparseMatrix, graphs: list[SparseMatrix]) -> Tensor:
        out: Tensor = self.root(h)
        parts = self.maps(h).chunk(self.relations, dim=1)
        for graph, part, target, source in zip(graphs, parts, self.target, self.source, strict=True):
            row, col = edge_ends(graph.pattern)
            score = (part @ target).index_select(0, row) + (part @ source).index_select(0, col)
            share = softmax(F.leaky_relu(score, 0.2), row, num_nodes=len(out))
            values = share * graph.values
            if self.reference:
                values = values / torch.bincount(row, minlength=len(out)).index_select(0, row)
            out = out + attention_product(graph.pattern, values, part)
        return out


class WRGAT(nn.Module):
    """Two layers of attention over the graph and over graphs of structural likeness, relu between them.

    Relation 0 is the graph itself with weight one (or its edge weights); relation 1 + r joins nodes whose degrees up to
    `r` hops around are alike, with weight `exp(-f_r)`, see `structural_edges`. Defaults of the authors' code
    (exp.py): 128 channels, dropout 0.5 between the layers, weight decay 5e-5. Choices: three structural relations, hops
    0 to 2 (they tune the number, up to ten); nodes without edges have no structure to compare, so the features alone
    answer. The messages are averaged, as in the authors' code (`reference`, the default on the shelf), or
    summed, as the paper has it (`reference=false`).
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        relations: int = 3,
        num_layers: int = 2,
        dropout: float = 0.5,
        reference: bool = False,
    ) -> None:
        super().__init__()
        if relations < 0:
            raise GWNError(f"relations must not be negative; got {relations}")
        self.relations, self.dropout = relations, dropout
        widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.layers = nn.ModuleList(RelationalAttention(a, b, relations + 1, reference) for a, b in pairwise(widths))

    def reset_parameters(self) -> None:
        for layer in self.layers:
            layer.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        nodes, dtype = x.shape[0], x.dtype
        graphs = cached_by_graph(
            edge_index,
            edge_weight,
            ("wrgat", nodes, dtype, self.relations),
            lambda: relation_graphs(edge_index, edge_weight, nodes, dtype, self.relations),
        )
        hidden: Tensor = self.layers[0](drop_features(x, 0.0, self.training), graphs)
        for layer in list(self.layers)[1:]:
            hidden = layer(dropout(F.relu(hidden), self.dropout, self.training), graphs)
        return hidden


def relation_graphs(
    edge_index: Tensor, edge_weight: Tensor | None, nodes: int, dtype: torch.dtype, relations: int
) -> list[SparseMatrix]:
    """The graph, then one graph of structural likeness a ring."""
    require_at_most("wrgat", nodes, MOST_NODES, "it compares the surroundings of nodes pair by pair")
    graph = adjacency_of(edge_index, edge_weight, nodes, dtype=dtype)
    source, target = graph.edge_index
    graphs = [sparse_matrix(target, source, graph.plain.values[graph.is_edge], nodes)]
    edges = graph.edge_index.cpu()
    arrays = cached_on_disk(
        "wrgat",
        {"nodes": nodes, "relations": relations},
        [edges],
        lambda: structural_edges(edges.numpy(), nodes, relations),
    )
    for r in range(relations):
        row, col, weight = (
            torch.from_numpy(arrays[f"{name}_{r}"]).to(edge_index.device) for name in ("row", "col", "weight")
        )
        graphs.append(sparse_matrix(row, col, weight.to(dtype), nodes))
    return graphs


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
    for start in announced(f"structural distances in ring {ring}", range(0, len(pairs), BLOCK)):
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
