"""AIR (Zhang et al., KDD 2022): a GCN with adaptive initial residuals."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.dropout import dropout
from gwn.models.peers.layers import graph_of
from gwn.networks.feedforward import Linear, drop_features
from gwn.sparse import sparse_linear


class AIR(nn.Module):
    """`H(l+1) = Â relu((1 - a) H(l) + a H(1)) W(l)`, `a_i = sigmoid(u . [H_i(l) || H_i(1)] + c)`, `H(1) = Â x W(0)`.

    GCN+AIR of the paper: before every propagation each node decides how much of its first hidden state to take back;
    `u` is shared. `Â = D~^-1/2 (A + I) D~^-1/2`; logits are linear in `relu(H(L))`. Defaults are the authors' for
    Cora (README of PKU-DAIR/AIR): four layers, 50 channels, dropout 0.8. Choice: relu where their code has a
    parametric one, and dropout between layers only, as there.
    """

    def __init__(
        self, in_channels: int, hidden_channels: int, out_channels: int, *, num_layers: int = 4, dropout: float = 0.8
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.first = Linear(in_channels, hidden_channels)
        self.layers = nn.ModuleList(Linear(hidden_channels, hidden_channels) for _ in range(num_layers - 1))
        self.gate = Linear(2 * hidden_channels, 1) if num_layers > 1 else None
        self.head = Linear(hidden_channels, out_channels)

    def reset_parameters(self) -> None:
        for layer in (self.first, *self.layers, self.gate, self.head):
            if layer is not None:
                layer.reset_parameters()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        matrix = graph_of(x, edge_index, edge_weight).matrix
        initial = sparse_linear(matrix, self.first(drop_features(x, 0.0, self.training)))
        hidden = initial
        for layer in self.layers:
            assert self.gate is not None
            share = torch.sigmoid(self.gate(torch.cat([hidden, initial], dim=1)))
            mixed = F.relu((1 - share) * hidden + share * initial)
            hidden = sparse_linear(matrix, layer(dropout(mixed, self.dropout, self.training)))
        logits: Tensor = self.head(F.relu(dropout(hidden, self.dropout, self.training)))
        return logits
