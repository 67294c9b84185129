"""A scheme of one's own."""

from __future__ import annotations

from typing import ClassVar

from gwn.laplacians import Step
from gwn.schemes import Scheme


class SymplecticEuler(Scheme):
    """Leapfrog with the first step `X(1) = X(0) + tau phi1 + tau² L_a X(0)`."""

    time_symmetric: ClassVar[bool] = True
    buffers: ClassVar[int] = 0

    def step(self, n: int) -> Step:
        if n == 0:
            return Step(x=1.0, x_prev=self.tau, force=self.tau**2, first=True)
        return Step(x=2.0, x_prev=-1.0, force=self.tau**2, source=1.0)

    def stable_limit(self) -> float:
        return 4.0 / self.tau**2
