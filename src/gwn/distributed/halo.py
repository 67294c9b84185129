"""The rows of a sparse matrix that one process owns: a product first asks the others for the rows it has edges to.

With own columns first and the halo behind them, `A = [A_in  A_out]` and, with `H x` the halo rows of x (`exchange.py`),

    A x = A_in x + A_out H x,      A^T g = A_in^T g + H^T A_out^T g.

The rows travel while the inner product is computed. To everything else this is a square matrix on own rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from gwn.distributed.process_group import ProcessGroup, Swap
from gwn.sparse import Pattern, SparseMatrix, edge_dot, matmul


@dataclass(frozen=True, eq=False, kw_only=True)
class Exchange:
    """Which rows travel: `H x` gathers the halo (rows of others that own rows have edges to), `H^T h` brings it back.

    rows   own rows that others need, those for process 0 first; a row that two processes need stands there twice
    give   how many of them go to each process
    take   how many halo rows come from each
    size   own rows
    """

    group: ProcessGroup
    rows: Tensor
    give: tuple[int, ...]
    take: tuple[int, ...]
    size: int

    @classmethod
    def plan(cls, group: ProcessGroup, bounds: Tensor, halo: Tensor) -> Exchange:
        """Everybody says which rows they need, and hears which are needed of them.

        bounds   process r owns the rows bounds[r] ... bounds[r + 1] - 1
        halo     the rows needed here, sorted
        """
        edges = torch.searchsorted(halo, bounds.to(halo.device)).diff().tolist()
        give = group.swap_counts(edges)
        asked = group.swap(halo.to(group.device), edges, give).wait()
        start, end = int(bounds[group.rank]), int(bounds[group.rank + 1])
        return cls(group=group, rows=asked - start, give=tuple(give), take=tuple(edges), size=end - start)

    @property
    def halo_size(self) -> int:
        return sum(self.take)

    def start(self, x: Tensor) -> Swap:
        """`H x`, on its way: [halo, ...] from [own, ...]."""
        return self.group.swap(x.index_select(0, self.rows), self.give, self.take)

    def start_back(self, h: Tensor) -> Callable[[Tensor, float], Tensor]:
        """`H^T h`, on its way: the returned function adds it, times a factor, to own rows."""
        swap = self.group.swap(h, self.take, self.give)
        ones = SparseMatrix(self._return, h.new_ones(self._return.nnz))
        return lambda out, factor: ones.add_product_(out, swap.wait(), 1.0, factor)

    @cached_property
    def _return(self) -> Pattern:
        """Own rows from those that came back: a sparse matrix of ones, because a row may come back from several."""
        order = torch.argsort(self.rows, stable=True)
        return Pattern.from_sorted(self.rows[order], order, (self.size, self.rows.numel()))


@dataclass(frozen=True, eq=False)
class HaloPattern(Pattern):
    """`inner` [own, own] and `outer` [own, halo]; the entries of `inner` come first, then those of `outer`."""

    inner: Pattern
    outer: Pattern
    exchange: Exchange

    @classmethod
    def join(cls, inner: Pattern, outer: Pattern, exchange: Exchange) -> HaloPattern:
        col = torch.cat([inner.col, outer.col + inner.shape[1]])
        return cls(inner.crow + outer.crow, col, inner.shape, inner, outer, exchange)

    @cached_property
    def row(self) -> Tensor:
        return torch.cat([self.inner.row, self.outer.row])

    def of_columns(self, values: Tensor) -> Tensor:
        return torch.cat([values, self.exchange.start(values).wait()]).index_select(0, self.col)

    def dot(self, a: Tensor, b: Tensor) -> Tensor:
        halo = self.exchange.start(b)
        inner = edge_dot(self.inner, a, b)
        return torch.cat([inner, edge_dot(self.outer, a, halo.wait())])


@dataclass(frozen=True, eq=False)
class HaloMatrix(SparseMatrix):
    """A matrix on a `HaloPattern`, or the transpose of one (`flipped`, with the values in the order of the pattern)."""

    flipped: bool = False

    @cached_property
    def _parts(self) -> tuple[SparseMatrix, SparseMatrix]:
        assert isinstance(self.pattern, HaloPattern)
        inner = self.pattern.inner.nnz
        return (
            SparseMatrix(self.pattern.inner, self.values[:inner]),
            SparseMatrix(self.pattern.outer, self.values[inner:]),
        )

    @property
    def _exchange(self) -> Exchange:
        assert isinstance(self.pattern, HaloPattern)
        return self.pattern.exchange

    @cached_property
    def t(self) -> SparseMatrix:
        flipped = replace(self, flipped=not self.flipped)
        if "_parts" in self.__dict__:  # their transposes may have been made already
            flipped.__dict__["_parts"] = self._parts
        return flipped

    def add_product_(self, out: Tensor, x: Tensor, beta: float, alpha: float) -> Tensor:
        inner, outer = self._parts
        if self.flipped:
            add_returned = self._exchange.start_back(matmul(outer.t, x))
            inner.t.add_product_(out, x, beta, alpha)
            return add_returned(out, alpha)
        halo = self._exchange.start(x)
        inner.add_product_(out, x, beta, alpha)
        return outer.add_product_(out, halo.wait(), 1.0, alpha)

    def row_sums(self) -> Tensor:
        if self.flipped:
            return super().row_sums()
        inner, outer = self._parts
        return inner.row_sums() + outer.row_sums()
