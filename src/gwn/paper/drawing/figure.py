"""A whole figure: its panels in a grid, a legend, and its caption below."""

from __future__ import annotations

import textwrap
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from gwn.errors import GWNError
from gwn.io import write_atomic
from gwn.paper.curve_data import CurveData
from gwn.paper.drawing.panels import draw_panel, labels
from gwn.paper.drawing.style import house_style

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
