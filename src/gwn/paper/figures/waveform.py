"""`figure-waveform`: the wave at chosen nodes over time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gwn.paper.figures.curve_data import Axis, CurveData, Panel, Series, numbers
from gwn.paper.figures.exhibit import FigureContext, FigureExhibit
from gwn.paper.figures.waves import TAU, Wave, provenance, typical_of_classes, waves

CAPTION = (
    "One hidden channel of trained networks on Cora at a node of degree {degree} of each of four classes. Above, "
    "the amplitude itself: GWN-sym and GWN-fa grow, so that their beginning cannot be seen beside their end; the "
    "physical wave swings about its smoothest mode, which drifts no faster than t. Below, the amplitude divided by "
    "the root mean square over all nodes at that time, which shows the shape. Growth: of the root mean square in "
    "one step of {tau:g}, over the second half."
)
NODES, DEGREE = 4, 4
Values = NDArray[np.float64]


def compute(context: FigureContext) -> CurveData:
    """Three trained waves, raw above and relative below."""
    found = waves(context)
    graph = found[0].trained.dataset.graph
    chosen = typical_of_classes(graph, NODES, DEGREE)
    names = [f"a node of class {graph.label_name(int(graph.labels[node]))}" for node in chosen]
    return CurveData(
        name=EXHIBIT.name,
        title=EXHIBIT.title,
        place=EXHIBIT.place,
        caption=CAPTION.format(tau=TAU, degree=DEGREE),
        panels=tuple(
            [_panel(wave, wave.amplitude, "amplitude", chosen, names, f"{wave.title} ({wave.note})") for wave in found]
            + [_panel(wave, wave.relative, "amplitude / RMS of all nodes", chosen, names, wave.title) for wave in found]
        ),
        columns=len(found),
        provenance={**provenance(found), "nodes": chosen},
    )


def _panel(wave: Wave, values: Values, label: str, chosen: list[int], names: list[str], title: str) -> Panel:
    return Panel(
        title=title,
        kind="lines",
        x=Axis(label="time t"),
        y=Axis(label=label),
        series=tuple(
            Series(label=name, x=numbers(wave.times), y=numbers(row))
            for name, row in zip(names, values.T[chosen], strict=True)
        ),
    )


EXHIBIT = FigureExhibit(
    name="waveform",
    title="The wave at four nodes over time",
    place="figure 5",
    compute=compute,
)
