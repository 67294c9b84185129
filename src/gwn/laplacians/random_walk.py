"""The random-walk Laplacian: neighbours are averaged instead of weighted by both degrees (paper, Remark 2)."""

from __future__ import annotations

from typing import ClassVar

from gwn.adjacency import Adjacency
from gwn.laplacians.base import FixedOperator, Laplacian


class RandomWalk(Laplacian):
    """`L_a = D^-1 A - I`: the physical wave of the node averages; constants stay constant.

    Similar to `S - I` by `D^1/2`, so it has the same spectrum and the same stability bound, but it is not symmetric:
    its adjoint is the transposed product.
    """

    fixed = True
    symmetric = False
    exact_with: ClassVar[tuple[str, ...]] = ("bessel",)

    @property
    def interval(self) -> tuple[float, float]:
        return -2.0, 0.0

    def on(self, adjacency: Adjacency) -> FixedOperator:
        return FixedOperator(adjacency.random_walk, shift=-1.0)

    def similar_on(self, adjacency: Adjacency) -> FixedOperator:
        return FixedOperator(adjacency, shift=-1.0)
