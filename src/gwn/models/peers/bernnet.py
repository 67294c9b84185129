"""BernNet (He et al., NeurIPS 2021)."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor, nn

from gwn.dropout import dropout
from gwn.models.peers.layers import graph_of
from gwn.networks.feedforward import FeedForward, drop_features
from gwn.sparse import sparse_linear


class BernNet(nn.Module):
    """`Y = sum_k relu(theta_k) C(K, k) / 2^K (2I - L)^(K-k) L^k MLP(X)`, `L = I - S` without self-loops.

    The learned `theta_k` is the filter's value near the eigenvalue `2k / K`. Defaults of the authors' code (training.py
    of ivam-he/BernNet): `K = 10`, one hidden layer of 64, dropout 0.5 in the network and before the filter, `theta = 1`
    at the start, which is the network alone. Their bernnet.sh has no dropout before the filter on Cora, 0.9 on Actor,
    and for `theta` no weight decay and a learning rate of its own, 0.002 on Texas: `group_weight_decay` and `group_lr`
    here, by default those of all weights. The powers are nested (Horner in `2I - L`), which takes 2K products where
    term by term takes K (K + 3) / 2.
    """

    parameter_group: ClassVar[tuple[str, ...]] = ("theta",)

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        degree: int = 10,
        dropout: float = 0.5,
        filter_dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.degree, self.dropout, self.filter_dropout = degree, dropout, filter_dropout
        self.network = FeedForward(
            in_channels, hidden_channels, out_channels, layers=num_layers, activation="relu", dropout=dropout
        )
        self.theta = nn.Parameter(torch.ones(degree + 1))

    def reset_parameters(self) -> None:
        self.network.reset_parameters()
        nn.init.ones_(self.theta)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        graph = graph_of(x, edge_index, edge_weight, self_loops="none")
        half_laplacian, half_other = graph.affine(0.5, -0.5), graph.affine(0.5, 0.5)
        hidden: Tensor = self.network(drop_features(x, self.dropout, self.training))
        power = dropout(hidden, self.filter_dropout, self.training)
        theta = torch.relu(self.theta)
        logits = theta[0] * power
        for k in range(1, self.degree + 1):
            power = sparse_linear(half_laplacian, power)
            logits = sparse_linear(half_other, logits) + math.comb(self.degree, k) * theta[k] * power
        return logits
