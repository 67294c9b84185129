"""GCN (Kipf and Welling, ICLR 2017)."""

from __future__ import annotations

from itertools import pairwise

import torch.nn.functional as F
from torch import Tensor, nn

from gwn.dropout import dropout
from gwn.models.peers.layers import GCNConv, graph_of
from gwn.networks.feedforward import drop_features


class GCN(nn.Module):
    """`H(l+1) = relu(Â H(l) W(l))`, `Â = D̃^-1/2 (A + I) D̃^-1/2`; dropout before every layer.

    Two layers and dropout 0.5 as in the paper.
    """

    def __init__(
        self, in_channels: int, hidden_channels: int, out_channels: int, *, num_layers: int = 2, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.dropout = dropout
        widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.convs = nn.ModuleList(GCNConv(a, b) for a, b in pairwise(widths))

    def reset_parameters(self) -> None:
        for conv in self.convs:
            conv.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        matrix = graph_of(x, edge_index, edge_weight).matrix
        hidden: Tensor = self.convs[0](drop_features(x, self.dropout, self.training), matrix)
        for conv in list(self.convs)[1:]:
            hidden = conv(dropout(F.relu(hidden), self.dropout, self.training), matrix)
        return hidden
