"""Time of a training step against edges and width, from a hundred thousand to ten million edges."""

from __future__ import annotations

import math
from dataclasses import replace

from benchmarks.growth import LINEAR, Axis, step_times
from benchmarks.scale_part import PartResult, ScaleSettings
from benchmarks.targets import Verdict
from benchmarks.timing import slope
from benchmarks.worker import Job

BASE = Job(nodes=100_000, edges=1_000_000)
AXES = (
    Axis(
        name="edges, 10 a node",
        values=(100_000, 1_000_000, 10_000_000),
        large=(),
        job=lambda n: replace(BASE, edges=n, nodes=n // 10),
    ),
    Axis(
        name="edges, 100,000 nodes",
        values=(100_000, 1_000_000, 10_000_000),
        large=(),
        job=lambda n: replace(BASE, edges=n),
    ),
    Axis(name="width, 1,000,000 edges", values=(32, 64, 128, 256), large=(), job=lambda n: replace(BASE, width=n)),
)
MODELS = ("sym", "fa")


def measure_edges(settings: ScaleSettings) -> PartResult:
    """One curve a model and axis; the exponent over the whole of it is the verdict."""
    rows, verdicts = [], []
    for axis in AXES:
        found: dict[str, list[float]] = {model: [] for model in MODELS}
        for value in axis.values:
            settings.say(f"scale: {axis.name} = {value:,}")
            job = axis.job(value)
            fewer = job.edges // settings.shrink
            job = replace(job, nodes=max(3 * math.isqrt(fewer), job.nodes // settings.shrink), edges=fewer)
            taken = step_times({model: replace(job, laplacian=model) for model in MODELS}, settings.seconds / 4)
            for model in MODELS:
                found[model].append(taken[model])
                per = 1e6 * taken[model] / (job.edges * job.width * job.steps)
                rows.append(
                    {
                        "axis": axis.name,
                        "model": f"gwn-{model}",
                        "value": value,
                        "nodes": job.nodes,
                        "edges": job.edges,
                        "width": job.width,
                        "step_ms": taken[model],
                        "ns_per_edge_channel_step": per,
                    }
                )
        verdicts += [
            Verdict(
                subject=f"gwn-{model}",
                what=f"time ~ {axis.name}^p",
                value=slope(axis.values, found[model]),
                sign="<=",
                bar=LINEAR,
            )
            for model in MODELS
        ]
    return PartResult(facts={"steps": BASE.steps}, rows=tuple(rows), verdicts=tuple(verdicts))
