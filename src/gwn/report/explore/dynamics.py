"""Which combinations of Laplacian, scheme and step length are computed beforehand, and how stable each one is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from gwn.adjacency import Adjacency
from gwn.laplacians import Operator
from gwn.networks.dynamics import build_dynamics
from gwn.schemes import Scheme, count_steps
from gwn.stability import BOUNDED, MODES, apply, extreme_eigenvalues, largest_stable_tau

IMPULSE_TIME = 12.0
IMPULSE = {
    ("physical", "leapfrog"): (0.25, 0.5, 1.0, 2.0),
    ("physical", "bessel"): (0.5, 1.0, 2.0),
    ("physical", "newmark"): (0.5, 1.0, 2.0),
    ("physical", "damped"): (0.25, 0.5),
    ("physical", "heat"): (0.5, 1.0),
    ("klein-gordon", "leapfrog"): (0.25, 0.5),
    ("random-walk", "leapfrog"): (0.5, 1.0),
    ("sym", "leapfrog"): (0.25, 0.5, 1.0),
    ("sym", "leapfrog-rescaled"): (0.5, 1.0),
}

NETWORK_TIME = 8.0
NETWORK = {
    ("physical", "leapfrog"): (0.5, 1.0, 2.0),
    ("physical", "bessel"): (1.0,),
    ("physical", "heat"): (1.0,),
    ("sym", "leapfrog"): (0.5, 1.0),
}
"""Fewer: they are computed for every class."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What `gwn stability` says of one combination: growth in one step, and the largest step without growth."""

    growth: float
    largest_tau: float

    @property
    def stable(self) -> bool:
        return self.growth <= BOUNDED


@dataclass(frozen=True, kw_only=True, eq=False)
class Dynamics:
    """One combination on one graph, ready to be run."""

    laplacian: str
    scheme_name: str
    tau: float
    steps: int
    operator: Operator
    scheme: Scheme
    bounds: Bounds


def dynamics_on(
    adjacency: Adjacency, choices: dict[tuple[str, str], tuple[float, ...]], time: float
) -> Iterator[Dynamics]:
    """Every combination in `choices`; the spectrum of each Laplacian is computed once."""
    intervals: dict[str, tuple[float, float]] = {}
    for (laplacian, scheme), taus in choices.items():
        for tau in taus:
            steps = count_steps(time, tau)
            space, integrator = build_dynamics(laplacian, scheme, 1, steps, tau, allow_unstable=True, options={})
            space = space.to(torch.float64)
            with torch.no_grad():
                if laplacian not in intervals:
                    product = partial(apply, space.similar_on(adjacency))
                    intervals[laplacian] = extreme_eigenvalues(product, adjacency.num_nodes)
                operator = space.on(adjacency)
            yield Dynamics(
                laplacian=laplacian,
                scheme_name=scheme,
                tau=tau,
                steps=steps,
                operator=operator,
                scheme=integrator,
                bounds=bounds_of(integrator, *intervals[laplacian]),
            )


def bounds_of(scheme: Scheme, low: float, high: float) -> Bounds:
    """Growth of the fastest mode in [low, high] under this scheme, and its largest stable step."""
    modes = [float(mu) for mu in np.linspace(low, high, MODES)]
    return Bounds(growth=max(map(scheme.growth, modes)), largest_tau=largest_stable_tau(scheme, low, high))
