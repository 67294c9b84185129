"""The Klein-Gordon equation: a wave with a mass, whose smooth modes swing too instead of drifting."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from gwn.adjacency import Adjacency
from gwn.dimension import Dimension
from gwn.errors import GWNError
from gwn.laplacians.base import FixedOperator, Laplacian, Operator
from gwn.laplacians.polynomial import PolynomialOperator


class KleinGordon(Laplacian):
    """`L_a = S - (1 + m²) I`: the zero mode, which drifts like `t phi1` without a mass, gets the frequency m.

    mass         m, or its start where it is learned
    learn_mass   whether m is a parameter
    """

    fixed = True
    symmetric = True
    search: ClassVar[tuple[Dimension, ...]] = (Dimension(setting="mass", low=0.1, high=1.4, log=True),)

    def __init__(
        self, channels: int, steps: int, sources: int | None = None, *, mass: float = 0.5, learn_mass: bool = False
    ) -> None:
        super().__init__(channels, steps, sources)
        if mass < 0:
            raise GWNError(f"mass must not be negative; got {mass}")
        self.start = float(mass)
        self.mass: Tensor | None = nn.Parameter(torch.tensor(self.start)) if learn_mass else None

    def reset_parameters(self) -> None:
        if self.mass is not None:
            nn.init.constant_(self.mass, self.start)

    @property
    def interval(self) -> tuple[float, float]:
        square = (self.start if self.mass is None else float(self.mass.detach())) ** 2
        return -2.0 - square, -square

    def on(self, adjacency: Adjacency) -> Operator:
        if self.mass is None:
            return FixedOperator(adjacency, shift=-1.0 - self.start**2)
        shift = -1.0 - self.mass.square()
        return PolynomialOperator(adjacency, torch.stack([shift, torch.ones_like(shift)]))
