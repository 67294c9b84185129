"""GAT (Veličković et al., ICLR 2018)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from gwn.dropout import dropout
from gwn.errors import GWNError
from gwn.models.peers.layers import GATConv, graph_of
from gwn.networks.feedforward import drop_features


class GAT(nn.Module):
    """`h_i' = elu(||_k sum_j alpha^k_ij W^k h_j)`, `alpha_ij = softmax_j(leaky_relu(a^T [W h_i || W h_j]))`.

    The paper's settings for Cora: two layers, eight heads of eight features, one output head, leaky slope 0.2, dropout
    0.6 on features and attention, learning rate 0.005. `hidden_channels` is the width of all heads together, 8 x 8 =
    64. More than one output head is averaged, as the paper does on PubMed (`output_heads=8`).
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        heads: int = 8,
        output_heads: int = 1,
        dropout: float = 0.6,
        attention_dropout: float = 0.6,
    ) -> None:
        super().__init__()
        if min(heads, output_heads) < 1 or hidden_channels % heads:
            raise GWNError(f"hidden_channels={hidden_channels} must be a multiple of heads={heads}, heads at least 1")
        self.dropout = dropout
        convs, width = [], in_channels
        for _ in range(num_layers - 1):
            convs.append(GATConv(width, hidden_channels // heads, heads=heads, dropout=attention_dropout))
            width = hidden_channels
        convs.append(GATConv(width, out_channels, heads=output_heads, concat=False, dropout=attention_dropout))
        self.convs = nn.ModuleList(convs)

    def reset_parameters(self) -> None:
        for conv in self.convs:
            conv.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        walk = graph_of(x, edge_index, edge_weight).random_walk.matrix
        weighted = edge_weight is not None
        hidden: Tensor = self.convs[0](drop_features(x, self.dropout, self.training), walk, weighted)
        for conv in list(self.convs)[1:]:
            hidden = conv(dropout(F.elu(hidden), self.dropout, self.training), walk, weighted)
        return hidden
