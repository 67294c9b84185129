"""JK-Net (Xu et al., ICML 2018)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import JumpingKnowledge

from gwn.dropout import dropout
from gwn.models.peers.layers import GCNConv, graph_of
from gwn.networks.feedforward import Linear, drop_features
from gwn.registry import require_known

MODES = ("cat", "max", "lstm")


class JKNet(nn.Module):
    """`H(l+1) = relu(Â H(l) W(l))`, `Y = W AGG(H(1), ..., H(L))`: every layer jumps to the last.

    `mode` is "cat", "max" or "lstm". Defaults are the paper's for Cora (section 6.1, table 2): six GCN layers, its best
    number among one to six for "cat" and for "max" (89.1 and 89.6 there), dropout 0.5, learning rate 0.005, weight
    decay 5e-4, width 32 of its 16 and 32. Choice: the linear map of the features that the paper also jumps with is
    left out, as in the equation.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 6,
        dropout: float = 0.5,
        mode: str = "cat",
    ) -> None:
        super().__init__()
        require_known("mode", mode, MODES)
        self.dropout = dropout
        self.convs = nn.ModuleList(
            GCNConv(hidden_channels if layer else in_channels, hidden_channels) for layer in range(num_layers)
        )
        self.jump = JumpingKnowledge(mode, hidden_channels, num_layers)
        self.head = Linear(hidden_channels * (num_layers if mode == "cat" else 1), out_channels)

    def reset_parameters(self) -> None:
        for conv in self.convs:
            conv.reset_parameters()  # type: ignore[operator]
        self.jump.reset_parameters()
        self.head.reset_parameters()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        matrix = graph_of(x, edge_index, edge_weight).matrix
        hidden: Tensor = F.relu(self.convs[0](drop_features(x, self.dropout, self.training), matrix))
        layers = [hidden]
        for conv in list(self.convs)[1:]:
            hidden = F.relu(conv(dropout(hidden, self.dropout, self.training), matrix))
            layers.append(hidden)
        logits: Tensor = self.head(dropout(self.jump(layers), self.dropout, self.training))
        return logits
