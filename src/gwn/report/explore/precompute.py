"""All the waves of a page, one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from gwn.adjacency import Adjacency, normalised_adjacency
from gwn.graph import Graph
from gwn.networks import GWN
from gwn.report.explore.dynamics import IMPULSE, IMPULSE_TIME, NETWORK, NETWORK_TIME, Bounds, dynamics_on
from gwn.report.explore.scenario import Label, Scenario, measure
from gwn.report.explore.signals import Signals, impulse, network_signals
from gwn.schemes import integrate
from gwn.stability import analyse

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
