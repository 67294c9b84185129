"""The waves of a page: each signal under each Laplacian, scheme and step, with its energy, spectrum and growth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from gwn.adjacency import Adjacency, normalised_adjacency
from gwn.explore.signals import Signals, energy_by_frequency, impulse, network_signals
from gwn.graph import Graph
from gwn.laplacians import Operator
from gwn.networks import GWN
from gwn.networks.dynamics import build_dynamics
from gwn.schemes import Scheme, count_steps, integrate
from gwn.stability import BOUNDED, MODES, analyse, apply, extreme_eigenvalues


@dataclass(frozen=True, kw_only=True)
class Label:
    """How a scenario is chosen: its signal and its dynamics; `own` for those of the trained network."""

    signal: str
    laplacian: str
    scheme: str
    tau: float
    own: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Scenario:
    """A wave on the whole graph, and the amplitudes of the nodes that are drawn.

    times        [n + 1] of the steps
    amplitudes   [n + 1, drawn nodes]
    kinetic      [n] `||(X(n+1) - X(n)) / tau||²`, half-way between two steps
    dirichlet    [n] `<X, (I - S) X>`, the mean of two steps
    norm         [n + 1] `||X(n)||`
    spectrum     [n + 1, bins] share of the energy by graph frequency
    """

    label: Label
    bounds: Bounds
    times: np.ndarray
    amplitudes: np.ndarray
    kinetic: np.ndarray
    dirichlet: np.ndarray
    norm: np.ndarray
    spectrum: np.ndarray


def measure(label: Label, bounds: Bounds, wave: Tensor, adjacency: Adjacency, drawn: Tensor) -> Scenario:
    """From a wave [n + 1, N] on the whole graph to what the page shows."""
    columns = wave.t().contiguous()
    with torch.no_grad():
        smooth = adjacency.matrix.csr @ columns
        dirichlet = (columns * (columns - smooth)).sum(0).clamp_min(0).numpy()
        kinetic = ((wave[1:] - wave[:-1]) / label.tau).square().sum(1).numpy()
        spectrum = energy_by_frequency(adjacency.matrix, columns / columns.abs().amax(0).clamp_min(1e-300))
    return Scenario(
        label=label,
        bounds=bounds,
        times=np.arange(wave.shape[0]) * label.tau,
        amplitudes=wave[:, drawn].numpy(),
        kinetic=kinetic,
        dirichlet=(dirichlet[1:] + dirichlet[:-1]) / 2,
        norm=wave.norm(dim=1).numpy(),
        spectrum=spectrum,
    )


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
    return Bounds(growth=max(map(scheme.growth, modes)), largest_tau=scheme.largest_stable_tau(low, high))


Settings = tuple[str, str]
OnScenario = Callable[[int, int], None]


def count_dynamics(network: bool) -> int:
    """How many combinations will be computed: for a progress bar."""
    choices = [*IMPULSE.values(), *(NETWORK.values() if network else ())]
    return sum(len(taus) for taus in choices) + int(network)


def scenarios(
    graph: Graph,
    drawn: Tensor,
    centre: int,
    network: GWN | None = None,
    dynamics: Settings = ("", ""),
    on_dynamics: OnScenario | None = None,
) -> Iterator[Scenario]:
    """First the trained network's own wave, class by class, then other dynamics from the same start, then an impulse.

    dynamics   names of the network's own Laplacian and scheme
    """
    adjacency = normalised_adjacency(graph.edge_index, graph.edge_weight, graph.num_nodes, dtype=torch.float64)
    total, done = count_dynamics(network is not None), 0

    def finished() -> None:
        nonlocal done
        done += 1
        if on_dynamics is not None:
            on_dynamics(done, total)

    sets = [] if network is None else [(network_signals(network, graph), NETWORK, NETWORK_TIME)]
    for signals, choices, time in [*sets, (impulse(graph, centre), IMPULSE, IMPULSE_TIME)]:
        if network is not None and signals.own is not None:
            yield from _own(network, graph, signals, adjacency, drawn, dynamics)
            finished()
        for each in dynamics_on(adjacency, choices, time):
            with torch.no_grad():
                start = signals.displacement, signals.velocity
                wave = integrate(each.operator, each.scheme, *start, each.steps, trajectory=True)
            for column, name in enumerate(signals.names):
                label = Label(signal=name, laplacian=each.laplacian, scheme=each.scheme_name, tau=each.tau)
                yield measure(label, each.bounds, wave[:, :, column], adjacency, drawn)
            finished()


def _own(
    network: GWN, graph: Graph, signals: Signals, adjacency: Adjacency, drawn: Tensor, dynamics: Settings
) -> Iterator[Scenario]:
    found = analyse(network, graph)
    bounds = Bounds(growth=found.growth, largest_tau=found.largest_tau)
    assert signals.own is not None
    for column, name in enumerate(signals.names):
        laplacian, scheme = dynamics
        label = Label(signal=name, laplacian=laplacian, scheme=scheme, tau=network.scheme.tau, own=True)
        yield measure(label, bounds, signals.own[:, :, column], adjacency, drawn)
