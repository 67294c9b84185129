"""Row-normalised features: the absolute values of a node's features sum to one, as in most peers' published code."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn import kernels
from gwn.dense import dense_linear
from gwn.dropout import dropout, kept_entries
from gwn.errors import GWNError
from gwn.registry import lookup
from gwn.sparse import SPARSE_DENSITY, SparseMatrix, TensorCache, dense_to_csr, sparse_linear


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
        return dense_linear(x, weight, bias)

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

    def forward(self, x: Tensor | SparseMatrix, numbers: Tensor | None = None) -> Tensor:
        """`numbers` names the rows of `x` for dropout, see `gwn.dropout`."""
        hidden: Tensor = self.layers[0](x)
        for layer, norm in zip(list(self.layers)[1:], self.norms, strict=False):
            hidden = layer(dropout(self.activation(norm(hidden)), self.dropout, self.training, numbers))
        return self.activation(self.norms[-1](hidden)) if self.final else hidden


def drop_features(x: Tensor, p: float, training: bool, numbers: Tensor | None = None) -> Tensor | SparseMatrix:
    """Dropout on the input; of a CSR tensor only the stored values are drawn, which gives the same distribution."""
    matrix = as_matrix(x)
    if training and p > 0.0 and numbers is None:
        sparse = _few_entries(x, p) if isinstance(matrix, Tensor) else matrix
        if sparse is not None and kernels.usable(sparse.pattern.nnz, FEWEST_COLUMNS, sparse.values):
            return kept_entries(sparse, x if isinstance(matrix, Tensor) else sparse.values, p)
    if isinstance(matrix, Tensor):
        return dropout(matrix, p, training, numbers)
    if not training or p == 0.0:
        return matrix
    if numbers is not None:  # of an entry: row by row, as if the matrix were written out
        pattern = matrix.pattern
        numbers = numbers.index_select(0, pattern.row) * pattern.shape[1] + pattern.col
    return matrix.with_values(dropout(matrix.values, p, training, numbers))


FEWEST_COLUMNS = 16
"""Columns of a weight for which it pays to leave out what is dropped."""


def _few_entries(x: Tensor, p: float) -> SparseMatrix | None:
    """The non-zeros of dense features, where dropout leaves so few of them that a sparse product is faster."""
    if x.requires_grad or x.numel() * FEWEST_COLUMNS < kernels.SMALLEST:
        return None

    def build() -> SparseMatrix | None:
        share = float(torch.count_nonzero(x)) / max(1, x.numel())
        few = share * (1.0 - p) < SPARSE_DENSITY and kernels.usable(x.numel(), FEWEST_COLUMNS, x)
        return SparseMatrix.from_tensor(dense_to_csr(x.detach())) if few else None

    return _MATRICES.get(x, ("few", p), build)


def as_matrix(x: Tensor) -> Tensor | SparseMatrix:
    """A CSR tensor as a `SparseMatrix`, made once for each tensor; a dense one as it is."""
    if x.layout != torch.sparse_csr:
        return x
    if x.requires_grad and torch.is_grad_enabled():
        raise GWNError("sparse features require a gradient, which products with them do not give; use x.to_dense()")
    return _MATRICES.get(x, "matrix", lambda: SparseMatrix.from_tensor(x.detach()))


SMALLEST = 1e-12
"""Stands for the sum of a node without features."""

_ROWS = TensorCache()


def row_normalized(x: Tensor) -> Tensor:
    """`x_ij / sum_j |x_ij|`, dense or CSR; computed once for a tensor that asks for no gradient."""
    return _normalize(x) if x.requires_grad else _ROWS.get(x, "rows", lambda: _normalize(x))


def _normalize(x: Tensor) -> Tensor:
    if x.layout != torch.sparse_csr:
        return F.normalize(x, p=1.0, dim=1, eps=SMALLEST)
    crow, col, values = x.crow_indices(), x.col_indices(), x.values()
    row = torch.repeat_interleave(torch.arange(x.shape[0], device=x.device), crow.diff())
    total = torch.zeros(x.shape[0], dtype=x.dtype, device=x.device).index_add_(0, row, values.abs())
    scaled = values / total.clamp_min(SMALLEST).index_select(0, row)
    return torch.sparse_csr_tensor(crow, col, scaled, x.shape, check_invariants=False)


def normalize_input(network: nn.Module) -> nn.Module:
    """The network, which from now on sees row-normalised features whenever it is called."""
    network.register_forward_pre_hook(_before, with_kwargs=True)
    return network


def normalizes_input(network: nn.Module) -> bool:
    """Whether `normalize_input` was called with it: what does not call the network must ask."""
    return _before in network._forward_pre_hooks.values()


def _before(
    network: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if args:
        return (row_normalized(args[0]), *args[1:]), kwargs
    return args, {**kwargs, "x": row_normalized(kwargs["x"])}
