"""ResGCN (Li et al., ICCV 2019)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import DeepGCNLayer

from gwn.dropout import dropout
from gwn.models.peers.layers import GCNConv, graph_of
from gwn.networks.feedforward import Linear, drop_features


class ResGCN(nn.Module):
    """`H(1) = relu(Â X W)`, `H(l+1) = H(l) + relu(Â H(l) W(l))`, `Y = W H(L)`: a GCN with residual connections.

    Li et al. go to 28 layers of 64 on point clouds; Kipf and Welling (appendix B) draw the same residual GCN for the
    citation graphs, where depth stops paying after a few layers: four here, dropout 0.5 as in a GCN. No normalisation,
    as ResGCN is run in comparisons on these graphs.
    """

    def __init__(
        self, in_channels: int, hidden_channels: int, out_channels: int, *, num_layers: int = 4, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.first = GCNConv(in_channels, hidden_channels)
        self.blocks = nn.ModuleList(
            DeepGCNLayer(GCNConv(hidden_channels, hidden_channels), act=nn.ReLU(), block="res", dropout=dropout)
            for _ in range(num_layers - 1)
        )
        self.head = Linear(hidden_channels, out_channels)

    def reset_parameters(self) -> None:
        self.first.reset_parameters()
        for block in self.blocks:
            block.conv.reset_parameters()  # type: ignore[operator,union-attr]
        self.head.reset_parameters()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        matrix = graph_of(x, edge_index, edge_weight).matrix
        hidden: Tensor = F.relu(self.first(drop_features(x, self.dropout, self.training), matrix))
        hidden = dropout(hidden, self.dropout, self.training)
        for block in self.blocks:
            hidden = block(hidden, matrix)
        logits: Tensor = self.head(hidden)
        return logits
