"""One training step against its competitors: on the paper's datasets, and on a graph of the shape of ogbn-arxiv."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from benchmarks.competitors import COMPETITORS
from benchmarks.floor import breakdown, floor_kernels, run
from benchmarks.harness import Result, Row, Settings, Verdict
from benchmarks.problem import Problem, arxiv_folder, problem_in, problem_of, sizes_of
from benchmarks.timing import Step, Timing, measure
from benchmarks.worker import Job, measure_alone
from gwn.data import load_dataset

DATASETS = (
    *("cora", "citeseer", "pubmed", "photo", "computers", "cs"),
    *("actor", "deezer-europe", "texas", "wisconsin"),
)
MODELS = ("gwn-sym", "gwn-fa", "mp-sym", "mp-fa", "gcn", "gat", "gwn-sym-precomputed")
FLOORS = ("sym", "fa")
WIDTH, STEPS = 64, 5


@dataclass(frozen=True, kw_only=True)
class RatioTarget:
    """`milliseconds of a model / milliseconds of another`, with one bar for all datasets or one for each named one."""

    what: str
    of: str
    to: str
    sign: str
    bar: float | Mapping[str, float]

    def judge(self, dataset: str, milliseconds: Mapping[str, Any]) -> Verdict | None:
        """None where one of the two was not measured, or this dataset has no bar."""
        bar = self.bar if isinstance(self.bar, (int, float)) else self.bar.get(dataset)
        if bar is None or self.of not in milliseconds or self.to not in milliseconds:
            return None
        value = milliseconds[self.of] / milliseconds[self.to]
        return Verdict(subject=dataset, what=self.what, value=value, sign=self.sign, bar=bar)


TARGETS = (
    RatioTarget(
        what="GWN-sym, times faster than message passing",
        of="mp-sym",
        to="gwn-sym",
        sign=">=",
        bar={"cora": 10, "photo": 10, "computers": 10, "pubmed": 5, "cs": 25},
    ),
    RatioTarget(
        what="GWN-fa, times faster than message passing",
        of="mp-fa",
        to="gwn-fa",
        sign=">=",
        bar={"cora": 6, "photo": 6, "computers": 6, "pubmed": 4, "cs": 25},
    ),
    RatioTarget(what="GWN-sym, times faster than GCN", of="gcn", to="gwn-sym", sign=">", bar=1),
    RatioTarget(what="GWN-sym, times faster than GAT", of="gat", to="gwn-sym", sign=">", bar=1),
    RatioTarget(what="GWN-fa, times faster than GAT", of="gat", to="gwn-fa", sign=">", bar=1),
    RatioTarget(what="GWN-sym, times its raw products", of="gwn-sym", to="floor-sym", sign="<=", bar=1.5),
    RatioTarget(what="GWN-fa, times its raw products", of="gwn-fa", to="floor-fa", sign="<=", bar=1.5),
    RatioTarget(
        what="precomputed GWN-sym, times faster than message passing",
        of="mp-sym",
        to="gwn-sym-precomputed",
        sign=">=",
        bar={"cora": 30, "cs": 30},
    ),
)


def speed_verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """Every target that says something about a dataset of these rows."""
    judged = (target.judge(row["dataset"], row) for row in rows for target in TARGETS)
    return [verdict for verdict in judged if verdict is not None]


def datasets(settings: Settings) -> Result:
    """A row a dataset: milliseconds of the fastest step of every competitor."""
    names, notes = settings.at_hand(DATASETS)
    rows, details = [], {}
    for name in names:
        settings.say(f"speed: {name}")
        torch.manual_seed(0)
        problem = problem_of(load_dataset(name), width=WIDTH, steps=STEPS)
        timings = time_all(problem, settings.seconds)
        medians = {"dataset": name, **{model: timing.median for model, timing in timings.items()}}
        rows.append({"dataset": name, **{model: timing.best for model, timing in timings.items()}})
        details[name] = {
            **graph_facts(problem),
            "repeats": {model: timing.repeats for model, timing in timings.items()},
            "median_ms": {model: timing.median for model, timing in timings.items()},
            "verdicts_by_median": [verdict.to_json() for verdict in speed_verdicts([medians])],
            "floor_ms_by_kernel": {
                kind: breakdown(floor_kernels(problem, kind), min(0.2, settings.seconds)) for kind in FLOORS
            },
        }
    facts = {"width": WIDTH, "steps": STEPS, "unit": "ms of the fastest step"}
    return Result(facts=facts, rows=rows, verdicts=speed_verdicts(rows), notes=notes, details=details)


def time_all(problem: Problem, seconds: float) -> dict[str, Timing]:
    """All competitors and the raw products on one graph, in turns."""
    steps: dict[str, Step] = {name: COMPETITORS[name](problem) for name in MODELS}
    steps |= {f"floor-{kind}": partial(run, floor_kernels(problem, kind)) for kind in FLOORS}
    return measure(steps, seconds=seconds)


def graph_facts(problem: Problem) -> dict[str, Any]:
    """What the report says about a dataset."""
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
    }


ARXIV_PAIRS = (("gwn-sym", "gcn", "PyG's GCN"), ("gwn-fa", "gat-one-head", "PyG's GAT, one head"))
ARXIV_WIDTH = 128


def arxiv(settings: Settings) -> Result:
    """Time and peak memory: all four take turns in this process; each peak comes from a process of its own."""
    graph = arxiv_folder(settings)
    names = [pair[place] for place in (0, 1) for pair in ARXIV_PAIRS]
    problem = problem_in(graph.path, width=ARXIV_WIDTH, steps=STEPS)
    timings = measure({name: COMPETITORS[name](problem) for name in names}, seconds=settings.seconds, least=3, warmup=1)
    del problem
    rows = []
    for name in names:
        settings.say(f"arxiv: peak memory of {name}")
        job = Job(model=name, folder=str(graph.path), width=ARXIV_WIDTH, threads=settings.threads, warm=False)
        rows.append({"model": name, **timings[name].to_json(), "peak_mib": measure_alone(job).step_mib})
    entries = graph.num_arcs + graph.num_nodes
    facts = {**sizes_of(graph), "width": ARXIV_WIDTH, "steps": STEPS, "entries_of_s": entries}
    return Result(facts=facts, rows=rows, verdicts=arxiv_verdicts(rows))


def arxiv_verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """Ours against theirs, in time and in memory."""
    by_model = {row["model"]: row for row in rows}
    found = []
    for ours, theirs, called in ARXIV_PAIRS:
        time, peak = (by_model[ours][what] / by_model[theirs][what] for what in ("best_ms", "peak_mib"))
        found += [
            Verdict(subject=ours, what=f"time of a training step / {called}", value=time, sign="<=", bar=1.0),
            Verdict(subject=ours, what=f"peak memory / {called}", value=peak, sign="<", bar=1.0),
        ]
    return found
