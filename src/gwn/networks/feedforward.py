"""The networks before and after the wave: linear by default, as the paper's parameter counts say."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.errors import GWNError
from gwn.registry import lookup
from gwn.sparse import SparseMatrix, TensorCache, sparse_linear

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "none": lambda x: x,
    "relu": torch.relu,
    "tanh": torch.tanh,
    "elu": F.elu,
    "gelu": F.gelu,
}

_MATRICES = TensorCache()


class Linear(nn.Linear):
    """`x W^T + b` for dense or sparse `x`."""

    def forward(self, x: Tensor | SparseMatrix) -> Tensor:
        if isinstance(x, SparseMatrix):
            return sparse_linear(x, self.weight, self.bias)
        return F.linear(x, self.weight, self.bias)


class FeedForward(nn.Module):
    """`layers` linear layers with an activation between them, and behind the last one too if `final` says so."""

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        layers: int = 1,
        activation: str = "none",
        final: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if layers < 1:
            raise GWNError(f"a network needs at least one layer; got {layers}")
        self.activation = lookup("activation", activation, ACTIVATIONS)
        self.final = final
        self.dropout = dropout
        widths = [in_channels, *[hidden_channels] * (layers - 1), out_channels]
        self.layers = nn.ModuleList(Linear(a, b) for a, b in pairwise(widths))

    def reset_parameters(self) -> None:
        for layer in self.layers:
            layer.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Tensor | SparseMatrix) -> Tensor:
        hidden: Tensor = self.layers[0](x)
        for layer in list(self.layers)[1:]:
            hidden = layer(F.dropout(self.activation(hidden), self.dropout, self.training))
        return self.activation(hidden) if self.final else hidden


def drop_features(x: Tensor, p: float, training: bool) -> Tensor | SparseMatrix:
    """Dropout on the input; of a CSR tensor only the stored values are drawn, which gives the same distribution."""
    if x.layout != torch.sparse_csr:
        return F.dropout(x, p, training)
    matrix = _MATRICES.get(x, "matrix", lambda: SparseMatrix.from_tensor(x.detach()))
    if not training or p == 0.0:
        return matrix
    return matrix.with_values(F.dropout(matrix.values, p, training))
