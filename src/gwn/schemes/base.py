"""What a scheme is: the numbers of every step of a three-term recurrence in time."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from gwn.errors import GWNError
from gwn.laplacians import Step


class Scheme(ABC):
    """An integrator with step length `tau`; step 0 takes `(x_prev, x) = (phi1, phi0)` and yields X(1)."""

    def __init__(self, tau: float) -> None:
        self.tau = positive("tau", tau)

    @abstractmethod
    def step(self, n: int) -> Step:
        """The numbers of the step from X(n) to X(n+1)."""

    def steps(self, time: float) -> int:
        """`ceil(T / tau)`, at least one; 0.6000000000000001 / 0.2 is three steps, not four."""
        ratio = positive("time", time) / self.tau
        return max(1, math.ceil(ratio - 1e-9 * max(1.0, ratio)))


def positive(name: str, value: float) -> float:
    """`value` as a float, refused unless it is finite and greater than zero."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise GWNError(f"{name} must be a finite number greater than 0; got {value!r}")
    return number
