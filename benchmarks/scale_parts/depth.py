"""Full-graph training with memory that does not grow with depth, on the arxiv-shaped graph."""

from __future__ import annotations

from benchmarks.scale_part import PartResult, ScaleJob, ScaleSettings, peak_alone, sizes_of
from benchmarks.targets import Verdict
from benchmarks.timing import slope

STEPS = (20, 80)
FLAT = ("gwn-sym", "gwn-fa-symmetric")
WIDTH = 32
"""Narrower than the other parts: memory against depth is a ratio, and eighty steps take their time."""


def measure_depth(settings: ScaleSettings) -> PartResult:
    """Fixed and reversible operators: flat. The paper's attention: like the square root, by checkpoints."""
    graph = settings.arxiv()
    rows = []
    for name in (*FLAT, "gwn-fa"):
        for steps in STEPS:
            settings.say(f"scale: {name}, {steps} steps")
            job = ScaleJob(
                folder=str(graph.path), case=name, width=WIDTH, steps=steps, tau=0.1, threads=settings.threads
            )
            rows.append({"model": name, "steps": steps, "peak_mib": peak_alone(job)})
    peaks = {(row["model"], row["steps"]): float(str(row["peak_mib"])) for row in rows}
    few, many = STEPS
    verdicts = [
        Verdict(
            subject=name,
            what=f"peak memory added from {few} to {many} steps, in %",
            value=100 * (peaks[name, many] / peaks[name, few] - 1),
            sign="<",
            bar=10,
        )
        for name in FLAT
    ]
    exponent = slope(STEPS, [peaks["gwn-fa", steps] for steps in STEPS])
    verdicts.append(
        Verdict(subject="gwn-fa", what="peak memory ~ steps^p (checkpoints)", value=exponent, sign="<=", bar=0.6)
    )
    return PartResult(facts={**sizes_of(graph), "width": WIDTH}, rows=tuple(rows), verdicts=tuple(verdicts))
