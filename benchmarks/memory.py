"""Peak memory of a training step against its number of steps, and the cells in which the paper ran out of memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.harness import Result, Row, Settings, Verdict, slope
from benchmarks.problem import arxiv_folder, sizes_of
from benchmarks.worker import Job, measure_alone
from gwn.data import DATASETS

GENERATED = Job(nodes=20_000, edges=100_000, tau=0.2)
"""Large enough for a state (5 MiB) to stand out, and tau small enough for a hundred steps of the paper's sign."""

FLAT, FLAT_STEPS = ("gwn-sym", "gwn-physical", "gwn-fa-symmetric"), (5, 100)
"""Models whose training step takes the same memory for any number of steps."""

ATTENTION_STEPS = (25, 50, 100, 200)
OUT_OF_MEMORY = ("photo", "computers", "cs")
DEEP, DEEP_STEPS = "gwn-sym-rescaled", 1000


def steps(settings: Settings) -> Result:
    """The bars on a generated graph, and those on real graphs for the datasets at hand."""
    names, notes = settings.at_hand((*OUT_OF_MEMORY, "cora"))
    rows = []
    for job in memory_jobs(names, settings.shrink):
        settings.say(f"memory: {job.model}, {job.steps} steps, width {job.width}, {job.graph_name}")
        answer = measure_alone(replace(job, threads=settings.threads))
        sizes = {"steps": job.steps, "tau": job.tau, "width": job.width}
        rows.append({"graph": job.graph_name, "model": job.model, **sizes, **vars(answer)})
    return Result(rows=rows, verdicts=memory_verdicts(rows), notes=notes)


def memory_jobs(datasets: Sequence[str], shrink: int = 1) -> list[Job]:
    """Everything that is measured: flat models, attention, the paper's cells and a thousand steps on Cora."""
    base = replace(GENERATED, nodes=GENERATED.nodes // shrink, edges=GENERATED.edges // shrink)
    jobs = [replace(base, model=model, steps=n) for model in FLAT for n in FLAT_STEPS]
    jobs += [replace(base, model="gwn-fa", steps=n) for n in (1, *ATTENTION_STEPS)]
    whole = Job(tau=0.2, width=256, steps=100, model="gwn-fa", live=False)
    jobs += [replace(whole, dataset=name) for name in OUT_OF_MEMORY if name in datasets]
    if "cora" in datasets:
        jobs.append(Job(dataset="cora", model=DEEP, steps=DEEP_STEPS, live=False))
    return jobs


def memory_verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """Flat or a square root in the number of steps; the paper's cells in less than 4 GB, and all of them finite."""
    generated = [row for row in rows if row["graph"] not in DATASETS]
    peaks = {(row["model"], row["steps"]): row["step_mib"] for row in generated}
    found = [_added(peaks, model, FLAT_STEPS, "memory") for model in FLAT]
    # What one step takes is taken off, as it would flatten the curve.
    added = [peaks["gwn-fa", n] - peaks["gwn-fa", 1] for n in ATTENTION_STEPS]
    what = "memory ~ steps^p, p from 25 to 200 steps"
    found.append(Verdict(subject="gwn-fa", what=what, value=slope(ATTENTION_STEPS, added), sign="<=", bar=0.6))
    for row in rows:
        if row["graph"] not in DATASETS:
            continue
        what = f"{row['model']}, {row['steps']:,} steps of tau {row['tau']:g}, width {row['width']}"
        if row["graph"] in OUT_OF_MEMORY:
            gigabytes = row["process_mib"] * 2**20 / 1e9
            in_gb = f"{what}: whole process in GB"
            found.append(Verdict(subject=row["graph"], what=in_gb, value=gigabytes, sign="<", bar=4))
        finite = f"{what}: loss and gradient finite (1: yes)"
        found.append(Verdict(subject=row["graph"], what=finite, value=float(row["trained"]), sign=">=", bar=1))
    return found


def _added(peaks: Mapping[tuple[str, int], float], model: str, ends: tuple[int, int], what: str) -> Verdict:
    few, many = ends
    value = 100 * (peaks[model, many] / peaks[model, few] - 1)
    return Verdict(subject=model, what=f"{what} added from {few} to {many} steps, in %", value=value, sign="<", bar=10)


DEPTH_FLAT, DEPTH_STEPS = ("gwn-sym", "gwn-fa-symmetric"), (20, 80)
DEPTH_WIDTH = 32
"""Narrower than the other parts: memory against depth is a ratio, and eighty steps take their time."""


def depth(settings: Settings) -> Result:
    """The same on the arxiv-shaped graph, with the model and all that it keeps."""
    graph = arxiv_folder(settings)
    rows: list[dict[str, Any]] = []
    for model in (*DEPTH_FLAT, "gwn-fa"):
        for n in DEPTH_STEPS:
            settings.say(f"depth: {model}, {n} steps")
            job = Job(folder=str(graph.path), model=model, width=DEPTH_WIDTH, steps=n, tau=0.1, warm=False)
            peak = measure_alone(replace(job, threads=settings.threads)).step_mib
            rows.append({"model": model, "steps": n, "peak_mib": peak})
    return Result(facts={**sizes_of(graph), "width": DEPTH_WIDTH}, rows=rows, verdicts=depth_verdicts(rows))


def depth_verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """Fixed and reversible operators: flat. The paper's attention: like the square root, by checkpoints."""
    peaks = {(row["model"], row["steps"]): row["peak_mib"] for row in rows}
    exponent = slope(DEPTH_STEPS, [peaks["gwn-fa", n] for n in DEPTH_STEPS])
    what = "peak memory ~ steps^p (checkpoints)"
    return [
        *(_added(peaks, model, DEPTH_STEPS, "peak memory") for model in DEPTH_FLAT),
        Verdict(subject="gwn-fa", what=what, value=exponent, sign="<=", bar=0.6),
    ]
