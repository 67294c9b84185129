"""Models on a node's features and the means over its neighbours: what any classifier for tables can be given."""

from __future__ import annotations

from itertools import pairwise
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.dropout import dropout
from gwn.errors import GWNError
from gwn.models.peers.layers import graph_of
from gwn.models.peers.tuned import NORMS, norm_layer
from gwn.networks.feedforward import Linear, as_matrix, drop_features
from gwn.registry import require_known
from gwn.sparse import SparseMatrix, sparse_linear


class HopMeans(nn.Module):
    """`X W_0 + P X W_1 + ... + P^K X W_K + b`, `P = D^-1 A`: one linear map of a node's features and of the means over
    its neighbours 1 to K steps away.

    Computed as `X W_0 + P (X W_1 + P (X W_2 + ...))`, which propagates as many columns as the map gives.
    """

    def __init__(self, in_channels: int, out_channels: int, hops: int) -> None:
        super().__init__()
        if hops < 0:
            raise GWNError(f"hops must not be negative; got {hops}")
        self.maps = nn.ModuleList(Linear(in_channels, out_channels, bias=False) for _ in range(hops + 1))
        self.bias = nn.Parameter(torch.zeros(out_channels))

    def reset_parameters(self) -> None:
        for linear in self.maps:
            cast(Linear, linear).reset_parameters()
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor | SparseMatrix, means: SparseMatrix) -> Tensor:
        total: Tensor = self.maps[-1](x)
        for linear in reversed(list(self.maps)[:-1]):
            total = linear(x) + sparse_linear(means, total)
        return total + self.bias


class LogisticRegression(nn.Module):
    """`Y = [X, P X, ..., P^K X] W + b`: logistic regression on the features, and with `hops` on means over neighbours.

    Trained like every other model, by Adam; its weight decay is the usual L2 penalty.
    """

    def __init__(self, in_channels: int, out_channels: int, *, hops: int = 0, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = dropout
        self.linear = HopMeans(in_channels, out_channels, hops)

    def reset_parameters(self) -> None:
        self.linear.reset_parameters()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        means = graph_of(x, edge_index, edge_weight, self_loops="none").random_walk.matrix
        logits: Tensor = self.linear(drop_features(x, self.dropout, self.training), means)
        return logits


class SIGN(nn.Module):
    """`H = relu(norm([X, P X, ..., P^K X] W + b))`, then `num_layers - 1` layers that look at no edge.

    The inception block of the paper with `P = D^-1 A` alone, computed without keeping `P^K X`.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        hops: int = 2,
        num_layers: int = 2,
        norm: str = "batch",
        dropout: float = 0.5,
        input_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        require_known("norm", norm, NORMS)
        self.dropout, self.input_dropout = dropout, input_dropout
        widths = [hidden_channels] * (num_layers - 1)
        self.first = HopMeans(in_channels, (*widths, out_channels)[0], hops)
        self.layers = nn.ModuleList(Linear(a, b) for a, b in pairwise((*widths, out_channels)))
        self.norms = nn.ModuleList(norm_layer(norm, width) for width in widths)

    def reset_parameters(self) -> None:
        for layer in (self.first, *self.layers, *self.norms):
            if not isinstance(layer, nn.Identity):
                layer.reset_parameters()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        means = graph_of(x, edge_index, edge_weight, self_loops="none").random_walk.matrix
        shown = as_matrix(x) if self.input_dropout == 0.0 else drop_features(x, self.input_dropout, self.training)
        hidden: Tensor = self.first(shown, means)
        for layer, norm in zip(self.layers, self.norms, strict=True):
            hidden = layer(dropout(F.relu(norm(hidden)), self.dropout, self.training))
        return hidden
