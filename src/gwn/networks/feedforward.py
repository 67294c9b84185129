"""The networks before and after the wave: linear by default, as the paper's parameter counts say."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.dropout import dropout
from gwn.errors import GWNError
from gwn.registry import lookup
from gwn.sparse import SparseMatrix, TensorCache, sparse_linear


def identity(x: Tensor) -> Tensor:
    """No activation; a function with a name, so that models can be pickled."""
    return x


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "none": identity,
    "relu": torch.relu,
    "tanh": torch.tanh,
    "elu": F.elu,
    "gelu": F.gelu,
}

NORMS: dict[str, Callable[[int], nn.Module]] = {
    "none": lambda width: nn.Identity(),
    "layer": nn.LayerNorm,
    "batch": nn.BatchNorm1d,
}

_MATRICES = TensorCache()


class Linear(nn.Module):
    """`x W + b` for dense or sparse `x`; `W` is [in, out], so that no product has to copy its transpose first."""

    def __init__(self, in_channels: int, out_channels: int, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """As `torch.nn.Linear`: uniform within `1 / sqrt(in)`."""
        bound = max(1, self.weight.shape[0]) ** -0.5
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    def forward(self, x: Tensor | SparseMatrix) -> Tensor:
        return self.product(x, self.weight, self.bias)

    @staticmethod
    def product(x: Tensor | SparseMatrix, weight: Tensor, bias: Tensor | None) -> Tensor:
        """`x W + b` with any weights."""
        if isinstance(x, SparseMatrix):
            return sparse_linear(x, weight, bias)
        return x @ weight if bias is None else torch.addmm(bias, x, weight)

    def extra_repr(self) -> str:
        return f"{self.weight.shape[0]}, {self.weight.shape[1]}, bias={self.bias is not None}"


class FeedForward(nn.Module):
    """`layers` linear layers with an activation between them, and behind the last one too if `final` says so.

    norm   "none", "layer" or "batch": what stands between a linear map and its activation
    """

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
        norm: str = "none",
    ) -> None:
        super().__init__()
        if layers < 1:
            raise GWNError(f"a network needs at least one layer; got {layers}")
        self.activation = lookup("activation", activation, ACTIVATIONS)
        self.final = final
        self.dropout = dropout
        widths = [in_channels, *[hidden_channels] * (layers - 1), out_channels]
        self.layers = nn.ModuleList(Linear(a, b) for a, b in pairwise(widths))
        normalise = lookup("norm", norm, NORMS)
        self.norms = nn.ModuleList(normalise(width) for width in (widths[1:] if final else widths[1:-1]))

    @property
    def first(self) -> Linear:
        """The first layer: the whole network, if it has one layer."""
        layer = self.layers[0]
        assert isinstance(layer, Linear)
        return layer

    def reset_parameters(self) -> None:
        for layer in (*self.layers, *self.norms):
            if not isinstance(layer, nn.Identity):
                layer.reset_parameters()

    def forward(self, x: Tensor | SparseMatrix) -> Tensor:
        hidden: Tensor = self.layers[0](x)
        for layer, norm in zip(list(self.layers)[1:], self.norms, strict=False):
            hidden = layer(dropout(self.activation(norm(hidden)), self.dropout, self.training))
        return self.activation(self.norms[-1](hidden)) if self.final else hidden


def drop_features(x: Tensor, p: float, training: bool) -> Tensor | SparseMatrix:
    """Dropout on the input; of a CSR tensor only the stored values are drawn, which gives the same distribution."""
    matrix = as_matrix(x)
    if isinstance(matrix, Tensor):
        return dropout(matrix, p, training)
    if not training or p == 0.0:
        return matrix
    return matrix.with_values(dropout(matrix.values, p, training))


def as_matrix(x: Tensor) -> Tensor | SparseMatrix:
    """A CSR tensor as a `SparseMatrix`, made once for each tensor; a dense one as it is."""
    if x.layout != torch.sparse_csr:
        return x
    return _MATRICES.get(x, "matrix", lambda: SparseMatrix.from_tensor(x.detach()))
