"""The part `edges` of the scale benchmark as a picture: a panel an axis, both logarithmic."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from gwn.benchmarks.slopes import slope
from gwn.report.style import PALETTE, house_style
from gwn.training.store import write_atomic

Curve = tuple[str, list[float], list[float]]


def curves(part: Mapping[str, Any]) -> dict[str, list[Curve]]:
    """Axis -> (model, values, milliseconds), from the rows of the report."""
    found: dict[str, dict[str, tuple[list[float], list[float]]]] = {}
    for row in part["rows"]:
        values, times = found.setdefault(row["axis"], {}).setdefault(row["model"], ([], []))
        values.append(row["value"])
        times.append(row["step_ms"])
    return {axis: [(model, *curve) for model, curve in models.items()] for axis, models in found.items()}


def draw_scale(part: Mapping[str, Any], path: Path) -> None:
    """PNG, PDF or SVG by the file's suffix."""
    found = curves(part)
    with house_style():
        figure = Figure(figsize=(3.2 * len(found) + 0.6, 3.2), layout="constrained")
        panels = figure.subplots(1, len(found), squeeze=False, sharey=True)[0]
        for panel, (axis, lines) in zip(panels, found.items(), strict=True):
            for place, (model, values, times) in enumerate(lines):
                label = f"{model}, p = {slope(values, times):.2f}"
                panel.loglog(values, times, marker="os"[place % 2], color=PALETTE[place], markersize=4, label=label)
            _, values, times = lines[-1]
            panel.loglog(values, [times[0] * v / values[0] for v in values], ":", color="#888888", linewidth=1)
            panel.set_xticks(values, [f"{value:g}" if value < 1e4 else f"{value:.0e}" for value in values])
            panel.set_xticks([], minor=True)
            panel.set_xlabel(axis)
            panel.legend(fontsize=7.5, frameon=False, loc="upper left")
        panels[0].set_ylabel("time of a training step (ms)")
        figure.suptitle("Time against edges and width; dotted: linear", x=0.01, ha="left", fontsize="large")
        buffer = BytesIO()
        figure.savefig(buffer, format=path.suffix.lstrip(".") or "png")
    write_atomic(path, buffer.getvalue())
