"""A figure drawn from its `CurveData`: panels in a grid, one legend, one scale for all shades, its caption below."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gwn.errors import GWNError
from gwn.io import write_atomic
from gwn.paper.curve_data import CurveData, Panel
from gwn.paper.drawing.panels import as_array, draw_panel, labels, name_panel
from gwn.paper.drawing.style import house_style

FORMATS = ("svg", "pdf", "png")
PANEL, NARROW = (3.0, 2.5), (2.5, 2.2)
"""Inches of one panel with its labels; the second with four or more beside each other. Small, so that letters of ten
points are still read when the picture is set at half its width."""

LARGE, WIDE = (3.4, 3.2), (4.4, 3.4)
"""Of a panel with named points or with written values; the second with named points, two or fewer beside each other."""

CAPTION_SIZE = 9
MANY = 4
"""A legend of so many entries stands below all panels, once; a shorter one in its panel."""


def draw_figure(data: CurveData, path: Path, *, caption: bool = True, columns: int | None = None) -> None:
    """SVG, PDF or PNG by the file's suffix; without `caption` and its title for a page or a paper that sets its own,
    and where that has the room with more `columns` of panels of the same size."""
    suffix = path.suffix.lstrip(".")
    if suffix not in FORMATS:
        raise GWNError(f"a figure can be {', '.join(FORMATS)}; got {path.name!r}")
    with house_style():
        figure = _figure(data, caption, columns)
        buffer = BytesIO()
        # the same data give the same file: no date
        metadata = {"Date": None} if suffix == "svg" else {"CreationDate": None} if suffix == "pdf" else None
        figure.savefig(buffer, format=suffix, metadata=metadata)
    write_atomic(path, buffer.getvalue())


def _size(data: CurveData) -> tuple[float, float]:
    kinds = {panel.kind for panel in data.panels}
    if "path" in kinds or any(panel.kind == "heat" and panel.x.names for panel in data.panels):
        return WIDE if "path" in kinds and data.columns < 3 else LARGE
    across, down = NARROW if data.columns > 3 else PANEL
    named = max(len(panel.y.names) for panel in data.panels)
    return across, max(down, 0.17 * named + 0.7)


def _figure(data: CurveData, caption: bool, columns: int | None = None) -> Figure:
    across, down = _size(data)
    data = replace(data, columns=columns or data.columns)
    rows = -(-len(data.panels) // data.columns)
    shared = _shared_legend(data)
    width = max(across * data.columns, 6.4)
    lines = textwrap.wrap(data.caption, int(width * 14.6)) if caption else []
    below = 0.05 + len(lines) * CAPTION_SIZE * 1.35 / 72
    legend_columns = _legend_columns(width, shared)
    above = down * rows + 0.35 + (0.26 * -(-len(shared) // legend_columns) if shared else 0.0)
    figure = Figure(figsize=(width, above + below), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=(above, below))
    top, bottom = parts
    panels = top.subplots(rows, data.columns, squeeze=False).ravel()
    for axes in panels[len(data.panels) :]:
        axes.set_visible(False)
    _draw_all(top, panels, data, shared)
    if shared:
        _legend_below(top, panels, shared, legend_columns)
    if caption:
        top.suptitle(data.title, x=0.01, ha="left", fontsize="large", fontweight="bold")
    bottom.text(0.01, 0.98, "\n".join(lines), va="top", ha="left", fontsize=CAPTION_SIZE, linespacing=1.3)
    figure.draw_without_rendering()  # now the panels have their size
    for axes, panel in zip(panels, data.panels, strict=False):
        name_panel(axes, panel)
    return figure


def _draw_all(top: Any, panels: Any, data: CurveData, shared: list[str]) -> None:
    """Every panel; one that says along its side what its neighbour says does not repeat it."""
    shaded: dict[str, list[tuple[Any, Any]]] = {}
    for place, (axes, panel) in enumerate(zip(panels, data.panels, strict=False)):
        drawn = draw_panel(axes, panel, _limit(data, panel))
        if drawn is not None and panel.z is not None:
            shaded.setdefault(panel.z.text, []).append((axes, drawn))
        if place % data.columns and data.panels[place - 1].y == panel.y:
            axes.set_ylabel("")
            if panel.kind == "heat":
                axes.set_yticklabels([])
        if place + data.columns < len(data.panels) and data.panels[place + data.columns].x == panel.x:
            axes.set_xlabel("")
        if not {*labels(panel)} <= {*shared}:
            handle = 1.6 if panel.kind == "steps" else 2.4  # an outline needs less than dashes with a marker
            axes.legend(fontsize=8, framealpha=0.85, edgecolor="none", handlelength=handle, borderaxespad=0.1)
    for text, several in shaded.items():
        bar = top.colorbar(several[0][1], ax=[axes for axes, _ in several], pad=0.01, fraction=0.04, aspect=25)
        bar.set_label(text)
        bar.outline.set_visible(False)


def _limit(data: CurveData, panel: Panel) -> float:
    """The end of the scale that all shades with one meaning share."""
    if panel.kind not in ("heat", "graph"):
        return 1.0
    if panel.z is not None and panel.z.limits is not None:
        return panel.z.limits[1]
    values = [
        series.y if one.kind == "heat" else series.z for one in data.panels if one.z == panel.z for series in one.series
    ]
    largest = max((float(np.nanmax(np.abs(as_array(part)))) for part in values if any(_known(part))), default=0.0)
    return largest or 1.0


def _known(values: Any) -> list[float]:
    return [value for value in values if value]


def _legend_columns(width: float, shared: list[str]) -> int:
    most = max(2, int(width / (0.75 + 0.075 * max(map(len, shared), default=0))))
    rows = -(-len(shared) // most) or 1
    return -(-len(shared) // rows) or 1  # rows of equal length


def _shared_legend(data: CurveData) -> list[str]:
    """The labels that stand below, in the order in which they first come: of long legends, and of repeated ones."""
    every = [labels(panel) for panel in data.panels]
    below = [one for one in every if len(one) >= MANY or (one and every.count(one) > 1)]
    return list(dict.fromkeys(label for one in below for label in one))


def _legend_below(figure: Any, panels: Any, shared: list[str], columns: int) -> None:
    handles: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(
        [handles[label] for label in shared],
        shared,
        loc="outside lower center",
        ncols=columns,
        fontsize=9,
        frameon=False,
        handlelength=2.6,
        columnspacing=1.5,
    )
