"""A wave with friction."""

from __future__ import annotations

from typing import ClassVar

from gwn.dimension import Dimension
from gwn.errors import GWNError
from gwn.laplacians import Step
from gwn.schemes.base import Interval, Scheme


class Damped(Scheme):
    """`u_tt + gamma u_t = L_a u` by central differences:

        (1 + gamma tau/2) X(n+1) = (2I + tau² L_a) X(n) - (1 - gamma tau/2) X(n-1)
        X(1) = X(0) + tau (1 - gamma tau/2) phi1 + tau²/2 L_a X(0)

    damping   gamma; between no friction (0: leapfrog) and 2 / tau
    """

    time_symmetric: ClassVar[bool] = False
    buffers: ClassVar[int] = 0
    search: ClassVar[tuple[Dimension, ...]] = (Dimension(setting="damping", low=0.01, high=0.4, log=True),)

    def __init__(self, tau: float, interval: Interval | None = None, *, damping: float = 0.1) -> None:
        super().__init__(tau, interval)
        if not 0 <= damping <= 2 / self.tau:
            raise GWNError(f"damping must be between 0 and 2 / tau = {2 / self.tau:g}; got {damping}")
        self.damping = damping

    def step(self, n: int) -> Step:
        half = self.damping * self.tau / 2
        if n == 0:
            return Step(x=1.0, x_prev=self.tau * (1 - half), force=self.tau**2 / 2, first=True)
        scale = 1 / (1 + half)
        return Step(x=2 * scale, x_prev=-(1 - half) * scale, force=self.tau**2 * scale, source=scale)

    def stable_limit(self) -> float:
        return 4.0 / self.tau**2
