"""One training step against its competitors: on the paper's datasets, and on a graph of the shape of ogbn-arxiv."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from benchmarks.competitors import COMPETITORS
from benchmarks.floor import bandwidth, breakdown, floor_kernels, run
from benchmarks.harness import Result, Row, Settings, Verdict
from benchmarks.problem import Problem, arxiv_folder, problem_in, problem_of, sizes_of
from benchmarks.timing import Clock, Step, Timing, measure
from benchmarks.worker import Job, measure_alone
from gwn.data import load_dataset
from gwn.training import fixed_threads

DATASETS = (
    *("cora", "citeseer", "pubmed", "photo", "computers", "cs"),
    *("actor", "deezer-europe", "texas", "wisconsin"),
)
MODELS = {
    "gwn-sym": "ours, five steps of width 64 as every gwn here",
    "gwn-fa": "ours, with attention",
    "gcn": "PyG's GCN of two layers, its default way: edge list, dense features, cached normalisation",
    "gcn-fastest": "the same, PyG's fastest way: CSR adjacency, cached, sparse features where they are sparse",
    "gcn-own": "the GCN of `gwn train`, on our own sparse products",
    "gat": "PyG's GAT of two layers, its default way",
    "gat-fastest": "the same with sparse features where they are sparse",
    "gat-own": "the GAT of `gwn train`, on our own sparse products",
    "mp-sym": "GWN-sym as plain message passing",
    "mp-fa": "GWN-fa as plain message passing",
    "gwn-sym-precomputed": "ours without propagating, where a fixed operator allows it",
}
"""The anchors, and what each of them is; all have the same fused optimiser."""

READING = {
    "floor": "the products that a step cannot avoid, as bare PyTorch calls",
    "wave GB/s": "what the sparse product of a step asks for, beside a copy of the state and one of 64 MiB",
}

FLOORS = ("sym", "fa")
WIDTH, STEPS = 64, 5
FIVE = ("cora", "pubmed", "photo", "computers", "cs")
FOUR = ("pubmed", "photo", "computers", "cs")


@dataclass(frozen=True, kw_only=True)
class RatioTarget:
    """`milliseconds of a model / milliseconds of another`, with one bar for all of some datasets."""

    what: str
    of: str
    to: str
    sign: str
    bar: float
    datasets: Sequence[str]

    def judge(self, dataset: str, milliseconds: Mapping[str, Any]) -> Verdict | None:
        """None where one of the two was not measured, or this dataset has no bar."""
        if dataset not in self.datasets or self.of not in milliseconds or self.to not in milliseconds:
            return None
        value = milliseconds[self.of] / milliseconds[self.to]
        return Verdict(subject=dataset, what=self.what, value=value, sign=self.sign, bar=self.bar)


TARGETS = (
    RatioTarget(
        what="GWN-sym, times faster than PyG's fastest GCN",
        of="gcn-fastest",
        to="gwn-sym",
        sign=">=",
        bar=2.0,
        datasets=FIVE,
    ),
    RatioTarget(
        what="GWN-fa, times faster than PyG's GAT",
        of="gat",
        to="gwn-fa",
        sign=">=",
        bar=4.0,
        datasets=FIVE,
    ),
    RatioTarget(
        what="GWN-fa, times faster than PyG's fastest GAT",
        of="gat-fastest",
        to="gwn-fa",
        sign=">=",
        bar=4.0,
        datasets=FIVE,
    ),
    RatioTarget(
        what="GWN-fa, times faster than PyG's fastest GCN",
        of="gcn-fastest",
        to="gwn-fa",
        sign=">=",
        bar=1.0,
        datasets=FIVE,
    ),
    RatioTarget(
        what="GWN-sym, times its raw products",
        of="gwn-sym",
        to="floor-sym",
        sign="<=",
        bar=1.6,
        datasets=FOUR,
    ),
    RatioTarget(
        what="GWN-fa, times its raw products",
        of="gwn-fa",
        to="floor-fa",
        sign="<=",
        bar=1.6,
        datasets=FOUR,
    ),
)


def speed_verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """Every target that says something about a dataset of these rows."""
    judged = (target.judge(row["dataset"], row) for row in rows for target in TARGETS)
    return [verdict for verdict in judged if verdict is not None]


def datasets(settings: Settings) -> Result:
    """A row a dataset: milliseconds of the fastest step of every competitor."""
    names, notes = settings.at_hand(DATASETS)
    # One thread computes for as long as it takes, whoever else wants the core; of two, only the clock knows.
    clock = time.process_time if settings.threads == 1 else time.perf_counter
    rows, details = [], {}
    for name in names:
        settings.say(f"speed: {name}")
        torch.manual_seed(0)
        problem = problem_of(load_dataset(name), width=WIDTH, steps=STEPS)
        timings = time_all(problem, settings.seconds, clock)
        medians = {"dataset": name, **{model: timing.median for model, timing in timings.items()}}
        moved = bandwidth(problem, min(0.2, settings.seconds), clock)
        rows.append({"dataset": name, **{model: timing.best for model, timing in timings.items()}, **moved})
        details[name] = {
            **graph_facts(problem),
            "repeats": {model: timing.repeats for model, timing in timings.items()},
            "median_ms": {model: timing.median for model, timing in timings.items()},
            "verdicts_by_median": [verdict.to_json() for verdict in speed_verdicts([medians])],
            "floor_ms_by_kernel": {
                kind: breakdown(floor_kernels(problem, kind), min(0.2, settings.seconds)) for kind in FLOORS
            },
        }
    unit = f"ms of {'processor time of ' if settings.threads == 1 else ''}the fastest step"
    facts = {"width": WIDTH, "steps": STEPS, "unit": unit}
    notes += [f"{name}: {what}" for name, what in {**MODELS, **READING}.items()]
    return Result(facts=facts, rows=rows, verdicts=speed_verdicts(rows), notes=notes, details=details)


def time_all(problem: Problem, seconds: float, clock: Clock = time.perf_counter) -> dict[str, Timing]:
    """All competitors and the raw products on one graph, in turns."""
    steps: dict[str, Step] = {name: COMPETITORS[name](problem) for name in MODELS}
    steps |= {f"floor-{kind}": partial(run, floor_kernels(problem, kind)) for kind in FLOORS}
    return measure(steps, seconds=seconds, clock=clock)


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
    shared = thread_times(problem, settings.seconds)
    del problem
    rows = []
    for name in names:
        settings.say(f"arxiv: peak memory of {name}")
        job = Job(model=name, folder=str(graph.path), width=ARXIV_WIDTH, threads=settings.threads, warm=False)
        peak = measure_alone(job).step_mib
        rows.append({"model": name, **timings[name].to_json(), "peak_mib": peak, "two_threads": shared.get(name)})
    entries = graph.num_arcs + graph.num_nodes
    facts = {**sizes_of(graph), "width": ARXIV_WIDTH, "steps": STEPS, "entries_of_s": entries}
    return Result(facts=facts, rows=rows, verdicts=arxiv_verdicts(rows))


def thread_times(problem: Problem, seconds: float) -> dict[str, float]:
    """How many times faster a step of ours is on two threads than on one, both in turns."""
    found = {}
    for name, _, _ in ARXIV_PAIRS:
        step = COMPETITORS[name](problem)

        def on(threads: int, step: Step = step) -> None:
            with fixed_threads(threads):
                step()

        timed = measure({str(threads): partial(on, threads) for threads in (1, 2)}, seconds=seconds, least=7, warmup=1)
        found[name] = timed["1"].best / timed["2"].best
    return found


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
        if "two_threads" in by_model[ours]:  # older results do not have it
            shared = by_model[ours]["two_threads"]
            found.append(
                Verdict(subject=ours, what="two threads, times as fast as one", value=shared, sign=">=", bar=1.6)
            )
    return found
