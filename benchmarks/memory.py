"""Peak memory of a training step against the number of steps, and the cells in which the paper ran out of memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from benchmarks.targets import Verdict
from benchmarks.timing import slope
from benchmarks.worker import Answer, Job, measure_alone
from gwn.laplacians import LAPLACIANS
from gwn.schemes import SCHEMES

GRAPH = Job(nodes=20_000, edges=100_000, tau=0.2)
"""Large enough for a state (5 MiB) to stand out, and tau small enough for a hundred steps of the paper's sign."""

FLAT = ("sym", "physical", "fa-symmetric")
"""Laplacians whose training step takes the same memory for any number of steps."""

ATTENTION_STEPS = (25, 50, 100, 200)
OUT_OF_MEMORY = ("photo", "computers", "cs")
DEEP = (("leapfrog-rescaled", "sym"), ("leapfrog", "physical"))
"""Schemes and Laplacians that stay finite for a thousand steps, the preferred first."""

Say = Callable[[str], None]


class Measure(Protocol):
    """`measure_alone`, or something quicker in a test."""

    def __call__(self, job: Job, *, live: bool = ...) -> Answer: ...


@dataclass(frozen=True, kw_only=True)
class MemoryRow:
    """A job and its answer."""

    job: Job
    answer: Answer

    def to_json(self) -> dict[str, Any]:
        return {"graph": self.job.graph_name, **asdict(self.job), **asdict(self.answer)}


@dataclass(frozen=True, kw_only=True)
class MemoryReport:
    """What was measured, what that says, and what could not be measured yet."""

    rows: tuple[MemoryRow, ...]
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": [row.to_json() for row in self.rows],
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "notes": list(self.notes),
        }


class _Bench:
    """Collects rows, verdicts and notes while it measures."""

    def __init__(self, threads: int, say: Say, measure: Measure) -> None:
        self.threads, self.say, self.measure = threads, say, measure
        self.rows: list[MemoryRow] = []
        self.verdicts: list[Verdict] = []
        self.notes: list[str] = []

    def run(self, base: Job = GRAPH, *, live: bool = True, **changes: Any) -> Answer:
        job = Job(**{**asdict(base), "threads": self.threads, **changes})
        self.say(f"memory: {job.laplacian}, {job.steps} steps, width {job.width}, {job.graph_name}")
        answer = self.measure(job, live=live)
        self.rows.append(MemoryRow(job=job, answer=answer))
        return answer

    def judge(self, subject: str, what: str, value: float, sign: str, bar: float) -> None:
        self.verdicts.append(Verdict(subject=subject, what=what, value=value, sign=sign, bar=bar))


def memory(
    datasets: Collection[str], *, threads: int = 1, say: Say = lambda line: None, measure: Measure = measure_alone
) -> MemoryReport:
    """The bars on a generated graph, and those on real graphs for the datasets asked for."""
    bench = _Bench(threads, say, measure)
    for laplacian in FLAT:
        _flat(bench, laplacian)
    _attention(bench)
    _out_of_memory(bench, [name for name in OUT_OF_MEMORY if name in datasets])
    if "cora" in datasets:
        _deep(bench)
    return MemoryReport(rows=tuple(bench.rows), verdicts=tuple(bench.verdicts), notes=tuple(bench.notes))


def _flat(bench: _Bench, laplacian: str) -> None:
    if laplacian not in LAPLACIANS:
        bench.notes.append(f"not measured: there is no laplacian {laplacian!r} yet")
        return
    few, many = (bench.run(laplacian=laplacian, steps=steps).step_mib for steps in (5, 100))
    bench.judge(laplacian, "memory added from 5 to 100 steps, in %", 100 * (many / few - 1), "<", 10)


def _attention(bench: _Bench) -> None:
    """The exponent of what the steps add: one step's memory is taken off, as it would flatten the curve."""
    one = bench.run(laplacian="fa", steps=1).step_mib
    added = [bench.run(laplacian="fa", steps=steps).step_mib - one for steps in ATTENTION_STEPS]
    bench.judge("fa", "memory ~ steps^p, p from 25 to 200 steps", slope(ATTENTION_STEPS, added), "<=", 0.6)


def _out_of_memory(bench: _Bench, datasets: Iterable[str]) -> None:
    for name in datasets:
        cell = Job(dataset=name, laplacian="fa", steps=100, tau=0.2, width=256)
        answer = bench.run(cell, live=False)
        what = "GWN-fa, tau 0.2, T 20, width 256: whole process in GB"
        bench.judge(name, what, answer.process_mib * 2**20 / 1e9, "<", 4)
        bench.judge(name, "the same: loss and gradient finite (1: yes)", float(answer.trained), ">=", 1)


def _deep(bench: _Bench) -> None:
    for scheme, laplacian in DEEP:
        if scheme in SCHEMES and laplacian in LAPLACIANS:
            deep = Job(dataset="cora", laplacian=laplacian, scheme=scheme, steps=1000)
            answer = bench.run(deep, live=False)
            what = f"1,000 steps of {laplacian} by {scheme}: loss and gradient finite (1: yes)"
            bench.judge("cora", what, float(answer.trained), ">=", 1)
            return
    bench.notes.append(
        "not measured: 1,000 steps on cora need the scheme 'leapfrog-rescaled' or the laplacian 'physical'"
    )
