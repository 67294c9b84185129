"""The sparse products everything runs on: CSR times dense, its transpose, and the edge-wise product.

Message passing as gather, multiply and scatter writes one feature row per edge; a CSR product writes one per node,
which is 20 to 60 times less memory traffic (`benchmarks/`). Indices are int32 because MKL wants them so. Large products
on the CPU are compiled ones where Numba is installed (`kernels.py`). Devices without CSR kernels (MPS) fall back to
gather and scatter in blocks of edges.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import torch
from torch import Tensor

from gwn import kernels

warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")

SPARSE_DENSITY = 0.2
"""Features with a smaller share of non-zeros are kept sparse (measured: `python -m benchmarks`)."""

BLOCK_EDGES = 1 << 16
"""Edges handled at a time where there is no CSR kernel, so that no row per edge of the whole graph is written."""

T = TypeVar("T")


@contextmanager
def lasting() -> Iterator[None]:
    """For what is computed once and kept: also inside inference mode, tensors made here may be used in training."""
    if torch.is_inference_mode_enabled():
        with torch.inference_mode(False), torch.no_grad():  # leaving inference mode alone would record gradients
            yield
    else:
        yield


def has_csr_kernels(device: torch.device) -> bool:
    """Whether PyTorch multiplies CSR matrices on this device."""
    return device.type in ("cpu", "cuda")


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where a sparse matrix has entries: row `i` owns columns `col[crow[i]:crow[i + 1]]`."""

    crow: Tensor
    col: Tensor
    shape: tuple[int, int]

    @classmethod
    def from_sorted(cls, row: Tensor, col: Tensor, shape: tuple[int, int]) -> Pattern:
        """From entries sorted by row, then column."""
        counts = torch.bincount(row, minlength=shape[0])
        crow = torch.zeros(shape[0] + 1, dtype=torch.int64, device=row.device)
        torch.cumsum(counts, 0, out=crow[1:])
        return cls(crow.to(torch.int32), col.to(torch.int32), shape)

    @property
    def nnz(self) -> int:
        return int(self.col.numel())

    @cached_property
    @lasting()
    def row(self) -> Tensor:
        """Row of every entry, int32."""
        rows = torch.arange(self.shape[0], dtype=torch.int32, device=self.crow.device)
        return torch.repeat_interleave(rows, self.crow.diff(), output_size=self.nnz)

    @cached_property
    @lasting()
    def transpose(self) -> tuple[Pattern, Tensor]:
        """The transposed pattern, and the order in which it takes this pattern's values."""
        order = torch.argsort(self.col.long() * self.shape[0] + self.row.long())
        flipped = Pattern.from_sorted(self.col[order].long(), self.row[order].long(), self.shape[::-1])
        return flipped, order.to(torch.int32)

    def of_columns(self, values: Tensor) -> Tensor:
        """For every entry `(i, j)`, the j-th of `values`, [columns]."""
        return values.index_select(0, self.col)

    def dot(self, a: Tensor, b: Tensor) -> Tensor:
        """See `edge_dot`."""
        if self.nnz == 0:
            return a.new_zeros(0)
        if has_csr_kernels(a.device):
            places = SparseMatrix(self, a.new_zeros(self.nnz))
            sampled: Tensor = torch.sparse.sampled_addmm(places.csr, a, b.t(), beta=0.0)
            return sampled.values()
        out = a.new_empty(self.nnz)
        for start in range(0, self.nnz, BLOCK_EDGES):
            part = slice(start, start + BLOCK_EDGES)
            left, right = a.index_select(0, self.row[part]), b.index_select(0, self.col[part])
            out[part] = (left * right).sum(1)
        return out


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A matrix `A` on a `Pattern`; `values` may change from call to call, the pattern and its transpose stay."""

    pattern: Pattern
    values: Tensor

    @classmethod
    def from_tensor(cls, csr: Tensor) -> SparseMatrix:
        """From a `torch.sparse_csr` tensor."""
        rows, cols = csr.shape
        return cls(
            Pattern(csr.crow_indices().to(torch.int32), csr.col_indices().to(torch.int32), (rows, cols)), csr.values()
        )

    @cached_property
    def csr(self) -> Tensor:
        """As a torch tensor; cheap, because it only wraps the three arrays."""
        return torch.sparse_csr_tensor(
            self.pattern.crow, self.pattern.col, self.values, self.pattern.shape, check_invariants=False
        )

    @cached_property
    def t(self) -> SparseMatrix:
        """The transpose, on the pattern's cached transpose."""
        flipped, order = self.pattern.transpose
        return SparseMatrix(flipped, self.values.index_select(0, order))

    @property
    def dtype(self) -> torch.dtype:
        """As `Tensor.dtype`; this and `size` are all that PyTorch Geometric's layers ask of their input."""
        return self.values.dtype

    def size(self, dim: int) -> int:
        """As `Tensor.size`."""
        return self.pattern.shape[dim]

    def with_values(self, values: Tensor) -> SparseMatrix:
        """Other values in the same places."""
        return replace(self, values=values)

    def add_product_(self, out: Tensor, x: Tensor, beta: float, alpha: float) -> Tensor:
        """See `addmm_`."""
        if kernels.usable(self.pattern.nnz, x.shape[1], out, self.values, x):
            values = self.values if alpha == 1.0 else self.values * alpha
            return kernels.add_product_(self.pattern, values, x, out, beta=beta)
        if self.pattern.nnz > 0 and has_csr_kernels(out.device):
            return out.addmm_(self.csr, x, beta=beta, alpha=alpha)
        if beta == 0.0:
            out.zero_()
        else:
            out.mul_(beta)
        row, col = self.pattern.row, self.pattern.col
        for start in range(0, self.pattern.nnz, BLOCK_EDGES):
            part = slice(start, start + BLOCK_EDGES)
            out.index_add_(0, row[part], x.index_select(0, col[part]) * self.values[part, None], alpha=alpha)
        return out

    def transposed_product(self, x: Tensor) -> Tensor:
        """`A^T x`; a compiled kernel needs no transpose for it."""
        plain = type(self) is SparseMatrix  # others know more than one pattern
        if plain and kernels.usable(self.pattern.nnz, x.shape[1], self.values, x):
            return kernels.transposed_product(self.pattern, self.values, x)
        return matmul(self.t, x)

    def row_sums(self) -> Tensor:
        """`A 1`: one number a row."""
        return matmul(self, self.values.new_ones(self.pattern.shape[1], 1)).squeeze(1)


def addmm_(out: Tensor, a: SparseMatrix, x: Tensor, *, beta: float = 1.0, alpha: float = 1.0) -> Tensor:
    """`out <- beta out + alpha A x`, in place; with beta = 0, whatever `out` held before is ignored."""
    return a.add_product_(out, x, beta, alpha)


def matmul(a: SparseMatrix, x: Tensor) -> Tensor:
    """`A x`, without gradients."""
    return addmm_(x.new_empty(a.pattern.shape[0], x.shape[1]), a, x, beta=0.0)


def row_sums(a: SparseMatrix) -> Tensor:
    """`A 1`: one number a row."""
    return a.row_sums()


def edge_dot(pattern: Pattern, a: Tensor, b: Tensor) -> Tensor:
    """`<a_i, b_j>` for every entry `(i, j)` of the pattern: the gradient of `A b` with respect to the values of `A`."""
    return pattern.dot(a, b)


class _SparseLinear(torch.autograd.Function):
    """`X W + b` for sparse `X`; the gradient of `W` is the transposed product, never a dense `X`."""

    @staticmethod
    def forward(ctx: Any, x: SparseMatrix, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.x, ctx.has_bias = x, bias is not None
        out = matmul(x, weight)
        return out if bias is None else out.add_(bias)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        grad = grad.contiguous()
        grad_weight = ctx.x.transposed_product(grad) if ctx.needs_input_grad[1] else None
        return None, grad_weight, grad.sum(0) if ctx.has_bias else None


def sparse_linear(x: SparseMatrix, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`X W + b` with gradients for `W` and `b`."""
    out: Tensor = _SparseLinear.apply(x, weight, bias)  # type: ignore[no-untyped-call]
    return out


def dense_to_csr(x: Tensor) -> Tensor:
    """A dense matrix as a `torch.sparse_csr` tensor."""
    return x.to_sparse_csr()


def take_rows(x: Tensor, rows: Tensor) -> Tensor:
    """Rows of a dense or CSR matrix."""
    if x.layout != torch.sparse_csr:
        return x.index_select(0, rows)
    crow, entries = entries_of(x.crow_indices().long(), rows)
    shape = (rows.numel(), x.shape[1])
    return torch.sparse_csr_tensor(
        crow, x.col_indices()[entries].long(), x.values()[entries], shape, check_invariants=False
    )


def entries_of(crow: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """The pointers of the CSR matrix with these rows only, and the places of its entries in the whole."""
    starts, counts = crow[rows], crow[rows + 1] - crow[rows]
    pointers = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    places = torch.arange(int(pointers[-1])) + torch.repeat_interleave(starts - pointers[:-1], counts)
    return pointers, places


class TensorCache:
    """What was derived from a tensor, kept for as long as that tensor lives and is not changed in place.

    A tensor made in inference mode does not say when it was changed, so nothing is kept for it. What is written through
    `.data`, or through a NumPy array that shares the memory, no tensor says: give a new tensor instead.
    """

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Tensor], int, dict[Hashable, Any]]] = {}

    def get(self, anchor: Tensor, key: Hashable, build: Callable[[], T]) -> T:
        """The value stored for `anchor` and `key`, built on first use."""
        if anchor.is_inference():
            return build()
        name, version = id(anchor), anchor._version
        entry = self._entries.get(name)
        if entry is None or entry[0]() is not anchor or entry[1] != version:
            entry = (weakref.ref(anchor, lambda ref: self._forget(name, ref)), version, {})
            self._entries[name] = entry
        kept = entry[2]
        if key not in kept:
            with lasting():
                kept[key] = build()
        value: T = kept[key]
        return value

    def _forget(self, name: int, ref: weakref.ref[Tensor]) -> None:
        """Drop the entry of a dead tensor, unless its id already belongs to a new one."""
        entry = self._entries.get(name)
        if entry is not None and entry[0] is ref:
            self._entries.pop(name, None)  # another thread may have been first
