"""The upper part of `figure-spectrum`: on a graph small enough to be drawn, waves that add up, and one that travels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from gwn.adjacency import Adjacency, adjacency_of
from gwn.laplacians import FixedOperator
from gwn.paper.curve_data import Axis, Panel, Series, numbers
from gwn.schemes import Heat, Leapfrog, Scheme, count_steps, integrate

Values = NDArray[np.float64]

RADIUS = 5
TAU = 0.25
FRAMES = (0.0, 6.0, 12.0, 18.0)
"""The times at which the travelling wave is shown; half an edge in a unit of time is its speed."""

BRIGHTEST = 0.4
"""Where the shades end: the start is higher, but what travels on would be pale beside it."""


class SmallGraph(NamedTuple):
    """Points in the plane, joined where they are neighbours."""

    places: Values
    edges: NDArray[np.int64]

    @property
    def adjacency(self) -> Adjacency:
        both = np.concatenate([self.edges, self.edges[:, ::-1]])
        return adjacency_of(torch.from_numpy(both.T.copy()), None, len(self.places), dtype=torch.float64)


def hexagon(radius: int = RADIUS) -> SmallGraph:
    """A hexagon of the triangular lattice: every node has six neighbours, but for those of the rim."""
    reach = range(-radius, radius + 1)
    cells = np.array([(a, b) for a in reach for b in reach if abs(a + b) <= radius])
    places = cells[:, :1] * np.array([1.0, 0.0]) + cells[:, 1:] * np.array([0.5, np.sqrt(3) / 2])
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    first, second = np.nonzero(np.triu(apart < 1.01, k=1))
    return SmallGraph(places, np.stack([first, second], axis=1))


def class_signal(graph: SmallGraph) -> Values:
    """One for the nodes at one side, centred, of length one."""
    signal: Values = (graph.places @ np.array([0.8, 0.6]) > 1.2).astype(float)
    signal -= signal.mean()
    return signal / np.linalg.norm(signal)


def superposition(graph: SmallGraph) -> tuple[list[Panel], str]:
    """The two largest of the eigenvector waves that the class signal is made of, the others together, and their sum;
    and what that says."""
    matrix = graph.adjacency.matrix.csr.to_dense().numpy()
    _, waves = np.linalg.eigh(np.eye(len(matrix)) - matrix)
    signal = class_signal(graph)
    amplitudes = waves.T @ signal
    order = np.argsort(-np.abs(amplitudes))
    parts = waves * amplitudes
    first, second, rest = parts[:, order[0]], parts[:, order[1]], parts[:, order[2:]].sum(axis=1)
    titles = (
        f"(a) {abs(amplitudes[order[0]]):.2f} × u{_below(order[0] + 1)}",
        f"(b) + {abs(amplitudes[order[1]]):.2f} × u{_below(order[1] + 1)}",
        f"(c) + the {len(order) - 2} others",
        "(d) = a class",
    )
    shade = Axis(label="signal")
    shown = zip(titles, (first, second, rest, signal), strict=True)
    panels = [_picture(graph, values, title, shade) for title, values in shown]
    share = 100 * float(np.square(amplitudes[order[:2]]).sum())
    return panels, f"two of {len(order)} eigenvector waves carry {share:.0f} % of a class signal on a small graph"


def mechanism(graph: SmallGraph) -> tuple[list[Panel], str]:
    """A bump at the rim as a wave and as heat, at four times; and how far each got."""
    start = graph.places[np.argmin(graph.places @ np.array([1.0, 0.3]))]
    away = np.linalg.norm(graph.places - start, axis=1)
    bump = np.exp(-np.square(away) / 2)
    shade = Axis(label="displacement", limits=(-BRIGHTEST, BRIGHTEST))
    panels, reached = [], {}
    for letter, (name, kind) in zip("ef", {"wave": Leapfrog, "heat": Heat}.items(), strict=True):
        states = travel(graph, bump, kind(TAU))
        for time in FRAMES:
            title = f"({letter}) {name}, t = {time:g}" if time == FRAMES[0] else f"t = {time:g}"
            panels.append(_picture(graph, states[count_steps(time, TAU) if time else 0], title, shade))
        reached[name] = float(away[states[-1].argmax()])
    said = (
        f"from a bump at the rim the crest of the wave is {reached['wave']:.1f} edge lengths away at t = "
        f"{FRAMES[-1]:g}, that of heat {reached['heat']:.1f}"
    )
    return panels, said


def travel(graph: SmallGraph, start: Values, scheme: Scheme) -> Values:
    """The states [n + 1, N] with L = S - I, from rest, up to the last frame."""
    x = torch.from_numpy(start)[:, None]
    operator = FixedOperator(graph.adjacency, shift=-1.0)
    states = integrate(operator, scheme, x, torch.zeros_like(x), count_steps(FRAMES[-1], scheme.tau), trajectory=True)
    found: Values = states[:, :, 0].numpy()
    return found


def _picture(graph: SmallGraph, values: Values, title: str, shade: Axis) -> Panel:
    ends = graph.places[graph.edges]
    gap = [None] * len(ends)
    lines = [[value for pair in zip(*ends[:, :, side].T, gap, strict=True) for value in pair] for side in (0, 1)]
    x, y = graph.places.T
    nothing = Axis(label="")
    return Panel(
        title=title,
        kind="graph",
        x=nothing,
        y=nothing,
        z=shade,
        series=(
            Series(label="edges", x=numbers(lines[0], 3), y=numbers(lines[1], 3)),
            Series(label="nodes", x=numbers(x, 3), y=numbers(y, 3), z=numbers(values, 3)),
        ),
    )


def _below(number: int) -> str:
    """The number as an index."""
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))
