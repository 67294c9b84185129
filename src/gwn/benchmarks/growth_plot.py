"""The growth report as a picture: a column an axis, time above, memory below, both logarithmic."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from gwn.benchmarks.growth import GrowthReport, Series
from gwn.report.style import PALETTE, house_style
from gwn.training.store import write_atomic

MARKERS = ("o", "s", "^", "D")
TWO_DECADES = 100


def draw_growth(report: GrowthReport, path: Path) -> None:
    """PNG, PDF or SVG by the file's suffix."""
    axes = list(dict.fromkeys(series.axis for series in report.series))
    with house_style():
        figure = Figure(figsize=(2.6 * len(axes) + 0.6, 5.4), layout="constrained")
        panels = figure.subplots(2, len(axes), squeeze=False, sharex="col", sharey="row")
        for column, name in enumerate(axes):
            curves = [series for series in report.series if series.axis == name]
            _panel(panels[0][column], curves, "milliseconds", "time_slope")
            _panel(panels[1][column], curves, "mebibytes", "memory_slope")
            panels[1][column].set_xlabel(name)
        panels[0][0].set_ylabel("time of a training step (ms)")
        panels[1][0].set_ylabel("memory of a training step (MiB)")
        title = "Growth of one training step; dotted: linear; p: fitted exponent"
        figure.suptitle(title, x=0.01, ha="left", fontsize="large")
        buffer = BytesIO()
        figure.savefig(buffer, format=path.suffix.lstrip(".") or "png")
    write_atomic(path, buffer.getvalue())


def _panel(panel: Any, curves: list[Series], quantity: str, exponent: str) -> None:
    for place, series in enumerate(curves):
        label = f"GWN-{series.model}, p = {getattr(series, exponent):.2f}"
        panel.loglog(
            series.values,
            getattr(series, quantity),
            marker=MARKERS[place % len(MARKERS)],
            color=PALETTE[place % len(PALETTE)],
            markersize=4,
            label=label,
        )
    values, value = curves[-1].values, getattr(curves[-1], quantity)[-1]
    first, last = values[0], values[-1]
    panel.loglog([first, last], [value * first / last, value], ":", color="#888888", linewidth=1, zorder=0)
    panel.legend(fontsize=7.5, frameon=False, loc="upper left")
    panel.margins(y=0.2)
    if last < TWO_DECADES * first:  # powers of ten would leave such an axis almost without labels
        panel.set_xticks(values, [str(tick) for tick in values])
        panel.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
