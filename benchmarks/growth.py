"""The growth report as a picture: a column an axis, time above, memory below, both logarithmic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import torch
from matplotlib.figure import Figure

from benchmarks.memory import Measure
from benchmarks.targets import Verdict
from benchmarks.timing import fixed_threads, slope
from benchmarks.timing import measure as measure_time
from benchmarks.worker import Job, job_problem, job_training, measure_alone
from gwn.io import write_atomic
from gwn.paper.drawing.style import PALETTE, house_style
from gwn.training.loop import train_step

Say = Callable[[str], None]
StepTimes = Callable[[Mapping[str, Job], float], dict[str, float]]
BASE = Job(nodes=10_000, edges=100_000)
MODELS = ("sym", "fa")
LINEAR = 1.1
"""The largest exponent that is still called linear."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """What is varied, over which values, and which ones are only for `--large`; `job` turns a value into a job."""

    name: str
    values: tuple[int, ...]
    large: tuple[int, ...]
    job: Callable[[int], Job]


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
    Axis(name="width", values=(16, 32, 64, 128, 256), large=(), job=lambda n: replace(BASE, width=n)),
    # tau is small because the paper's operator grows in every step, and this is about time, not about overflow.
    Axis(name="steps", values=(5, 10, 20, 40, 80), large=(), job=lambda n: replace(BASE, steps=n, tau=0.2)),
)


@dataclass(frozen=True, kw_only=True)
class Series:
    """One model along one axis."""

    axis: str
    model: str
    values: tuple[int, ...]
    milliseconds: tuple[float, ...]
    mebibytes: tuple[float, ...]

    @property
    def time_slope(self) -> float:
        return slope(self.values, self.milliseconds)

    @property
    def memory_slope(self) -> float:
        return slope(self.values, self.mebibytes)

    @property
    def last_time_slope(self) -> float:
        """Between the two largest: what is left when fixed costs no longer count."""
        return slope(self.values[-2:], self.milliseconds[-2:])

    def to_json(self) -> dict[str, Any]:
        slopes = {name: getattr(self, name) for name in ("time_slope", "memory_slope", "last_time_slope")}
        return {**asdict(self), **{name: p if p == p else None for name, p in slopes.items()}}


@dataclass(frozen=True, kw_only=True)
class GrowthReport:
    """All curves: what the table prints and the picture shows."""

    series: tuple[Series, ...]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return tuple(
            Verdict(subject=f"gwn-{s.model}", what=f"{what} ~ {s.axis}^p", value=value, sign="<=", bar=LINEAR)
            for s in self.series
            for what, value in (("time", s.time_slope), ("memory", s.memory_slope))
        )

    def to_json(self) -> dict[str, Any]:
        verdicts = [verdict.to_json() for verdict in self.verdicts]
        return {"base": asdict(BASE), "series": [s.to_json() for s in self.series], "verdicts": verdicts}


def step_times(jobs: Mapping[str, Job], seconds: float) -> dict[str, float]:
    """Milliseconds a step of several models on one graph, taking turns; the threads are the caller's to fix."""
    torch.manual_seed(0)
    problem = job_problem(next(iter(jobs.values())))
    steps = {
        name: partial(train_step, *job_training(job, problem, width=job.width, steps=job.steps))
        for name, job in jobs.items()
    }
    timed = measure_time(steps, seconds=seconds, least=3, warmup=1)
    return {name: timing.best for name, timing in timed.items()}


def growth(
    *,
    threads: int = 1,
    large: bool = False,
    seconds: float = 1.0,
    axes: Iterable[Axis] = AXES,
    say: Say = lambda line: None,
    measure: Measure = measure_alone,
    times: StepTimes = step_times,
) -> GrowthReport:
    """Measure along every axis."""
    series = []
    for axis in axes:
        values = (*axis.values, *axis.large) if large else axis.values
        milliseconds: dict[str, list[float]] = {model: [] for model in MODELS}
        mebibytes: dict[str, list[float]] = {model: [] for model in MODELS}
        for value in values:
            say(f"growth: {axis.name} = {value:,}")
            jobs = {model: replace(axis.job(value), laplacian=model, threads=threads) for model in MODELS}
            with fixed_threads(threads):
                taken = times(jobs, seconds)
            for model, job in jobs.items():
                milliseconds[model].append(taken[model])
                mebibytes[model].append(measure(job, live=True).step_mib)
        for model in MODELS:
            curve = Series(
                axis=axis.name,
                model=model,
                values=values,
                milliseconds=tuple(milliseconds[model]),
                mebibytes=tuple(mebibytes[model]),
            )
            series.append(curve)
    return GrowthReport(series=tuple(series))


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
