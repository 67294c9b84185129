"""`figure-node-view`: one node's neighbourhood over time."""

from __future__ import annotations

import numpy as np

from gwn.graph import Graph
from gwn.paper.figures.curve_data import Axis, CurveData, Panel, Series, numbers
from gwn.paper.figures.exhibit import FigureContext, FigureExhibit
from gwn.paper.figures.waves import Wave, degrees, provenance, waves

CAPTION = (
    "One hidden channel of trained networks on Cora over time, at one node (the top row), its neighbours and "
    "theirs; the amplitude is divided by the square root of the degree, in which the smoothest mode is flat, and by "
    "the root mean square of that over all nodes at that time. GWN-sym settles into stripes: its fastest mode, "
    "which has one sign in a component, drowns the others. GWN-fa and the physical wave keep changing, the latter "
    "without growth."
)
NEIGHBOURS, FURTHER = 8, 8


def compute(context: FigureContext) -> CurveData:
    """A heat map for each wave: rows are nodes, columns are times."""
    found = waves(context)
    graph = found[0].trained.dataset.graph
    rows, names = neighbourhood(graph)
    return CurveData(
        name=EXHIBIT.name,
        title=EXHIBIT.title,
        place=EXHIBIT.place,
        caption=CAPTION,
        panels=tuple(_panel(wave, graph, rows, names) for wave in found),
        columns=len(found),
        provenance={**provenance(found), "nodes": rows},
    )


def neighbourhood(graph: Graph) -> tuple[list[int], list[str]]:
    """A node with eight neighbours or more, eight of them, and eight of their neighbours; with names for the first
    row of each ring."""
    degree = degrees(graph)
    enough = np.flatnonzero(degree >= min(NEIGHBOURS, int(degree.max())))
    centre = int(enough[degree[enough].argmin()])
    source, target = graph.edge_index.numpy()
    first = sorted({int(node) for node in source[target == centre]} - {centre})[:NEIGHBOURS]
    around = {int(node) for node in source[np.isin(target, first)]}
    second = sorted(around - {centre, *first})[:FURTHER]
    rings = (("the node", [centre]), ("1 edge away", first), ("2 edges away", second))
    names = [name if place == len(ring) // 2 else "" for name, ring in rings for place in range(len(ring))]
    return [centre, *first, *second], names


def _panel(wave: Wave, graph: Graph, rows: list[int], names: list[str]) -> Panel:
    flat = wave.amplitude / np.sqrt(np.maximum(degrees(graph), 1))
    shown = flat / np.maximum(np.sqrt(np.square(flat).mean(axis=1)), 1e-300)[:, None]
    return Panel(
        title=wave.title,
        kind="heat",
        x=Axis(label="time t"),
        y=Axis(label="", names=tuple(names)),
        z=Axis(label="amplitude / sqrt(degree), relative"),
        series=tuple(Series(label=str(node), x=numbers(wave.times), y=numbers(shown[:, node])) for node in rows),
    )


EXHIBIT = FigureExhibit(
    name="node-view",
    title="One node's neighbourhood over time",
    place="figure 6 (b)",
    compute=compute,
)
