"""One panel by its kind: lines, points, named points, histograms, signed maps and small graphs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, Locator, LogLocator, NullFormatter

from gwn.paper.curve_data import Axis, Numbers, Panel, Series
from gwn.paper.drawing.names import FAR, NAME_SIZE, Box, place_names, spread, width_of
from gwn.paper.drawing.style import BEHIND, GREY, PLAIN, SIGNED, SeriesStyle, ink, style_of

FEW_DECADES = 300
MANY_PLACES = 6
"""With more labels along an axis than this their letters are smaller."""

PLAIN_NUMBERS = (1e-4, 1e4)
"""Between these a power of ten is written out."""

ON_WHITE = {"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.4}
"""Behind a name; a halo would turn its letters into outlines."""

NOTE_SIZE = 8.0
"""Of the letters of a panel's note, at its foot."""


def draw_panel(axes: Any, panel: Panel, limit: float) -> Any:
    """Everything but legend and names; the image or the nodes whose shades reach from -limit to limit, or None."""
    shaded = DRAW[panel.kind](axes, panel, limit)
    axes.set_title(panel.title)
    axes.set_xlabel(panel.x.text)
    axes.set_ylabel(panel.y.text)
    if panel.kind not in ("heat", "graph"):
        _scale(axes, panel)
    if panel.kind == "lines":
        _mark_diverged(axes, panel)
    if panel.note:
        axes.text(0.98, 0.02, panel.note, transform=axes.transAxes, ha="right", fontsize=NOTE_SIZE, color=GREY)
    return shaded


def name_panel(axes: Any, panel: Panel) -> None:
    """The names of points and curves, which are placed in points and so need a panel that has its final size."""
    if panel.kind == "lines":
        _name_lines(axes, panel)
    elif panel.kind == "path":
        _name_points(axes, panel)


def as_array(values: Numbers) -> Any:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _styled(panel: Panel) -> list[tuple[SeriesStyle, Series]]:
    return [(style_of(series.key, place), series) for place, series in enumerate(panel.series)]


def _lines(axes: Any, panel: Panel, _: float) -> None:
    """Curves; the interval of those in front is a band, and a bar where places are not joined."""
    for style, series in _styled(panel):
        x, y = as_array(series.x), as_array(series.y)
        label = None if style.behind else series.label or None
        axes.plot(x, y, label=label, **style.line_settings(len(x)))
        if not style.marker:  # a line through one point is nothing
            alone = _alone(np.isfinite(x) & np.isfinite(y))
            axes.plot(x[alone], y[alone], ".", color=style.colour, markersize=7, zorder=style.order)
        if series.low and series.high and not style.behind:
            low, high = as_array(series.low), as_array(series.high)
            if style.line == "":  # places that have nothing between them
                axes.errorbar(x, y, yerr=(y - low, high - y), fmt="none", ecolor=style.colour, capsize=2)
                continue
            axes.fill_between(x, low, high, color=style.colour, alpha=0.16, linewidth=0, zorder=style.order - 0.5)


def _alone(there: Any) -> Any:
    """Places that have a value and no neighbour with one."""
    beside = np.zeros_like(there)
    beside[1:] |= there[:-1]
    beside[:-1] |= there[1:]
    return there & ~beside


END_SIZE = 7.5
"""Of the letters of a curve's name."""

BESIDE = 6.0
"""Points between the end of the longest curve and the names."""


def _ends(panel: Panel) -> list[tuple[float, float, str]]:
    """(x, y, name) at the right end of every curve behind the others; the name of one that diverged after it has a
    cross, as that in the strip has no name."""
    found = []
    for style, series in _styled(panel):
        x, y = as_array(series.x), as_array(series.y)
        seen = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        if style.behind and series.label and len(seen):
            lost = "diverged" in series.marks[seen[-1] + 1 :]
            found.append((float(x[seen[-1]]), float(y[seen[-1]]), f"{series.label} ×" if lost else series.label))
    return found


def _last(panel: Panel) -> float:
    """Where the longest curve ends."""
    return max(x for series in panel.series for x in series.x if x is not None)


def _make_room_for_names(axes: Any, panel: Panel, names: Iterable[str]) -> None:
    """The longest name ends within the panel, which has its final size."""
    if panel.x.limits is not None:
        return
    wide = axes.bbox.width * 72 / axes.figure.dpi
    room = max(0.4, 1 - (BESIDE + width_of(max(names, key=len), END_SIZE)) / wide)
    logarithmic = axes.get_xscale() == "log"
    low, high, end = (np.log(value) if logarithmic else value for value in (*axes.get_xlim(), _last(panel)))
    high = max(high, low + (end - low) / room)
    axes.set_xlim(*(np.exp(value) if logarithmic else value for value in (low, high)))


def _name_lines(axes: Any, panel: Panel) -> None:
    """The names of the curves behind the others stand to the right of all curves, tied to their ends; that of the best
    peer above its line."""
    for style, series in _styled(panel):
        if series.key == "best-peer":
            place = (series.x[0], series.y[0])  # the other names stand on the right
            _write(axes, series.marks[-1], place, (0, 2.5), color=style.colour, ha="left", fontsize=END_SIZE)
    ends = _ends(panel)
    if not ends:
        return
    _make_room_for_names(axes, panel, [name for _, _, name in ends])
    scale = 72 / axes.figure.dpi
    places = axes.transData.transform([(x, y) for x, y, _ in ends]) * scale
    ((column, _),) = axes.transData.transform([(_last(panel), ends[0][1])]) * scale
    (_, low), (_, high) = axes.transAxes.transform([(0, 0), (1, 1)]) * scale
    heights = spread([float(up) for _, up in places], END_SIZE + 0.3, low + 4, high - 2)
    tie = {"arrowstyle": "-", "color": BEHIND, "linewidth": 0.6, "relpos": (0, 0.5), "shrinkA": 0, "shrinkB": 2}
    tie["linestyle"] = (0, (1, 2))  # dotted, or it would look like more of the curve
    for (x, y, name), (across, up), height in zip(ends, places, heights, strict=True):
        offset = (column - across + BESIDE, height - up - END_SIZE / 3)
        _write(axes, name, (x, y), offset, color="#6f6f6f", fontsize=END_SIZE, arrowprops=tie)


def _write(axes: Any, text: str, place: Any, offset: tuple[float, float], **settings: Any) -> None:
    note = axes.annotate(text, place, xytext=offset, textcoords="offset points", bbox=ON_WHITE, zorder=9, **settings)
    note.set_in_layout(False)


STRIP = 0.1
"""The part of a panel's height that the strip of diverged runs takes: there is no scale in it."""


class _Above(Locator):
    """The ticks of another locator that stand above the strip."""

    def __init__(self, of: Locator, axes: Any) -> None:
        self.of, self.above = of, axes

    def __call__(self) -> Any:
        return self._kept(self.of())

    def tick_values(self, vmin: float, vmax: float) -> Any:
        return self._kept(self.of.tick_values(vmin, vmax))

    def _kept(self, values: Any) -> Any:
        values = np.asarray(values, dtype=float)
        if not len(values):
            return values
        axes = self.above
        places = axes.transData.transform(np.column_stack([np.full(len(values), axes.get_xlim()[1]), values]))
        heights = axes.transAxes.inverted().transform(places)[:, 1]
        return values[heights >= STRIP]


def _mark_diverged(axes: Any, panel: Panel) -> None:
    """A strip along the bottom with a cross for every series of which no run finished there, side by side, and one for
    all that lie behind; where some finished, a small cross on the point."""
    beside: dict[float, dict[str, None]] = {}
    for style, series in _styled(panel):
        for x, y, mark in zip(series.x, series.y, series.marks, strict=False):
            if mark == "diverged" and x is not None:
                beside.setdefault(x, {})[style.colour] = None
            elif mark.endswith("diverged") and x is not None and y is not None:
                axes.plot([x], [y], "x", color="white", markersize=4, markeredgewidth=1.4, zorder=8)
    if not beside:
        return
    low, high = axes.get_ylim()
    logarithmic = axes.get_yscale() == "log"
    axes.set_ylim(low * (low / high) ** 0.13 if logarithmic else low - 0.13 * (high - low), high)
    part = axes.yaxis
    part.set_major_locator(_Above(part.get_major_locator(), axes))
    part.set_minor_locator(_Above(part.get_minor_locator(), axes))
    axes.add_patch(Rectangle((0, 0), 1, STRIP, transform=axes.transAxes, color="#f0f0f0", zorder=0.5, linewidth=0))
    axes.text(0.015, 0.05, "diverged", transform=axes.transAxes, va="center", fontsize=END_SIZE, color=GREY)
    for x, colours in beside.items():
        for place, colour in enumerate(colours):
            axes.annotate(
                "×", (x, 0.05), xycoords=axes.get_xaxis_transform(), textcoords="offset points",
                xytext=(6 * (place - (len(colours) - 1) / 2), -0.5), ha="center", va="center", fontsize=11,
                fontweight="bold", color=colour, zorder=8,
            )  # fmt: skip


def _points(axes: Any, panel: Panel, _: float) -> None:
    for style, series in _styled(panel):
        x, y = as_array(series.x), as_array(series.y)
        axes.scatter(
            x, y, s=7, marker=style.marker or "o", color=style.colour, linewidths=0.3, label=series.label or None
        )


def _path(axes: Any, panel: Panel, _: float) -> None:
    """Points, those of a series joined by a thin line; a front is a staircase."""
    for style, series in _styled(panel):
        x, y = as_array(series.x), as_array(series.y)
        if series.key == "front":
            axes.step(x, y, where="post", color=style.colour, linestyle=style.line, linewidth=style.width, zorder=1)
            continue
        axes.plot(x, y, color=style.colour, linewidth=0.8, alpha=0.6, zorder=style.order)
        whole = style.order > PLAIN and len(x) == 1
        axes.scatter(
            x, y, s=40 if whole else 16, marker=style.marker or "o", color=style.colour, zorder=style.order + 1,
            label=series.label if whole and series.label else None,
        )  # fmt: skip
    axes.margins(x=0.12, y=0.1)


def _name_points(axes: Any, panel: Panel) -> None:
    """The mark of a point is its name, beside it, of which the legend has the part that is the name of a series in
    front; those in front choose their places first."""
    named: list[tuple[float, float, str, str]] = []
    silent: list[tuple[float, float]] = []
    for style, series in sorted(_styled(panel), key=lambda pair: -pair[0].order):
        colour = "#555555" if style.behind else ink(style.colour)
        in_legend = f"{series.label} " if style.order > PLAIN else ""
        for x, y, mark in zip(series.x, series.y, series.marks, strict=False):
            if x is not None and y is not None and series.key != "front":
                named += [(x, y, mark.removeprefix(in_legend), colour)] if mark else []
                silent += [] if mark else [(x, y)]
    if not named:
        return
    scale = 72 / axes.figure.dpi
    (left, low), (right_end, high) = axes.transAxes.transform([(0, 0), (1, 1)]) * scale
    shown = axes.transData.transform([(x, y) for x, y, *_ in named] + silent) * scale
    note = (right_end - width_of(panel.note, NOTE_SIZE), low, right_end, low + 1.5 * NOTE_SIZE)
    frame, names = (left, low, right_end, high), [name for _, _, name, _ in named]
    written = [*([note] if panel.note else []), *_along_front(axes, panel, scale)]
    where = place_names([(x, y) for x, y in shown], names, frame, written)
    for (x, y, name, colour), (right, up, side) in zip(named, where, strict=True):
        line = {"arrowstyle": "-", "color": colour, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2}
        tied = {"arrowprops": line} if abs(up) > FAR else {}
        _write(axes, name, (x, y), (right, up), fontsize=NAME_SIZE, color=colour, ha=side, **tied)


def _along_front(axes: Any, panel: Panel, scale: float) -> list[Box]:
    """Where the staircase runs, which would strike a name through: its treads and its risers, in points."""
    found: list[Box] = []
    for series in panel.series:
        if series.key == "front" and len(series.x) > 1:
            corners = axes.transData.transform(list(zip(series.x, series.y, strict=True))) * scale
            for (x, y), (to_x, to_y) in pairwise(corners.tolist()):
                found += [(x, y - 0.7, to_x, y + 0.7), (to_x - 0.7, y, to_x + 0.7, to_y)]
    return found


def _steps(axes: Any, panel: Panel, _: float) -> None:
    for style, series in _styled(panel):
        x, y = as_array(series.x), as_array(series.y)
        half = (x[1] - x[0]) / 2 if len(x) > 1 else 0.5
        borders = np.append(x - half, x[-1] + half)
        outline = {"color": style.colour, "linestyle": style.line, "linewidth": 1.4}
        axes.stairs(y, borders, label=series.label or None, **outline)
        axes.stairs(y, borders, fill=True, color=style.colour, alpha=0.12)
    axes.margins(y=0.3 if len(panel.series) > 1 else 0.05)  # room for the legend


MANY_ROWS = 10
"""With more named rows than this their letters are smaller."""


def _heat(axes: Any, panel: Panel, limit: float) -> Any:
    grid = np.vstack([as_array(series.y) for series in panel.series])
    across = as_array(panel.series[0].x)
    half = (across[1] - across[0]) / 2 if len(across) > 1 else 0.5
    extent = (across[0] - half, across[-1] + half, len(grid) - 0.5, -0.5)
    axes.set_facecolor("#e9e9e9")  # where nothing was measured
    image = axes.imshow(grid, aspect="auto", cmap=SIGNED, vmin=-limit, vmax=limit, extent=extent, interpolation="none")
    axes.grid(visible=False)
    if panel.x.names:
        turned = max(map(len, panel.x.names)) > 3
        axes.set_xticks(range(len(panel.x.names)), panel.x.names, rotation=45 if turned else 0,
                        ha="right" if turned else "center", rotation_mode="anchor")  # fmt: skip
        _write_values(axes, grid, limit)
    if panel.y.names:
        named = [(place, name) for place, name in enumerate(panel.y.names) if name]
        size = {"fontsize": 8} if len(named) > MANY_ROWS else {}
        axes.set_yticks([place for place, _ in named], [name for _, name in named], **size)
    return image


def _write_values(axes: Any, grid: Any, limit: float) -> None:
    for row, values in enumerate(grid):
        for column, value in enumerate(values):
            if np.isfinite(value):
                colour = "white" if abs(value) > 0.62 * limit else "black"
                text = f"{value:+.2f}".replace("-", "−").replace("0.", ".")
                axes.text(column, row, text, ha="center", va="center", fontsize=7, color=colour)


def _graph(axes: Any, panel: Panel, limit: float) -> Any:
    """The first series is the edges, broken where there is no value, the second the nodes with their shades."""
    edges, nodes = panel.series
    axes.plot(as_array(edges.x), as_array(edges.y), color=BEHIND, linewidth=0.7, zorder=1)
    shown = axes.scatter(
        as_array(nodes.x), as_array(nodes.y), c=as_array(nodes.z), cmap=SIGNED, vmin=-limit, vmax=limit, s=48,
        edgecolors="#555555", linewidths=0.5, zorder=2,
    )  # fmt: skip
    axes.set_aspect("equal")
    axes.margins(0.06)
    axes.grid(visible=False)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
    return shown


def _scale(axes: Any, panel: Panel) -> None:
    _set_scale(axes, "x", panel.x, [series.x for series in panel.series])
    _set_scale(axes, "y", panel.y, [series.y for series in panel.series])


def _set_scale(axes: Any, side: str, axis: Axis, columns: list[Numbers]) -> None:
    set_scale, set_ticks = getattr(axes, f"set_{side}scale"), getattr(axes, f"set_{side}ticks")
    low, high = axis.limits or (-math.inf, math.inf)
    present = sorted({value for column in columns for value in column if value is not None and low <= value <= high})
    if axis.scale == "symlog":
        set_scale("symlog", linthresh=1.0)
    elif axis.scale == "log":
        set_scale("log")
        places = [f"{value:g}" for value in present]
        chosen = max(map(len, places), default=0) <= 4 and all(b >= 1.5 * a for a, b in pairwise(present))
        if 0 < len(present) <= 12 and side == "x" and chosen:  # a few places chosen to measure at: label those
            set_ticks(present, places, **({"fontsize": 7} if len(places) > MANY_PLACES else {}))
            set_ticks([], minor=True)
        elif present and present[-1] < FEW_DECADES * present[0]:  # powers of ten would leave it almost without labels
            part = getattr(axes, f"{side}axis")
            part.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            part.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            part.set_minor_formatter(NullFormatter())
        elif present and PLAIN_NUMBERS[0] <= present[0] and present[-1] <= PLAIN_NUMBERS[1]:
            getattr(axes, f"{side}axis").set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if axis.names:
        set_ticks(range(len(axis.names)), axis.names)
    if axis.limits is not None:
        getattr(axes, f"set_{side}lim")(*axis.limits)


def labels(panel: Panel) -> list[str]:
    """What the legend of this panel says."""
    if panel.kind in ("heat", "graph"):
        return []
    if panel.kind == "path":  # points with a name of their own are in no legend
        found = [s.label for style, s in _styled(panel) if style.order > PLAIN and s.label and len(s.x) == 1]
        return list(dict.fromkeys(found))
    return [series.label for style, series in _styled(panel) if series.label and not style.behind]


DRAW: dict[str, Callable[[Any, Panel, float], Any]] = {
    "lines": _lines,
    "points": _points,
    "path": _path,
    "steps": _steps,
    "heat": _heat,
    "graph": _graph,
}
