"""Ordered GNN (Song et al., ICLR 2023)."""

from __future__ import annotations

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.dropout import dropout
from gwn.errors import GWNError
from gwn.models.peers.layers import graph_of
from gwn.networks.feedforward import Linear, drop_features
from gwn.sparse import sparse_linear


class OrderedGNN(nn.Module):
    """`h(k) = norm(g(k) h(k-1) + (1 - g(k)) m(k))`, `m(k) = D^-1 A h(k-1)`: each hop has channels of its own.

    `g(k) = g(k-1) + (1 - g(k-1)) ĝ(k)` grows from layer to layer, so that a channel once closed stays closed;
    `ĝ(k) = cumsum(softmax([h || m] W + b))`. One gate serves `gate_width` channels. `h(0) = norm(relu(x W))`.
    Defaults are the authors' for Cora (best_params of OrderedGNN): 8 layers, 256 channels in 64 chunks (gate_width 4),
    dropout 0.1 on the input and 0.2 on the states, learning rate 0.005, weight decay 5e-6; `shared_gate` has one gating
    network for all layers, as they have on Texas, where encoder and head decay by 0.05 (`group_weight_decay`). Choice:
    the cumulative sum runs from the first channel to the last; the other direction is the same network with its
    channels renumbered. `reference`, the default on the shelf, drops what the head sees at the input's rate, as their
    code does; `reference=false` at that of the states.
    """

    parameter_group: ClassVar[tuple[str, ...]] = ("encoder", "head")

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 8,
        gate_width: int = 4,
        shared_gate: bool = False,
        input_dropout: float = 0.1,
        dropout: float = 0.2,
        reference: bool = False,
    ) -> None:
        super().__init__()
        if gate_width < 1 or hidden_channels % max(1, gate_width):
            raise GWNError(f"hidden_channels must be a multiple of gate_width; got {hidden_channels} and {gate_width}")
        self.num_layers, self.gate_width = num_layers, gate_width
        self.input_dropout, self.dropout = input_dropout, dropout
        self.last_dropout = input_dropout if reference else dropout
        self.encoder = Linear(in_channels, hidden_channels)
        self.start = nn.LayerNorm(hidden_channels)
        self.gates = nn.ModuleList(
            Linear(2 * hidden_channels, hidden_channels // gate_width) for _ in range(1 if shared_gate else num_layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(hidden_channels) for _ in range(num_layers))
        self.head = Linear(hidden_channels, out_channels)

    def reset_parameters(self) -> None:
        for module in (self.encoder, self.start, *self.gates, *self.norms, self.head):
            module.reset_parameters()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        walk = graph_of(x, edge_index, edge_weight, self_loops="none").random_walk.matrix
        hidden: Tensor = self.start(F.relu(self.encoder(drop_features(x, self.input_dropout, self.training))))
        gate = hidden.new_zeros(())
        for number, norm in enumerate(self.norms):
            hidden = dropout(hidden, self.dropout, self.training)
            mean = sparse_linear(walk, hidden)
            score = self.gates[number % len(self.gates)](torch.cat([hidden, mean], dim=1))
            gate = gate + (1 - gate) * torch.cumsum(torch.softmax(score, dim=1), dim=1)
            wide = gate.repeat_interleave(self.gate_width, dim=1)
            hidden = norm(wide * hidden + (1 - wide) * mean)
        logits: Tensor = self.head(dropout(hidden, self.last_dropout, self.training))
        return logits
