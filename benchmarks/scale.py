"""The part `edges` of the scale benchmark as a picture: a panel an axis, both logarithmic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from io import BytesIO
from pathlib import Path
from typing import Any

import torch
from matplotlib.figure import Figure

from benchmarks.scale_part import PartResult, ScaleSettings
from benchmarks.scale_parts import arxiv, depth, edges, partitions, precomputed, processes, ten_million
from benchmarks.targets import Verdict
from benchmarks.timing import fixed_threads, slope
from gwn.errors import GWNError
from gwn.io import write_atomic
from gwn.paper.drawing.style import PALETTE, house_style
from gwn.registry import lookup
from gwn.training.result import environment

FORMAT = 1

PARTS: dict[str, Callable[[ScaleSettings], PartResult]] = {
    "arxiv": arxiv.measure_arxiv,
    "depth": depth.measure_depth,
    "precomputed": precomputed.measure_precomputed,
    "ten-million": ten_million.measure_ten_million,
    "edges": edges.measure_edges,
    "partitions": partitions.measure_partitions,
    "processes": processes.measure_processes,
}


@dataclass(frozen=True, kw_only=True)
class ScaleReport:
    """What every part found, and the machine it ran on."""

    created: str
    environment: dict[str, Any]
    parts: Mapping[str, PartResult]

    @property
    def verdicts(self) -> list[Verdict]:
        return [verdict for part in self.parts.values() for verdict in part.verdicts]

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "created": self.created,
            "environment": self.environment,
            "parts": {name: part.to_json() for name, part in self.parts.items()},
        }


def run_scale(names: Sequence[str] | None, settings: ScaleSettings) -> ScaleReport:
    """Measure these parts, or all of them."""
    if not settings.seconds > 0:
        raise GWNError(f"seconds must be greater than 0; got {settings.seconds}")
    chosen = {name: lookup("part of the scale benchmark", name, PARTS) for name in names or PARTS}
    settings.work.mkdir(parents=True, exist_ok=True)
    found = {}
    with fixed_threads(settings.threads):
        machine = environment(torch.device("cpu"))
        for name, measure in chosen.items():
            settings.say(f"scale: {name}")
            torch.manual_seed(0)
            found[name] = measure(settings)
    created = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return ScaleReport(created=created, environment=machine, parts=found)


def merged(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> dict[str, Any]:
    """A report with the parts of an earlier one that were not measured again; each part says when it was."""
    stamp = {"created": new["created"], "environment": new["environment"]}
    parts = {name: {**part, **stamp} for name, part in new["parts"].items()}
    return {**new, "parts": {**(old or {}).get("parts", {}), **parts}}


def default_work() -> Path:
    """Generated graphs are kept here from one benchmark to the next."""
    from gwn.data.download import cache_root

    return cache_root() / "bench-scale"


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
