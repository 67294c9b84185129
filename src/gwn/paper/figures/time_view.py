"""`figure-time-view`: all nodes at one time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gwn.graph import Graph
from gwn.paper.figures.curve_data import Axis, CurveData, Panel, Series, numbers
from gwn.paper.figures.exhibit import FigureContext, FigureExhibit
from gwn.paper.figures.waves import Wave, degrees, provenance, waves

CAPTION = (
    "One hidden channel of trained networks on Cora at all nodes, early and at the end; nodes by class, then by "
    "degree (every third is drawn). The amplitude is divided by the root mean square over all nodes at that time. "
    "Where classes stand apart, the channel tells them apart."
)
EARLY = 0.1
"""The first time shown, as a share of the whole."""

SHOWN = 900


def compute(context: FigureContext) -> CurveData:
    """Two times for each of the three waves."""
    found = waves(context)
    graph = found[0].trained.dataset.graph
    order = _by_class(graph)
    kept = order[:: max(1, -(-len(order) // SHOWN))]
    panels = []
    for share in (EARLY, 1.0):
        for wave in found:
            n = round(share * (len(wave.times) - 1))
            title = f"{wave.title}, t = {wave.times[n]:g}"
            panels.append(_panel(wave, n, title, graph, order, kept))
    return CurveData(
        name=EXHIBIT.name,
        title=EXHIBIT.title,
        place=EXHIBIT.place,
        caption=CAPTION,
        panels=tuple(panels),
        columns=len(found),
        provenance=provenance(found),
    )


def _by_class(graph: Graph) -> NDArray[np.int64]:
    return np.lexsort((-degrees(graph), graph.labels.numpy()))


def _panel(wave: Wave, n: int, title: str, graph: Graph, order: NDArray[np.int64], kept: NDArray[np.int64]) -> Panel:
    labels = graph.labels.numpy()
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    series = []
    for c in range(graph.num_classes):
        nodes = kept[labels[kept] == c]
        values = wave.relative[n, nodes]
        series.append(Series(label=f"class {graph.label_name(c)}", x=numbers(place[nodes]), y=numbers(values, 4)))
    return Panel(
        title=title,
        kind="points",
        x=Axis(label="node, by class and degree"),
        y=Axis(label="amplitude / RMS"),
        series=tuple(series),
    )


EXHIBIT = FigureExhibit(
    name="time-view",
    title="All nodes at one time",
    place="figure 6 (a)",
    compute=compute,
)
