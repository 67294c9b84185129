"""MixHop (Abu-El-Haija et al., ICML 2019)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.dropout import dropout
from gwn.models.peers.layers import graph_of
from gwn.networks.feedforward import Linear, drop_features
from gwn.sparse import SparseMatrix, sparse_linear


class MixHopLayer(nn.Module):
    """`||_p Â^p x W_p + b`, `p = 0 ... hops`: PyG's `MixHopConv` with the linear maps before the propagation.

    The two commute; in this order the maps also take sparse features, and hop p + 1 continues what hop p began.
    """

    def __init__(self, in_channels: int, out_channels: int, hops: int) -> None:
        super().__init__()
        self.out_channels, self.hops = out_channels, hops
        self.linear = Linear(in_channels, out_channels * (hops + 1), bias=False)
        self.bias = nn.Parameter(torch.zeros(out_channels * (hops + 1)))

    def reset_parameters(self) -> None:
        self.linear.reset_parameters()
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor | SparseMatrix, matrix: SparseMatrix) -> Tensor:
        rest: Tensor = self.linear(x)
        done = []
        for _ in range(self.hops):
            done.append(rest[:, : self.out_channels])
            rest = sparse_linear(matrix, rest[:, self.out_channels :].contiguous())
        return torch.cat([*done, rest], 1) + self.bias


class MixHop(nn.Module):
    """`H(l+1) = relu(||_p Â^p H(l) W_p(l))`, `p = 0, 1, 2`, and a linear head.

    Two layers and powers 0, 1, 2 as in the paper; `hidden_channels` is the width of each power (the paper shares 60
    among the three and then searches the shares). Dropout 0.5 on the input as in the paper; it takes up to 0.9 between
    the layers, with a learning rate of its own, where 0.5 is used here.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        hops: int = 2,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        wide = hidden_channels * (hops + 1)
        self.convs = nn.ModuleList(
            MixHopLayer(wide if layer else in_channels, hidden_channels, hops) for layer in range(num_layers)
        )
        self.head = Linear(wide, out_channels)

    def reset_parameters(self) -> None:
        for layer in (*self.convs, self.head):
            layer.reset_parameters()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        matrix = graph_of(x, edge_index, edge_weight).matrix
        hidden: Tensor = self.convs[0](drop_features(x, self.dropout, self.training), matrix)
        for conv in list(self.convs)[1:]:
            hidden = conv(dropout(F.relu(hidden), self.dropout, self.training), matrix)
        logits: Tensor = self.head(dropout(F.relu(hidden), self.dropout, self.training))
        return logits
