"""A Laplacian of one's own."""

from __future__ import annotations

from typing import ClassVar

from gwn.adjacency import Adjacency
from gwn.dimension import Dimension
from gwn.laplacians import FixedOperator, Laplacian


class Repelling(Laplacian):
    """`L_a = -strength (S + I)`: slow where neighbours differ."""

    fixed = True
    symmetric = True
    search: ClassVar[tuple[Dimension, ...]] = (Dimension(setting="strength", values=(0.5, 1.0)),)

    def __init__(self, channels: int, steps: int, sources: int | None = None, *, strength: float = 1.0) -> None:
        super().__init__(channels, steps, sources)
        self.strength = strength

    @property
    def interval(self) -> tuple[float, float]:
        return -2.0 * self.strength, 0.0

    def on(self, adjacency: Adjacency) -> FixedOperator:
        return FixedOperator(adjacency, shift=-self.strength, scale=-self.strength)
