"""A Laplacian and a scheme that go together, built by name; what makes no sense is refused with the reason."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from gwn.errors import GWNError
from gwn.laplacians import LAPLACIANS, Laplacian
from gwn.laplacians.speed import FREE_LIMIT, SPEEDS, LearnedSpeed
from gwn.registry import keyword_options, lookup, require_known
from gwn.schemes import SCHEMES, Scheme


def build_dynamics(
    laplacian: str,
    scheme: str,
    channels: int,
    steps: int,
    tau: float,
    *,
    sources: int | None = None,
    speed: str = "none",
    directed: bool = False,
    allow_unstable: bool | None = None,
    options: Mapping[str, Any],
) -> tuple[Laplacian, Scheme]:
    """`options` are settings of either; one that neither has is refused by name. `allow_unstable` is None where a
    network has no such setting."""
    require_known("speed", speed, SPEEDS)
    space, time = lookup("laplacian", laplacian, LAPLACIANS), lookup("scheme", scheme, SCHEMES)
    of_space, of_time = keyword_options(space), keyword_options(time)
    for name in options:
        require_known(f"setting of laplacian {laplacian!r} and scheme {scheme!r}", name, {*of_space, *of_time})
    operator = space(channels, steps, sources, **{name: value for name, value in options.items() if name in of_space})
    time_options = {name: value for name, value in options.items() if name in of_time}
    interval = None if directed else operator.interval  # what is known of the spectrum holds for undirected graphs
    if time.needs_interval and interval is None:
        raise GWNError(
            f"scheme {scheme!r} needs a Laplacian whose spectrum is known, and that of {laplacian!r} is not here; "
            f"use scheme 'leapfrog'"
        )
    integrator = time(tau, interval, **time_options)
    integrator.check(scheme, laplacian, operator, directed=directed, allow_unstable=allow_unstable)
    if speed == "none":
        return operator, integrator
    if time.exact:
        raise GWNError(
            f"scheme {scheme!r} is the exact solution for {laplacian!r} with speed 1; use speed='none', or scheme "
            f"'leapfrog'"
        )
    bounded = interval is not None and interval[1] <= 0
    limit = min(FREE_LIMIT, integrator.stable_limit() / -interval[0]) if interval and bounded else FREE_LIMIT
    faster = LearnedSpeed(operator, speed, limit)
    if time.needs_interval:
        return faster, integrator  # divided by the growth at speed 1: that at the largest speed would end the wave
    return faster, time(tau, None if directed else faster.interval, **time_options)


def dynamics_options(laplacian: str | None) -> dict[str, inspect.Parameter]:
    """Every setting of one Laplacian (or of all) and of all schemes."""
    kinds: list[type[Any]] = [*(LAPLACIANS.values() if laplacian is None else [LAPLACIANS[laplacian]])]
    return {name: p for kind in [*kinds, *SCHEMES.values()] for name, p in keyword_options(kind).items()}
