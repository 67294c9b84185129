"""Boundary rows: what a process needs of others before a product, and what it owes them after the transposed one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from gwn.scale.team import Swap, Team
from gwn.sparse import Pattern, SparseMatrix


@dataclass(frozen=True, eq=False, kw_only=True)
class Exchange:
    """Which rows travel: `H x` gathers the halo (rows of others that own rows have edges to), `H^T h` brings it back.

    rows   own rows that others need, those for process 0 first; a row that two processes need stands there twice
    give   how many of them go to each process
    take   how many halo rows come from each
    size   own rows
    """

    team: Team
    rows: Tensor
    give: tuple[int, ...]
    take: tuple[int, ...]
    size: int

    @classmethod
    def plan(cls, team: Team, bounds: Tensor, halo: Tensor) -> Exchange:
        """Everybody says which rows they need, and hears which are needed of them.

        bounds   process r owns the rows bounds[r] ... bounds[r + 1] - 1
        halo     the rows needed here, sorted
        """
        edges = torch.searchsorted(halo, bounds.to(halo.device)).diff().tolist()
        give = team.swap_counts(edges)
        asked = team.swap(halo.to(team.device), edges, give).wait()
        start, end = int(bounds[team.rank]), int(bounds[team.rank + 1])
        return cls(team=team, rows=asked - start, give=tuple(give), take=tuple(edges), size=end - start)

    @property
    def halo_size(self) -> int:
        return sum(self.take)

    def start(self, x: Tensor) -> Swap:
        """`H x`, on its way: [halo, ...] from [own, ...]."""
        return self.team.swap(x.index_select(0, self.rows), self.give, self.take)

    def start_back(self, h: Tensor) -> Callable[[Tensor, float], Tensor]:
        """`H^T h`, on its way: the returned function adds it, times a factor, to own rows."""
        swap = self.team.swap(h, self.take, self.give)
        ones = SparseMatrix(self._return, h.new_ones(self._return.nnz))
        return lambda out, factor: ones.add_product_(out, swap.wait(), 1.0, factor)

    @cached_property
    def _return(self) -> Pattern:
        """Own rows from those that came back: a sparse matrix of ones, because a row may come back from several."""
        order = torch.argsort(self.rows, stable=True)
        return Pattern.from_sorted(self.rows[order], order, (self.size, self.rows.numel()))
