"""One training step of every competitor on every dataset, and the ratios that were promised."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from benchmarks.cases import CASES
from benchmarks.floor import breakdown, floor_kernels
from benchmarks.problem import Problem, problem_of
from benchmarks.targets import Verdict, speed_verdicts
from benchmarks.timing import Timing, measure
from gwn.data import load_dataset

DATASETS = (
    *("cora", "citeseer", "pubmed", "photo", "computers", "cs"),
    *("actor", "deezer-europe", "texas", "wisconsin"),
)
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class SpeedRow:
    """One dataset: what it is, each case's timing, the floor by kernel, and each target's verdict."""

    dataset: str
    facts: Mapping[str, Any]
    timings: Mapping[str, Timing]
    floors: Mapping[str, Mapping[str, float]]
    verdicts: tuple[Verdict, ...]

    def to_json(self) -> dict[str, Any]:
        medians = {name: timing.median for name, timing in self.timings.items()}
        return {
            "dataset": self.dataset,
            **self.facts,
            "timings": {name: timing.to_json() for name, timing in self.timings.items()},
            "floor_ms_by_kernel": {name: dict(parts) for name, parts in self.floors.items()},
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "verdicts_by_median": [verdict.to_json() for verdict in speed_verdicts(self.dataset, medians)],
        }


def speed(names: Iterable[str], *, seconds: float = 5.0, say: Say = lambda line: None) -> list[SpeedRow]:
    """Measure each dataset; PyTorch's number of threads is the caller's to fix."""
    rows = []
    for name in names:
        say(f"speed: {name}")
        torch.manual_seed(0)
        rows.append(speed_row(name, problem_of(load_dataset(name)), seconds=seconds))
    return rows


def speed_row(name: str, problem: Problem, *, seconds: float = 5.0) -> SpeedRow:
    """All competitors on one graph."""
    timings = measure({case: make(problem) for case, make in CASES.items()}, seconds=seconds)
    floors = {kind: breakdown(floor_kernels(problem, kind), min(0.2, seconds)) for kind in ("sym", "fa")}
    best = {case: timing.best for case, timing in timings.items()}
    return SpeedRow(
        dataset=name,
        facts=_facts(problem),
        timings=timings,
        floors=floors,
        verdicts=tuple(speed_verdicts(name, best)),
    )


def _facts(problem: Problem) -> dict[str, Any]:
    graph = problem.graph
    stored = graph.x.values().numel() if graph.is_sparse else int(torch.count_nonzero(graph.x))
    return {
        "nodes": graph.num_nodes,
        "arcs": graph.num_edges,
        "features": graph.num_features,
        "classes": graph.num_classes,
        "density": stored / graph.x.numel(),
        "sparse_features": graph.is_sparse,
        "training_nodes": problem.rows.numel(),
        "width": problem.width,
        "steps": problem.steps,
    }
