"""Geom-GCN (Pei et al., ICLR 2020)."""

from __future__ import annotations

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.adjacency import adjacency_of, normalised_adjacency
from gwn.baselines.beforehand import kept_on_disk, once, require_small
from gwn.baselines.geometry import geometric_neighbours
from gwn.baselines.products import propagate, sparse_matrix
from gwn.dropout import dropout
from gwn.model_spec import ModelSpec
from gwn.networks.feedforward import Linear, drop_features
from gwn.sparse import SparseMatrix

LARGEST = 20_000
RELATIONS = 8
"""Two neighbourhoods, in the graph and in the plane, with four directions each."""


class GeomGCN(nn.Module):
    """`h_v' = relu(W [e_(g,1) || ... || e_(s,4)] + b)`, `e_(i,r) = sum_u (d_v d_u)^-1/2 h_u`.

    The sum is over `u` in `N_i(v)` with `τ(v, u) = r`: `N_g` are the neighbours in the graph and the node itself,
    `N_s` those near it in an embedding in the plane, `τ` tells in which of four directions `u` lies there. Embedding:
    Isomap (Geom-GCN-I; the paper's other two, Poincaré and struc2vec, are not here), see `gwn.baselines.geometry`; the
    radius of `N_s` grows until there are as many pairs as edges, as in the paper. Two layers of 32 channels and
    dropout 0.5 as the authors have on WebKB (16 on Cora). Choices: `d` counts all of `N_i`; `W` adds up
    the directions in both layers as the equation says, where the authors' code concatenates in the first and averages
    in the last; edge weights count in `N_g`.
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
        matrices = once(
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
                out = out + propagate(matrix, part)
        assert out is not None
        return out


def direction_matrices(
    edge_index: Tensor, edge_weight: Tensor | None, nodes: int, dtype: torch.dtype
) -> list[SparseMatrix]:
    """`(d_v d_u)^-1/2` split by neighbourhood and direction."""
    require_small("geom-gcn", nodes, LARGEST, "its embedding holds the distance of every two nodes")
    graph = adjacency_of(edge_index, edge_weight, nodes, dtype=dtype, self_loops="add")
    plain = adjacency_of(edge_index, edge_weight, nodes, dtype=dtype).edge_index.cpu()
    arrays = kept_on_disk("geom-gcn", {"nodes": nodes}, [plain], lambda: geometric_neighbours(plain.numpy(), nodes))
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


SPEC = ModelSpec(
    name="geom-gcn",
    network=GeomGCN,
    title="Geom-GCN",
    paper="Pei et al., Geom-GCN: Geometric Graph Convolutional Networks, ICLR 2020",
    year=2020,
    kind="mainstream",
    origin="ours",
    preset={"hidden_channels": 32},
    equivariant=False,
)
