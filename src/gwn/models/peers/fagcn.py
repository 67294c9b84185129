"""FAGCN (Bo et al., AAAI 2021)."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric import nn as pyg

from gwn.dropout import dropout
from gwn.models.peers.layers import attention_product, edge_ends, graph_of
from gwn.networks.feedforward import Linear, drop_features
from gwn.sparse import SparseMatrix


class FAConv(pyg.FAConv):  # type: ignore[misc]
    """`eps x0 + (tanh(g^T [x_i || x_j] + c) ⊙ S) x`; `c` is zero unless `bias`."""

    def __init__(self, channels: int, eps: float, dropout: float, *, bias: bool) -> None:
        self.bias: nn.Parameter | None = None
        super().__init__(channels, eps, dropout)
        self.bias = nn.Parameter(torch.empty(1)) if bias else None
        self._start_bias()

    def reset_parameters(self) -> None:
        super().reset_parameters()
        self._start_bias()

    def _start_bias(self) -> None:
        """As that of a linear map of both ends."""
        if self.bias is not None:
            bound = (2 * self.channels) ** -0.5
            nn.init.uniform_(self.bias, -bound, bound)

    def propagate(self, edge_index: SparseMatrix, x: Tensor, alpha: tuple[Tensor, Tensor], **others: Any) -> Tensor:
        pattern = edge_index.pattern
        row, col = edge_ends(pattern)
        score = alpha[0].squeeze(-1).index_select(0, col) + alpha[1].squeeze(-1).index_select(0, row)
        if self.bias is not None:
            score = score + self.bias
        values = dropout(score.tanh(), self.dropout, self.training) * edge_index.values
        return attention_product(pattern, values, x)


class FAGCN(nn.Module):
    """`h_i(l+1) = eps h_i(0) + sum_j tanh(g_l^T [h_i(l) || h_j(l)]) / sqrt(d_i d_j) h_j(l)`; no self-loops.

    `h(0) = relu(W1 x)`, `Y = W2 h(L)`. A coefficient above zero smooths, one below sharpens. Defaults of the authors'
    code (train.py of bdy9527/FAGCN): two layers of 32, `eps = 0.3`, dropout 0.5, also on the coefficients, weight decay
    5e-5; on the citation graphs the model is usually run with four layers of 16, dropout 0.6 and weight decay 1e-3.
    `reference`, the default on the shelf, gives the gate of every layer a bias, as their code does; `reference=false`
    has none, as the equation and PyG.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        eps: float = 0.3,
        dropout: float = 0.5,
        reference: bool = False,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.encoder = Linear(in_channels, hidden_channels)
        self.convs = nn.ModuleList(FAConv(hidden_channels, eps, dropout, bias=reference) for _ in range(num_layers))
        self.head = Linear(hidden_channels, out_channels)

    def reset_parameters(self) -> None:
        for layer in (self.encoder, *self.convs, self.head):
            layer.reset_parameters()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        matrix = graph_of(x, edge_index, edge_weight, self_loops="none").matrix
        start: Tensor = F.relu(self.encoder(drop_features(x, self.dropout, self.training)))
        start = hidden = dropout(start, self.dropout, self.training)
        for conv in self.convs:
            hidden = conv(hidden, start, matrix)
        logits: Tensor = self.head(hidden)
        return logits
