"""SGC (Wu et al., ICML 2019)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gwn.models.peers.layers import graph_of
from gwn.networks.feedforward import Linear, drop_features
from gwn.sparse import sparse_linear


class SGC(nn.Module):
    """`Y = Â^K X W + b`: logistic regression on smoothed features; `K = 2` as in the paper, no hidden layer.

    Computed as `Â^K (X W) + b`, which is the same and propagates as many columns as there are classes. The paper has
    no dropout; learning rate 0.2 and weight decay 5e-6 are those of the authors' code (args.py of Tiiiger/SGC).
    """

    def __init__(self, in_channels: int, out_channels: int, *, hops: int = 2, dropout: float = 0.0) -> None:
        super().__init__()
        self.hops, self.dropout = hops, dropout
        self.linear = Linear(in_channels, out_channels, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_channels))

    def reset_parameters(self) -> None:
        self.linear.reset_parameters()
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        matrix = graph_of(x, edge_index, edge_weight).matrix
        hidden: Tensor = self.linear(drop_features(x, self.dropout, self.training))
        for _ in range(self.hops):
            hidden = sparse_linear(matrix, hidden)
        return hidden + self.bias
