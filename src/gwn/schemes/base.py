"""What a scheme is: the numbers of every step of a three-term recurrence in time."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import ClassVar

from gwn.dimension import Dimension
from gwn.errors import GWNError
from gwn.laplacians import LAPLACIANS, Laplacian, Operator, Step

Interval = tuple[float, float]


class Scheme(ABC):
    """An integrator with step length `tau`; step 0 takes `(x_prev, x) = (phi1, phi0)` and yields X(1).

    interval   where the eigenvalues of `L_a` lie, if that is known for every graph
    """

    traits: ClassVar[tuple[str, ...]] = ("time_symmetric", "buffers")
    """What every scheme must say; the other traits have a value that suits most."""

    time_symmetric: ClassVar[bool]
    """Whether a step is undone by the same step with X(n-1) and X(n+1) exchanged."""

    buffers: ClassVar[int]
    """How many matrices as large as the state a step holds beside X(n) and X(n-1)."""

    needs_fixed: ClassVar[bool] = False
    """Whether it needs an operator that does not depend on the state."""

    needs_symmetric: ClassVar[bool] = False
    """Whether it needs a symmetric operator."""

    needs_interval: ClassVar[bool] = False
    """Whether it needs to know where the eigenvalues lie."""

    wave: ClassVar[bool] = True
    """Whether it is of second order in time; the heat equation is not."""

    exact: ClassVar[str] = ""
    """The `L_a` that it solves without an error in time, and no other: of the Laplacians that name it in `exact_with`.
    """

    indivisible: ClassVar[str] = ""
    """Why several processes cannot share its rows, and what to do; empty where they can."""

    search: ClassVar[tuple[Dimension, ...]] = ()
    """What a search may try of its own settings."""

    def __init__(self, tau: float, interval: Interval | None = None) -> None:
        self.tau = positive("tau", tau)
        self.interval = interval

    @abstractmethod
    def step(self, n: int) -> Step:
        """The numbers of the step from X(n) to X(n+1)."""

    def prepare(self, operator: Operator) -> Operator:
        """The operator that the numbers of `step` refer to: `L_a` itself, unless the scheme transforms it."""
        return operator

    def symbol(self, mu: float) -> float:
        """The eigenvalue of the prepared operator where `L_a` has `mu`."""
        return mu

    def stable_limit(self) -> float:
        """The largest `s` for which the scheme is bounded when the spectrum of `L_a` lies in [-s, 0]."""
        return math.inf

    def growth(self, mu: float, n: int = 2) -> float:
        """The factor by which step `n` multiplies a mode with `L_a v = mu v`: the larger root of
        `r² - (x + force mu) r - x_prev = 0`."""
        step = self.step(n)
        middle = (step.x + step.force * self.symbol(mu)) / 2
        inside = middle * middle + step.x_prev
        if inside < 0:  # a pair on a circle
            return math.sqrt(-step.x_prev)
        return abs(middle) + math.sqrt(inside)

    def keeps_bounded(self, present: Interval | None = None) -> bool:
        """Whether no mode of the known interval can grow.

        present   where the eigenvalues lie now, if learning has moved them from there
        """
        if self.interval is None:
            return False
        low, high = self.interval if present is None else present
        return high <= 0 and -low <= self.stable_limit() * (1 + 1e-9)

    def largest_stable_tau(self, low: float, high: float) -> float:
        """The largest tau for which no mode in [low, high] grows: 0 where there is none, inf where any will do."""
        if high > 0:
            return 0.0
        if math.isinf(self.stable_limit()) or low >= 0:
            return math.inf
        return self.tau * self.factor_to_bound(-low)

    def settings(self) -> dict[str, int | float | str]:
        """The numbers and words that decide its steps."""
        return {name: value for name, value in vars(self).items() if isinstance(value, (int, float, str))}

    def check(
        self,
        name: str,
        laplacian: str,
        operator: Laplacian,
        *,
        directed: bool = False,
        allow_unstable: bool | None = None,
    ) -> None:
        """Refuse what makes no sense: a step above the bound, or an operator that the scheme cannot use."""
        if self.needs_fixed and not operator.fixed:
            raise GWNError(
                f"scheme {name!r} needs an operator that stays the same, and {laplacian!r} depends on the state; "
                f"use scheme 'leapfrog'"
            )
        if self.needs_symmetric and (directed or not operator.symmetric):
            raise GWNError(
                f"scheme {name!r} needs a symmetric operator, and {laplacian!r} is none here; use laplacian "
                f"'physical' on an undirected graph, or scheme 'leapfrog'"
            )
        if self.exact and name not in operator.exact_with:
            solved = " or ".join(repr(known) for known, kind in LAPLACIANS.items() if name in kind.exact_with)
            raise GWNError(
                f"scheme {name!r} is the exact solution for {self.exact}, which {laplacian!r} is not; use laplacian "
                f"{solved}, or scheme 'leapfrog'"
            )
        bounded = allow_unstable or self.interval is None or self.interval[1] > 0 or self.keeps_bounded()
        if not bounded and self.interval is not None:
            bound = self.tau * self.factor_to_bound(-self.interval[0])
            raise GWNError(
                f"tau={self.tau:g} is above the stability bound {bound:.4g} of scheme {name!r} with laplacian "
                f"{laplacian!r}; use a smaller tau{self._instead(laplacian, operator, directed)}"
                f"{'' if allow_unstable is None else ', or set allow_unstable=True'}"
            )

    def _instead(self, laplacian: str, operator: Laplacian, directed: bool) -> str:
        """The schemes that are stable for any step with this operator, as advice."""
        from gwn.schemes import SCHEMES

        found = []
        for name, kind in SCHEMES.items():
            with suppress(GWNError):
                scheme = kind(self.tau, self.interval)
                if math.isinf(scheme.stable_limit()) and not kind.needs_interval:  # what is rescaled is another wave
                    scheme.check(name, laplacian, operator, directed=directed)
                    found.append(repr(name))
        stable = "which is stable for any" if len(found) == 1 else "which are stable for any"
        return f", or scheme {' or '.join(found)}, {stable}" if found else ""

    def factor_to_bound(self, radius: float) -> float:
        """What `tau` must be multiplied by to stand exactly on the bound for a spectrum in [-radius, 0]."""
        return math.sqrt(self.stable_limit() / radius)


MOST_STEPS = 100_000
"""Of a wave: a network of so many layers already takes minutes for one epoch on the smallest graph."""


def count_steps(time: float, tau: float) -> int:
    """`ceil(T / tau)`, at least one; 0.6000000000000001 / 0.2 is three steps, not four."""
    ratio = positive("time", time) / positive("tau", tau)
    if ratio > MOST_STEPS:
        raise GWNError(
            f"time={time:g} and tau={tau:g} make {ratio:.3g} steps; at most {MOST_STEPS:,} are taken: use a larger tau"
        )
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
