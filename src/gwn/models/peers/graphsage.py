"""GraphSAGE (Hamilton, Ying and Leskovec, NeurIPS 2017)."""

from __future__ import annotations

from itertools import pairwise

import torch.nn.functional as F
from torch import Tensor, nn

from gwn.dropout import dropout
from gwn.models.peers.layers import SAGEConv, graph_of
from gwn.networks.feedforward import drop_features


class GraphSAGE(nn.Module):
    """`h_i' = relu(W_self h_i + W_neighbours mean_j h_j + b)`: the mean aggregator, over all neighbours.

    Two layers as in the paper (K = 2). The paper samples neighbours because its graphs do not fit; here none needs to
    be left out. It also scales every hidden row to length one (`normalize=true`), which comparisons on small graphs
    leave out, and has no dropout; 0.5 is usual. The last layer gives the logits.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        dropout: float = 0.5,
        normalize: bool = False,
    ) -> None:
        super().__init__()
        self.dropout, self.normalize = dropout, normalize
        widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.convs = nn.ModuleList(SAGEConv(a, b) for a, b in pairwise(widths))

    def reset_parameters(self) -> None:
        for conv in self.convs:
            conv.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        walk = graph_of(x, edge_index, edge_weight, self_loops="none").random_walk.matrix
        hidden: Tensor = self.convs[0](drop_features(x, self.dropout, self.training), walk)
        for conv in list(self.convs)[1:]:
            hidden = F.relu(hidden)
            if self.normalize:
                hidden = F.normalize(hidden, dim=1)
            hidden = conv(dropout(hidden, self.dropout, self.training), walk)
        return hidden
