"""How time and memory of a training step grow with edges, nodes, width and steps: curves, exponents and a picture."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import torch
from matplotlib.figure import Figure

from benchmarks.competitors import COMPETITORS
from benchmarks.harness import Result, Row, Settings, Verdict, slope
from benchmarks.timing import measure
from benchmarks.worker import Job, measure_alone
from gwn.errors import GWNError
from gwn.io import write_atomic
from gwn.memory import freed_blocks_kept
from gwn.paper.drawing.style import PALETTE, house_style

MODELS = ("gwn-sym", "gwn-fa")
LINEAR = 1.1
"""The largest exponent that is still called linear."""

SHOWN = ("axis", "model", "value", "step_ms", "step_mib", "time_slope", "memory_slope")
SHARE = 0.2
"""Of the seconds asked for, so much a point of a curve."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """What is varied, over which values, and which ones are only for `--large`; `job` turns a value into a job."""

    name: str
    values: tuple[int, ...]
    large: tuple[int, ...] = ()
    job: Callable[[int], Job]


BASE = Job(nodes=10_000, edges=100_000)
AXES = (
    Axis(
        name="edges, 10 a node",
        values=(10_000, 100_000, 1_000_000),
        large=(10_000_000,),
        job=lambda n: replace(BASE, edges=n, nodes=n // 10),
    ),
    Axis(
        name="edges, 10,000 nodes",
        values=(10_000, 100_000, 1_000_000),
        large=(10_000_000,),
        job=lambda n: replace(BASE, edges=n),
    ),
    Axis(
        name="nodes, 100,000 edges",
        values=(1_000, 10_000, 100_000),
        large=(1_000_000,),
        job=lambda n: replace(BASE, nodes=n),
    ),
    Axis(name="width", values=(16, 32, 64, 128, 256), job=lambda n: replace(BASE, width=n)),
    # tau is small because the paper's operator grows in every step, and this is about time, not about overflow.
    Axis(name="steps", values=(5, 10, 20, 40, 80), job=lambda n: replace(BASE, steps=n, tau=0.2)),
)

LARGE_BASE = Job(nodes=100_000, edges=1_000_000)
COMMUNITY = 1000
ANYWHERE = "edges, 10 a node"
LARGE_AXES = (
    Axis(
        name=f"edges, 10 a node, communities of {COMMUNITY:,}",
        values=(100_000, 1_000_000, 10_000_000),
        job=lambda n: replace(LARGE_BASE, edges=n, nodes=n // 10, community=COMMUNITY),
    ),
    Axis(
        name=ANYWHERE,
        values=(100_000, 1_000_000, 10_000_000),
        job=lambda n: replace(LARGE_BASE, edges=n, nodes=n // 10),
    ),
    Axis(
        name="edges, 100,000 nodes",
        values=(100_000, 1_000_000, 10_000_000),
        job=lambda n: replace(LARGE_BASE, edges=n),
    ),
    Axis(name="width, 1,000,000 edges", values=(32, 64, 128, 256), job=lambda n: replace(LARGE_BASE, width=n)),
)


def growth(settings: Settings) -> Result:
    """Time and memory along five axes, up to a million edges, or ten."""
    rows = [row for axis in AXES for row in curves(axis, settings, memory=True)]
    return Result(rows=rows, verdicts=curve_verdicts(rows), shown=SHOWN)


def edges(settings: Settings) -> Result:
    """Time alone along four axes, from a hundred thousand to ten million edges."""
    rows = [row for axis in LARGE_AXES for row in curves(axis, settings, memory=False)]
    return Result(rows=rows, verdicts=large_verdicts(rows), shown=SHOWN)


def large_verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """No bar where nodes grow along and edges lead anywhere: there every edge reads a row from main memory."""
    return curve_verdicts([row for row in rows if row["axis"] != ANYWHERE])


def curves(axis: Axis, settings: Settings, *, memory: bool) -> list[Row]:
    """One row a model, with a list for everything that varies along the axis."""
    values = (*axis.values, *axis.large) if settings.large else axis.values
    found: dict[str, list[dict[str, Any]]] = {model: [] for model in MODELS}
    for value in values:
        settings.say(f"growth: {axis.name} = {value:,}")
        job = shrunk(axis.job(value), settings.shrink)
        milliseconds = step_times(job, settings.seconds * SHARE)
        for model in MODELS:
            point = {"value": value, **{size: getattr(job, size) for size in ("nodes", "edges", "width", "steps")}}
            point["step_ms"] = milliseconds[model]
            if memory:
                point["step_mib"] = measure_alone(replace(job, model=model, threads=settings.threads)).step_mib
            found[model].append(point)
    return [curve_row(axis.name, model, points) for model, points in found.items()]


def shrunk(job: Job, shrink: int) -> Job:
    """The same on a smaller graph, with room for its edges."""
    fewer = max(4, job.edges // shrink)
    return replace(job, edges=fewer, nodes=max(3 * math.isqrt(fewer), job.nodes // shrink))


@freed_blocks_kept()
def step_times(job: Job, seconds: float) -> dict[str, float]:
    """Milliseconds a step of every model on one graph, taking turns; the threads are the caller's to fix.

    Of one thread, those of the processor: other programs do not count. Freed memory is kept, as every training does.
    """
    torch.manual_seed(0)
    problem = job.problem()
    steps = {model: COMPETITORS[model](problem) for model in MODELS}
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    found = measure(steps, seconds=seconds, least=3, warmup=1, clock=clock)
    return {model: timing.best for model, timing in found.items()}


def curve_row(axis: str, model: str, points: Sequence[Row]) -> dict[str, Any]:
    """A curve with its exponents; the last one, between the two largest, is free of fixed costs."""
    row: dict[str, Any] = {"axis": axis, "model": model}
    row |= {key: [point[key] for point in points] for key in points[0]}
    row["ns_per_edge_channel_step"] = [
        1e6 * point["step_ms"] / (point["edges"] * point["width"] * point["steps"]) for point in points
    ]
    exponents = {
        "time_slope": slope(row["value"], row["step_ms"]),
        "last_time_slope": slope(row["value"][-2:], row["step_ms"][-2:]),
    }
    if "step_mib" in row:
        exponents["memory_slope"] = slope(row["value"], row["step_mib"])
    return {**row, **{name: p if math.isfinite(p) else None for name, p in exponents.items()}}


def curve_verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """Time and memory grow no faster than what is varied."""
    return [
        Verdict(
            subject=row["model"],
            what=f"{what} ~ {row['axis']}^p",
            value=_exponent(row, exponent),
            sign="<=",
            bar=LINEAR,
        )
        for row in rows
        for what, exponent in (("time", "time_slope"), ("memory", "memory_slope"))
        if exponent in row
    ]


def _exponent(row: Row, name: str) -> float:
    return math.nan if row[name] is None else float(row[name])


MARKERS = ("o", "s")
QUANTITIES = (
    ("step_ms", "time_slope", "time of a training step (ms)"),
    ("step_mib", "memory_slope", "memory of a training step (MiB)"),
)
TWO_DECADES = 100


def draw(rows: Sequence[Row], path: Path) -> None:
    """A column an axis, time above, memory below where it was measured, all logarithmic; format by the suffix."""
    if not rows:
        raise GWNError("--plot draws the parts growth and edges; measure one of them")
    axes = list(dict.fromkeys(row["axis"] for row in rows))
    quantities = [quantity for quantity in QUANTITIES if any(quantity[0] in row for row in rows)]
    with house_style():
        size = (2.8 * len(axes) + 0.6, 2.7 * len(quantities) + 0.3)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(len(quantities), len(axes), squeeze=False, sharex="col", sharey="row")
        for line, (quantity, exponent, label) in zip(panels, quantities, strict=True):
            line[0].set_ylabel(label)
            for panel, axis in zip(line, axes, strict=True):
                _panel(panel, [row for row in rows if row["axis"] == axis and quantity in row], quantity, exponent)
        for panel, axis in zip(panels[-1], axes, strict=True):
            panel.set_xlabel(axis)
        title = "Growth of one training step; dotted: linear; p: fitted exponent"
        figure.suptitle(title, x=0.01, ha="left", fontsize="large")
        buffer = BytesIO()
        figure.savefig(buffer, format=path.suffix.lstrip(".") or "png")
    write_atomic(path, buffer.getvalue())


def _panel(panel: Any, rows: Sequence[Row], quantity: str, exponent: str) -> None:
    if not rows:
        return
    for place, row in enumerate(rows):
        p = round(_exponent(row, exponent), 2) + 0.0  # no minus before a zero
        label = f"{row['model'].replace('gwn', 'GWN')}, p = {p:.2f}"
        style = {"marker": MARKERS[place % len(MARKERS)], "color": PALETTE[place % len(PALETTE)], "markersize": 4}
        panel.loglog(row["value"], row[quantity], label=label, **style)
    values, reached = rows[-1]["value"], rows[-1][quantity][-1]
    first, last = values[0], values[-1]
    panel.loglog([first, last], [reached * first / last, reached], ":", color="#888888", linewidth=1, zorder=0)
    panel.legend(fontsize=7.5, frameon=False, loc="upper left")
    panel.margins(y=0.2)
    if last < TWO_DECADES * first:  # powers of ten would leave such an axis almost without labels
        panel.set_xticks(values, [str(tick) for tick in values])
        panel.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
