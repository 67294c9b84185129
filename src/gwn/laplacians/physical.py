"""The physical wave: a restoring force, so that nothing grows."""

from __future__ import annotations

from typing import ClassVar

from gwn.adjacency import Adjacency
from gwn.laplacians.base import FixedOperator, Laplacian


class Physical(Laplacian):
    """`L_a = S - I = -L_sym`, so that `u_tt = -L_sym u`: every mode swings with frequency `sqrt(lambda)`."""

    fixed = True
    symmetric = True
    exact_with: ClassVar[tuple[str, ...]] = ("bessel",)

    @property
    def interval(self) -> tuple[float, float]:
        return -2.0, 0.0

    def on(self, adjacency: Adjacency) -> FixedOperator:
        return FixedOperator(adjacency, shift=-1.0)
