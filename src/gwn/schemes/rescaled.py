"""The paper's model at any depth: leapfrog divided by its own growth in every step."""

from __future__ import annotations

import math
from typing import ClassVar

from gwn.errors import GWNError
from gwn.laplacians import Step
from gwn.schemes.base import Interval, Scheme
from gwn.schemes.leapfrog import Leapfrog


class LeapfrogRescaled(Scheme):
    """`Y(n) = X(n) / rho^n`, X(n) as leapfrog has it and `rho` the growth of its fastest mode.

    For a fixed operator this is the same network up to a constant factor in the head, and finite at any depth:

        Y(n+1) = (2I + tau² L_a) Y(n) / rho - Y(n-1) / rho²,      rho(tau) = 1 + tau²/2 + tau sqrt(1 + tau²/4) for S.

    With attention it is a network of its own, because alpha(n) then sees Y(n); the source is divided as well. With a
    learned speed, rho is the growth at speed 1, where training starts.
    """

    time_symmetric: ClassVar[bool] = False
    buffers: ClassVar[int] = 0
    needs_interval: ClassVar[bool] = True

    def __init__(self, tau: float, interval: Interval | None = None) -> None:
        super().__init__(tau, interval)
        if interval is None:
            raise GWNError("scheme 'leapfrog-rescaled' needs a Laplacian whose spectrum is known; use 'leapfrog'")
        plain = Leapfrog(tau, interval)
        self.rho = max(plain.growth(mu) for mu in interval)

    def largest_stable_tau(self, low: float, high: float) -> float:
        """Any: what grows is divided by its own growth."""
        return math.inf

    def step(self, n: int) -> Step:
        if n == 0:
            return Step(x=1 / self.rho, x_prev=self.tau / self.rho, force=self.tau**2 / 2 / self.rho, first=True)
        source = math.exp(-(n + 1) * math.log(self.rho))
        return Step(x=2 / self.rho, x_prev=-1 / self.rho**2, force=self.tau**2 / self.rho, source=source)
