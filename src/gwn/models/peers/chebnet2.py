"""ChebNetII (He, Wei and Wen, NeurIPS 2022)."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor, nn

from gwn.dropout import dropout
from gwn.models.peers.layers import graph_of
from gwn.networks.feedforward import FeedForward, drop_features
from gwn.sparse import sparse_linear


class ChebNetII(nn.Module):
    """`Y = sum_k' c_k T_k(L - I) MLP(X)`, `c_k = 2 / (K + 1) sum_j relu(gamma_j) T_k(x_j)`; the dash halves `c_0`.

    The filter is the polynomial that takes the learned values `gamma_j` at the Chebyshev nodes
    `x_j = cos((j + 1/2) pi / (K + 1))`; `L - I = -S` without self-loops. The paper's settings: `K = 10`, one hidden
    layer of 64, dropout 0.5, `gamma = 1` at the start, which is the network alone; dropout before the filter is none on
    Cora and up to 0.9 elsewhere. Their `gamma` has a learning rate and a decay of its own (full.sh): `group_lr` and
    `group_weight_decay` here, by default those of all weights.
    """

    parameter_group: ClassVar[tuple[str, ...]] = ("gamma",)
    nodes: Tensor

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        degree: int = 10,
        dropout: float = 0.5,
        filter_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.dropout, self.filter_dropout = dropout, filter_dropout
        self.network = FeedForward(
            in_channels, hidden_channels, out_channels, layers=num_layers, activation="relu", dropout=dropout
        )
        self.gamma = nn.Parameter(torch.ones(degree + 1))
        order = torch.arange(degree + 1, dtype=torch.float64)
        angles = torch.outer(order, (order + 0.5) * math.pi / (degree + 1))  # T_k(cos t) = cos(k t)
        weights = 2 / (degree + 1) * torch.cos(angles)
        weights[0] /= 2
        self.register_buffer("nodes", weights, persistent=False)

    def reset_parameters(self) -> None:
        self.network.reset_parameters()
        nn.init.ones_(self.gamma)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        graph = graph_of(x, edge_index, edge_weight, self_loops="none")
        hidden: Tensor = self.network(drop_features(x, self.dropout, self.training))
        basis, before = dropout(hidden, self.filter_dropout, self.training), None
        coefficients = self.nodes.to(self.gamma) @ torch.relu(self.gamma)
        logits = coefficients[0] * basis
        for coefficient in coefficients[1:]:
            if before is None:
                basis, before = sparse_linear(graph.affine(0.0, -1.0), basis), basis
            else:
                basis, before = sparse_linear(graph.affine(0.0, -2.0), basis) - before, basis
            logits = logits + coefficient * basis
        return logits
