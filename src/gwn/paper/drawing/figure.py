"""A figure drawn from its `CurveData`: every panel by its kind, in a grid, with a legend and its caption below."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from gwn.errors import GWNError
from gwn.io import write_atomic
from gwn.paper.curve_data import Axis, CurveData, Numbers, Panel
from gwn.paper.drawing.style import PLAIN, house_style, style_of

FORMATS = ("svg", "pdf", "png")
PANEL = (3.5, 2.7)
"""Inches of one panel with its labels."""

CROWDED, CROWDED_PANEL = 12, (5.2, 4.2)
"""With more named points than this, a panel needs so many inches."""

CAPTION_SIZE = 8
MANY = 4
"""A legend of so many entries stands below all panels, once; a shorter one in its panel."""


def draw_figure(data: CurveData, path: Path, *, caption: bool = True) -> None:
    """SVG, PDF or PNG by the file's suffix; without `caption` and its title for a page or a paper that sets its own."""
    suffix = path.suffix.lstrip(".")
    if suffix not in FORMATS:
        raise GWNError(f"a figure can be {', '.join(FORMATS)}; got {path.name!r}")
    with house_style(), mpl.rc_context({"font.size": 9}):
        figure = _figure(data, caption)
        buffer = BytesIO()
        # the same data give the same file: no date
        metadata = {"Date": None} if suffix == "svg" else {"CreationDate": None} if suffix == "pdf" else None
        figure.savefig(buffer, format=suffix, metadata=metadata)
    write_atomic(path, buffer.getvalue())


def _figure(data: CurveData, caption: bool) -> Figure:
    rows = -(-len(data.panels) // data.columns)
    shared = _shared_legend(data)
    crowded = any(panel.kind == "path" and len(panel.series) > CROWDED for panel in data.panels)
    across, down = CROWDED_PANEL if crowded else PANEL
    width = max(across * data.columns, 6.4)
    lines = textwrap.wrap(data.caption, int(width * 16.4)) if caption else []
    below = 0.05 + len(lines) * CAPTION_SIZE * 1.35 / 72
    above = down * rows + 0.35 + (0.25 * -(-len(shared) // _legend_columns(width)) if shared else 0.0)
    figure = Figure(figsize=(width, above + below), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=(above, below))
    top, bottom = parts
    panels = top.subplots(rows, data.columns, squeeze=False).ravel()
    for axes, panel in zip(panels, data.panels, strict=False):
        draw_panel(axes, panel)
        if 0 < len(labels(panel)) < MANY:
            axes.legend(fontsize=7.5, frameon=True, framealpha=0.85, edgecolor="none", handlelength=2.6)
    for axes in panels[len(data.panels) :]:
        axes.set_visible(False)
    if shared:
        _legend_below(top, panels, shared, _legend_columns(width))
    if caption:
        top.suptitle(data.title, x=0.01, ha="left", fontsize="large")
    bottom.text(0.01, 0.98, "\n".join(lines), va="top", ha="left", fontsize=CAPTION_SIZE, linespacing=1.3)
    return figure


def _legend_columns(width: float) -> int:
    return max(2, int(width / 1.55))


def _shared_legend(data: CurveData) -> list[str]:
    """The labels that stand below, in the order in which they first come."""
    many = [labels(panel) for panel in data.panels if len(labels(panel)) >= MANY]
    return list(dict.fromkeys(label for one in many for label in one))


def _legend_below(figure: Any, panels: Any, shared: list[str], columns: int) -> None:
    handles: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(
        [handles[label] for label in shared],
        shared,
        loc="outside lower center",
        ncols=-(-len(shared) // -(-len(shared) // columns)),  # rows of equal length
        fontsize=8,
        frameon=False,
        handlelength=2.8,
    )


FEW_DECADES = 300
SHADES = "cividis"
"""From dark to light, also for the colour-blind and in grey."""


def draw_panel(axes: Any, panel: Panel) -> None:
    """Everything but the legend."""
    DRAW[panel.kind](axes, panel)
    axes.set_title(panel.title)
    axes.set_xlabel(panel.x.text)
    axes.set_ylabel(panel.y.text)
    if panel.kind != "heat":
        _scale(axes, panel)
    if panel.note:
        axes.text(0.02, 0.97, panel.note, transform=axes.transAxes, va="top", fontsize=8)


def as_array(values: Numbers) -> Any:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _lines(axes: Any, panel: Panel) -> None:
    for place, series in enumerate(panel.series):
        style = style_of(series.key, place)
        x, y = as_array(series.x), as_array(series.y)
        axes.plot(x, y, label=series.label or None, **style.line_settings(len(x)))
        if series.low and series.high:
            reach = np.vstack([y - as_array(series.low), as_array(series.high) - y])
            axes.errorbar(x, y, yerr=reach, fmt="none", ecolor=style.colour, elinewidth=0.8, capsize=2, alpha=0.7)
    _mark_odd(axes, panel)


def _mark_odd(axes: Any, panel: Panel) -> None:
    """A cross at the bottom where nothing finished, one above the other where several series have one."""
    stacked: dict[float, int] = {}
    for place, series in enumerate(panel.series):
        for x, mark in zip(series.x, series.marks, strict=False):
            if mark == "diverged" and x is not None:
                height = stacked.get(x, 0)
                stacked[x] = height + 1
                axes.plot(
                    [x], [0.03 + 0.05 * height], "X", color=style_of(series.key, place).colour, markersize=7,
                    markeredgecolor="white", transform=axes.get_xaxis_transform(), clip_on=False, zorder=6,
                )  # fmt: skip


def _points(axes: Any, panel: Panel) -> None:
    for place, series in enumerate(panel.series):
        style = style_of(series.key, place)
        x, y = as_array(series.x), as_array(series.y)
        axes.scatter(
            x, y, s=5, marker=style.marker or "o", color=style.colour, linewidths=0.3, label=series.label or None
        )


def _path(axes: Any, panel: Panel) -> None:
    """Every point has its name beside it; those of a series are joined by a thin line."""
    names: list[tuple[float, float, str, str]] = []
    styled = [(style_of(series.key, place), series) for place, series in enumerate(panel.series)]
    for style, series in sorted(styled, key=lambda pair: -pair[0].order):  # ours choose their places first
        x, y = as_array(series.x), as_array(series.y)
        axes.plot(x, y, color=style.colour, linewidth=0.6, alpha=0.6, zorder=style.order)
        size = 34 if style.order > PLAIN and len(x) == 1 else 14
        axes.scatter(x, y, s=size, marker=style.marker or "o", color=style.colour, zorder=style.order + 1)
        names += [(float(a), float(b), mark, style.colour) for a, b, mark in zip(x, y, series.marks, strict=False)]
    names = [name for name in names if np.isfinite(name[0]) and np.isfinite(name[1])]
    _scale(axes, panel)
    axes.margins(x=0.18, y=0.16)
    corners = axes.transAxes.transform([(0, 0), (1, 1)])
    shown = axes.transAxes.inverted().transform(axes.transData.transform([(x, y) for x, y, _, _ in names]))
    size_in_points = (corners[1] - corners[0]) * 72 / axes.figure.dpi
    where = place_names([tuple(point) for point in shown * size_in_points], [name for _, _, name, _ in names])
    for (x, y, name, colour), (right, up, side) in zip(names, where, strict=True):
        settings: dict[str, Any] = {"fontsize": NAME_SIZE, "color": colour, "ha": side}
        if abs(up) > FAR:
            settings["arrowprops"] = {"arrowstyle": "-", "color": colour, "linewidth": 0.35, "shrinkA": 0, "shrinkB": 2}
        axes.annotate(name, (x, y), xytext=(right, up), textcoords="offset points", **settings)


def _steps(axes: Any, panel: Panel) -> None:
    for place, series in enumerate(panel.series):
        style = style_of(series.key, place)
        x, y = as_array(series.x), as_array(series.y)
        half = (x[1] - x[0]) / 2 if len(x) > 1 else 0.5
        borders = np.append(x - half, x[-1] + half)
        outline = {"color": style.colour, "linestyle": style.line, "linewidth": 1.4}
        axes.stairs(y, borders, label=series.label or None, **outline)
        axes.stairs(y, borders, fill=True, color=style.colour, alpha=0.12)
    axes.margins(y=0.3 if len(panel.series) > 1 else 0.05)  # room for the legend


def _heat(axes: Any, panel: Panel) -> None:
    grid = np.vstack([as_array(series.y) for series in panel.series])
    across = as_array(panel.series[0].x)
    half = (across[1] - across[0]) / 2 if len(across) > 1 else 0.5
    extent = (across[0] - half, across[-1] + half, len(grid) - 0.5, -0.5)
    limit = float(np.nanmax(np.abs(grid))) or 1.0
    image = axes.imshow(grid, aspect="auto", cmap=SHADES, vmin=-limit, vmax=limit, extent=extent, interpolation="none")
    axes.grid(visible=False)
    if panel.x.names:
        axes.set_xticks(range(len(panel.x.names)), panel.x.names)
        _write_values(axes, grid, limit)
    if panel.y.names:
        named = [(place, name) for place, name in enumerate(panel.y.names) if name]
        axes.set_yticks([place for place, _ in named], [name for _, name in named])
    bar = axes.figure.colorbar(image, ax=axes, pad=0.02, fraction=0.06)
    bar.set_label("" if panel.z is None else panel.z.text)
    bar.outline.set_visible(False)


def _write_values(axes: Any, grid: Any, limit: float) -> None:
    for row, values in enumerate(grid):
        for column, value in enumerate(values):
            if np.isfinite(value):
                colour = "black" if value > 0.2 * limit else "white"
                text = f"{value:.2f}".replace("-", "−")
                axes.text(column, row, text, ha="center", va="center", fontsize=7.5, color=colour)


def _scale(axes: Any, panel: Panel) -> None:
    _set_scale(axes, "x", panel.x, [series.x for series in panel.series])
    _set_scale(axes, "y", panel.y, [series.y for series in panel.series])


def _set_scale(axes: Any, side: str, axis: Axis, columns: list[Numbers]) -> None:
    set_scale, set_ticks = getattr(axes, f"set_{side}scale"), getattr(axes, f"set_{side}ticks")
    present = sorted({value for column in columns for value in column if value is not None})
    if axis.scale == "symlog":
        set_scale("symlog", linthresh=1.0)
    elif axis.scale == "log":
        set_scale("log")
        places = [f"{value:g}" for value in present]
        chosen = max(map(len, places), default=0) <= 4 and all(b >= 1.5 * a for a, b in pairwise(present))
        if 0 < len(present) <= 12 and side == "x" and chosen:  # a few places chosen to measure at: label those
            set_ticks(present, places)
            set_ticks([], minor=True)
        elif present and present[-1] < FEW_DECADES * present[0]:  # powers of ten would leave it almost without labels
            part = getattr(axes, f"{side}axis")
            part.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            part.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            part.set_minor_formatter(NullFormatter())
    if axis.names:
        set_ticks(range(len(axis.names)), axis.names)


def labels(panel: Panel) -> list[str]:
    """What the legend of this panel says."""
    return [] if panel.kind in ("heat", "path") else [series.label for series in panel.series if series.label]


DRAW: dict[str, Callable[[Any, Panel], None]] = {
    "lines": _lines,
    "points": _points,
    "path": _path,
    "steps": _steps,
    "heat": _heat,
}


Box = tuple[float, float, float, float]
NAME_SIZE = 6.0
"""Of the letters of a point's name, in points."""

_BESIDE = ((4, 2), (4, -7), (4, 9), (4, -14), (8, 17), (8, -22), (14, 26), (14, -31), (22, 36), (22, -41))
PLACES = tuple((sign * right, up, side) for right, up in _BESIDE for sign, side in ((1, "left"), (-1, "right")))
"""Offset of the text in points and the side on which it begins, in the order of preference."""

FAR = 12
"""A name that stands higher or lower than this is tied to its point by a line."""


def place_names(points: Sequence[tuple[float, float]], names: Sequence[str]) -> list[tuple[int, int, str]]:
    """One of `PLACES` for every point, positions in points: the first that is free of points and of other names, or
    the one that covers least."""
    taken: list[Box] = [(x - 3, y - 3, x + 3, y + 3) for x, y in points]
    chosen = []
    for (x, y), name in zip(points, names, strict=True):
        boxes = [_box(x, y, name, *place) for place in PLACES]
        covered = [sum(_overlap(box, other) for other in taken) for box in boxes]
        best = covered.index(min(covered))
        taken.append(boxes[best])
        chosen.append(PLACES[best])
    return chosen


def _box(x: float, y: float, name: str, right: float, up: float, side: str) -> Box:
    width = 0.56 * NAME_SIZE * len(name)
    left = x + right - (width if side == "right" else 0.0)
    return left, y + up, left + width, y + up + NAME_SIZE


def _overlap(a: Box, b: Box) -> float:
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return wide * high if wide > 0 and high > 0 else 0.0
