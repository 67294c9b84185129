"""A model of one's own."""

from __future__ import annotations

from torch import Tensor, nn

from gwn.adjacency import adjacency_of
from gwn.dimension import choices
from gwn.models import ModelSpec
from gwn.networks.feedforward import FeedForward, drop_features
from gwn.sparse import sparse_linear


class Averaged(nn.Module):
    """`Y = S (relu(x W) V)`, S with self-loops: an MLP, averaged over the neighbours."""

    def __init__(self, in_channels: int, hidden_channels: int, out_channels: int, *, dropout: float = 0.5) -> None:
        super().__init__()
        self.dropout = dropout
        self.mlp = FeedForward(in_channels, hidden_channels, out_channels, layers=2, activation="relu", dropout=dropout)

    def reset_parameters(self) -> None:
        self.mlp.reset_parameters()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        logits = self.mlp(drop_features(x, self.dropout, self.training))
        adjacency = adjacency_of(edge_index, edge_weight, x.shape[0], dtype=x.dtype, self_loops="add")
        return sparse_linear(adjacency.matrix, logits)


SPEC = ModelSpec(
    name="averaged-mlp",
    network="one_of_each.model:Averaged",
    title="Averaged MLP",
    paper="nobody's",
    year=2026,
    kind="mainstream",
    origin="ours",
    search=choices(hidden_channels=(8, 16)),
)
