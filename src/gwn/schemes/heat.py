"""The heat equation by forward Euler: what the paper argues against, for comparison."""

from __future__ import annotations

from typing import ClassVar

from gwn.laplacians import Step
from gwn.schemes.base import Scheme


class Heat(Scheme):
    """`u_t = L_a u`: `X(n+1) = (I + tau L_a) X(n)`; the initial velocity phi1 plays no part."""

    time_symmetric: ClassVar[bool] = False
    buffers: ClassVar[int] = 0
    wave: ClassVar[bool] = False

    def step(self, n: int) -> Step:
        return Step(x=1.0, x_prev=0.0, force=self.tau, source=0.0 if n == 0 else 1.0, first=n == 0)

    def stable_limit(self) -> float:
        return 2.0 / self.tau

    def factor_to_bound(self, radius: float) -> float:
        return self.stable_limit() / radius
