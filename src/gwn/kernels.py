"""Sparse products compiled by Numba where it is installed, on the CPU; PyTorch's own otherwise, equal up to rounding.

`pip install 'graph-wave-networks[fast]'` installs it, `GWN_KERNELS=torch` leaves it unused. Small products stay with
PyTorch, so that a short run does not wait for a compiler.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from types import ModuleType
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gwn.errors import GWNError

SMALLEST = 1 << 19
"""Multiplications below which a product is left to PyTorch."""

AHEAD = 16
"""How many entries of a product before its turn a row is asked for, where it may have to come from main memory."""
CACHED = 16 << 20
"""Bytes of a matrix that stays in the processor's caches."""
LONG_ROW = 256
"""Bytes of a row above which the processor asks ahead by itself."""

CHOICES = ("auto", "torch")


class Entries(Protocol):
    """A `gwn.sparse.Pattern`."""

    @property
    def crow(self) -> Tensor: ...
    @property
    def col(self) -> Tensor: ...
    @property
    def row(self) -> Tensor: ...
    @property
    def nnz(self) -> int: ...
    @property
    def shape(self) -> tuple[int, int]: ...


def allowed() -> bool:
    """Whether `GWN_KERNELS` leaves it to this library what multiplies."""
    chosen = os.environ.get("GWN_KERNELS", "auto")
    if chosen not in CHOICES:
        raise GWNError(f"GWN_KERNELS must be one of {', '.join(CHOICES)}; got {chosen!r}")
    return chosen == "auto"


@cache
def _installed() -> bool:
    return allowed() and find_spec("numba") is not None


@cache
def _compiled() -> ModuleType:
    return import_module("gwn.compiled")


def usable(entries: int, width: int, *tensors: Tensor) -> bool:
    """Whether compiled kernels are there, and pay, for a product with so many entries on these tensors."""
    return (
        entries * width >= SMALLEST
        and _installed()
        and all(
            tensor.device.type == "cpu"
            and tensor.dtype == tensors[0].dtype
            and tensor.dtype in (torch.float32, torch.float64)
            and tensor.is_contiguous()
            and type(tensor) in (Tensor, nn.Parameter)  # not one that stands for another while a graph is traced
            for tensor in tensors
        )
    )


def _ahead(x: Tensor) -> int | None:
    """Whether, and how early, to ask for the rows of x."""
    size = x.element_size()
    return AHEAD if x.numel() * size > CACHED and x.shape[1] * size <= LONG_ROW else None


def add_product_(
    pattern: Entries, values: Tensor, x: Tensor, out: Tensor, *, beta: float, diagonal: float = 0.0
) -> Tensor:
    """`out <- beta out + diagonal x + A x`."""
    crow, col = _arrays(pattern.crow, pattern.col)
    arrays = (crow, col, *_arrays(values, x, out))
    kernel = _compiled().add_product
    _share_rows(crow, lambda start, end: kernel(*arrays, *_numbers(x, beta, diagonal), _ahead(x), start, end))
    return out


def add_two_products_(
    pattern: Entries, first: Tensor, second: Tensor, x: Tensor, out: Tensor, *, beta: float, diagonal: float
) -> Tensor:
    """`out <- beta out + diagonal x + A x`; returns `B x`. `first` and `second` are the values of A and B."""
    product = torch.empty_like(x)
    crow, col = _arrays(pattern.crow, pattern.col)
    arrays = (crow, col, *_arrays(first, second, x, out, product))
    kernel = _compiled().add_two_products
    _share_rows(crow, lambda start, end: kernel(*arrays, *_numbers(x, beta, diagonal), _ahead(x), start, end))
    return product


def pull_back_(
    pattern: Entries,
    values: Tensor,
    slopes: Tensor,
    grad_next: Tensor,
    slopes_x: Tensor,
    x: Tensor,
    g: Tensor,
    grad: Tensor,
    *,
    beta: float,
    diagonal: float,
    add: bool,
) -> Tensor:
    """The adjoint of a step with attention, see `gwn.compiled.pull_back`; the gradients of the scores, [2, rows]."""
    sums = grad.new_empty(2, grad.shape[0])
    crow, col = _arrays(pattern.crow, pattern.col)
    arrays = (crow, col, *_arrays(values, slopes, grad_next, slopes_x, x, g, grad, sums))
    kernel = _compiled().pull_back
    _share_rows(crow, lambda start, end: kernel(*arrays, *_numbers(x, beta, diagonal), add, _ahead(x), start, end))
    return sums


def transposed_product(pattern: Entries, values: Tensor, x: Tensor) -> Tensor:
    """`A^T x`."""
    out = x.new_empty(pattern.shape[1], x.shape[1])
    arrays = _arrays(pattern.crow, pattern.col, values, x, out)
    kernel = _compiled().transposed_product
    _share(x.shape[1], lambda start, end: kernel(*arrays, start, end))
    return out


def attention(pattern: Entries, weights: Tensor, of_row: Tensor, of_column: Tensor) -> tuple[Tensor, Tensor]:
    """For every entry (i, j): `w tanh(r_i + c_j)`, and `w (1 - tanh²)`."""
    values, slopes = torch.empty_like(weights), torch.empty_like(weights)
    arrays = _arrays(pattern.row, pattern.col, weights, of_row, of_column, values, slopes)
    kernel = _compiled().attention
    _share(pattern.nnz, lambda start, end: kernel(*arrays, start, end))
    return values, slopes


def keep_entries(
    pattern: Entries, values: Tensor, bits: Tensor, limit: int, factor: float
) -> tuple[Tensor, Tensor, Tensor]:
    """`crow`, `col` and values of the entries whose random bits are below `limit`, times `factor`.

    bits   int16, one of each entry; or of each place, [rows, columns]
    """
    stride = pattern.shape[1] if bits.dim() == 2 else 0
    crow, col, kept = torch.empty_like(pattern.crow), torch.empty_like(pattern.col), torch.empty_like(values)
    arrays = _arrays(pattern.crow, pattern.col, values, bits.view(-1))
    (scale,) = _numbers(values, factor)
    count = _compiled().keep_entries(*arrays, stride, limit, scale, *_arrays(crow, col, kept))
    return crow, col[:count], kept[:count]


def _arrays(*tensors: Tensor) -> tuple[NDArray[Any], ...]:
    return tuple([tensor.detach().numpy() for tensor in tensors])


def _numbers(like: Tensor, *numbers: float) -> list[Any]:
    """In the type of a tensor: a product of single and double would be computed in double."""
    kind = np.float32 if like.dtype == torch.float32 else np.float64
    return [kind(number) for number in numbers]


def _share_rows(crow: NDArray[Any], kernel: Callable[[int, int], None]) -> None:
    """Rows shared by threads so that each has as many entries."""
    threads, rows = torch.get_num_threads(), crow.size - 1
    if threads == 1:
        kernel(0, rows)
        return
    bounds = np.searchsorted(crow, np.linspace(0, int(crow[-1]), threads + 1)[1:-1])
    _run([(kernel, part) for part in _parts(np.concatenate([[0], bounds, [rows]]))])


def _share(size: int, kernel: Callable[[int, int], None]) -> None:
    """Equal parts of `size` places for every thread."""
    threads = torch.get_num_threads()
    if threads == 1:
        kernel(0, size)
    else:
        _run([(kernel, part) for part in _parts(np.linspace(0, size, threads + 1).astype(int))])


def _parts(bounds: NDArray[Any]) -> list[tuple[int, int]]:
    return [(int(start), int(end)) for start, end in pairwise(bounds) if start < end]


def _run(calls: list[tuple[Callable[..., None], tuple[Any, ...]]]) -> None:
    """All calls at the same time, the last one here."""
    *others, (last, arguments) = calls
    waiting = [_pool(os.getpid()).submit(call, *given) for call, given in others]
    last(*arguments)
    for future in waiting:
        future.result()


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Of this process; a forked one has none of its parent's threads."""
    return ThreadPoolExecutor(
        max_workers=os.cpu_count(), thread_name_prefix="gwn", initializer=lambda: torch.set_flush_denormal(True)
    )
