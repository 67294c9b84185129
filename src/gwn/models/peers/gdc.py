"""GDC (Gasteiger, Weißenberger and Günnemann, NeurIPS 2019)."""

from __future__ import annotations

from itertools import pairwise

import torch.nn.functional as F
from torch import Tensor, nn

from gwn.dropout import dropout
from gwn.models.peers.diffusion import diffusion_matrix
from gwn.models.peers.layers import propagate
from gwn.networks.feedforward import Linear, drop_features


class GDC(nn.Module):
    """`H(l+1) = relu(S~ H(l) W(l) + b(l))`: a GCN on a diffused graph.

    `S = sum_k theta_k T^k` with `T = D~^-1/2 (A + I) D~^-1/2` and `theta_k = alpha (1 - alpha)^k` (kernel "ppr") or
    `e^-t t^k / k!` (kernel "heat"); `S~` keeps the `k` largest entries of each row (0: all) and those above `epsilon`.
    The paper leaves open which transition matrix of the sparsified graph is used: here rows are scaled to sum one, as
    in the authors' code. Defaults are their settings for GCN on Cora (config.yaml of gasteigerjo/gdc): alpha 0.05,
    k 128, two layers of 64, dropout 0.5; their heat kernel there has t 5, k 0, epsilon 1e-4.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        kernel: str = "ppr",
        alpha: float = 0.05,
        time: float = 5.0,
        k: int = 128,
        epsilon: float = 0.0,
        num_layers: int = 2,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.kernel, self.strength, self.k, self.epsilon = kernel, alpha if kernel == "ppr" else time, k, epsilon
        self.dropout = dropout
        widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.layers = nn.ModuleList(Linear(a, b, bias=False) for a, b in pairwise(widths))
        self.biases = nn.ParameterList(nn.Parameter(self.layers[0].weight.new_zeros(width)) for width in widths[1:])  # type: ignore[operator]
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for layer, bias in zip(self.layers, self.biases, strict=True):
            nn.init.xavier_uniform_(layer.weight)  # type: ignore[arg-type]
            nn.init.zeros_(bias)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        matrix = diffusion_matrix(
            edge_index, edge_weight, x.shape[0], x.dtype, self.kernel, self.strength, self.k, self.epsilon
        )
        hidden: Tensor = propagate(matrix, self.layers[0](drop_features(x, self.dropout, self.training)))
        hidden = hidden + self.biases[0]
        for layer, bias in zip(list(self.layers)[1:], list(self.biases)[1:], strict=True):
            hidden = dropout(F.relu(hidden), self.dropout, self.training)
            hidden = propagate(matrix, layer(hidden)) + bias
        return hidden
