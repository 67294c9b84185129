"""WRGAT (Suresh et al., KDD 2021)."""

from __future__ import annotations

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.utils import softmax

from gwn.adjacency import adjacency_of
from gwn.baselines.beforehand import kept_on_disk, once, require_small
from gwn.baselines.layers import attention_product
from gwn.baselines.node_weights import plain_adjacency
from gwn.baselines.products import sparse_matrix
from gwn.baselines.structure import structural_edges
from gwn.dropout import dropout
from gwn.errors import GWNError
from gwn.model_spec import ModelSpec
from gwn.networks.feedforward import Linear, drop_features
from gwn.sparse import SparseMatrix

LARGEST = 30_000


class RelationalAttention(nn.Module):
    """`H' = H W_0 + b + sum_r (w^r ⊙ a^r) H W_r`, `a^r_ij = softmax_j leaky_relu(l_r . W_r h_i + s_r . W_r h_j)`."""

    def __init__(self, in_channels: int, out_channels: int, relations: int) -> None:
        super().__init__()
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
            row, col = graph.pattern.row, graph.pattern.col
            score = (part @ target).index_select(0, row) + (part @ source).index_select(0, col)
            share = softmax(F.leaky_relu(score, 0.2), row.long(), num_nodes=len(out))
            out = out + attention_product(graph.pattern, share * graph.values, part)
        return out


class WRGAT(nn.Module):
    """Two layers of attention over the graph and over graphs of structural likeness, relu between them.

    Relation 0 is the graph itself with weight one (or its edge weights); relation 1 + r joins nodes whose degrees up to
    `r` hops around are alike, with weight `exp(-f_r)`, see `gwn.baselines.structure`. Defaults of the authors' code
    (exp.py): 128 channels, dropout 0.5 between the layers, weight decay 5e-5. Choices: three structural relations, hops
    0 to 2 (they tune the number, up to ten); nodes without edges have no structure to compare, so the features alone
    answer.
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
    ) -> None:
        super().__init__()
        if relations < 0:
            raise GWNError(f"relations must not be negative; got {relations}")
        self.relations, self.dropout = relations, dropout
        widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.layers = nn.ModuleList(RelationalAttention(a, b, relations + 1) for a, b in pairwise(widths))

    def reset_parameters(self) -> None:
        for layer in self.layers:
            layer.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        nodes, dtype = x.shape[0], x.dtype
        graphs = once(
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
    require_small("wrgat", nodes, LARGEST, "it compares the surroundings of nodes pair by pair")
    graph = adjacency_of(edge_index, edge_weight, nodes, dtype=dtype)
    source, target = graph.edge_index
    graphs = [sparse_matrix(target, source, plain_adjacency(graph).values[graph.is_edge], nodes)]
    edges = graph.edge_index.cpu()
    arrays = kept_on_disk(
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


SPEC = ModelSpec(
    name="wrgat",
    network=WRGAT,
    title="WRGAT",
    paper="Suresh et al., Breaking the Limit of GNNs by Improving the Assortativity of Graphs, KDD 2021",
    year=2021,
    kind="mainstream",
    origin="ours",
    preset={"hidden_channels": 128},
    training={"weight_decay": 5e-5},
    equivariant=False,
)
