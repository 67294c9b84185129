"""Would many runs on a small graph pay as one network? Ten copies of the graph side by side, trained at once.

Copy r has features of its own, so each has weights of its own in the encoders, where nearly all the arithmetic is; the
head is shared, which is less work than ten of them. So this is the least that a batch of ten runs can cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.competitors import gwn_model
from benchmarks.epochs import EPOCHS, MODELS, WatchedTask
from benchmarks.harness import Result, Row, Settings, Verdict
from benchmarks.problem import Problem, problem_of
from gwn.data import Split, load_dataset, make_splits
from gwn.graph import Graph
from gwn.io import read_json
from gwn.training import TrainConfig
from gwn.training.loop import train_task

DATASETS = ("texas", "cornell", "wisconsin")
RUNS = 10
BAR = 5.0
"""Single runs that ten may cost for a second way through the training to be worth its code."""
STOPPING = "ten runs that stop, in single ones"
CELLS = Path("results/cells")


def together(settings: Settings) -> Result:
    """Milliseconds of an epoch alone and of ten at once; then with the epochs that the runs of the tables had.

    A run that has stopped leaves the batch: an epoch with k runs is taken to cost `a + b k`, where one and ten are
    measured.
    """
    names, notes = settings.at_hand(DATASETS)
    rows = []
    for name in names:
        data = load_dataset(name)
        splits = make_splits(data, "per-class", RUNS)
        alone, many = problem_of(data), replace(problem_of(data), graph=side_by_side(data.graph, RUNS))
        for called, laplacian in MODELS.items():
            settings.say(f"together: {called} on {name}")
            one = epoch_of(alone, laplacian, splits[0])
            ten = epoch_of(many, laplacian, joined(splits, data.graph.num_nodes))
            epochs = [run["epochs"] for run in read_json(CELLS / name / "per-class" / f"{called}.json")["runs"]]
            each = (ten - one) / (RUNS - 1)
            taken = (one - each) * max(epochs) + each * sum(epochs)
            rows.append(
                {
                    "dataset": name,
                    "model": called,
                    "one": one,
                    "ten": ten,
                    "an epoch of ten, in single ones": ten / one,
                    STOPPING: RUNS * taken / (one * sum(epochs)),
                }
            )
    facts = {"unit": "ms of processor time", "width": alone.width, "steps": alone.steps} if names else {}
    return Result(facts=facts, rows=rows, verdicts=together_verdicts(rows), notes=notes)


def together_verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """Ten runs for at most five."""
    return [
        Verdict(subject=f"{row['model']} on {row['dataset']}", what=STOPPING, value=row[STOPPING], sign="<=", bar=BAR)
        for row in rows
    ]


def epoch_of(problem: Problem, laplacian: str, split: Split) -> float:
    """Milliseconds of the fastest epoch of a training."""
    torch.manual_seed(0)
    model = gwn_model(problem, laplacian)
    config = TrainConfig(device="cpu", epochs=EPOCHS, stopping="none", threads=1)
    watched = WatchedTask(model, problem.graph, split, config)
    train_task(model, watched, config)
    return sum(watched.fastest().values())


def side_by_side(graph: Graph, count: int) -> Graph:
    """`count` copies of a graph as one, without an edge or a feature in common."""
    nodes, features = graph.num_nodes, graph.num_features
    x = graph.x if graph.x.layout == torch.sparse_csr else graph.x.to_sparse_csr()
    crow, col, values = x.crow_indices(), x.col_indices(), x.values()
    copies = torch.arange(count)
    wide = torch.sparse_csr_tensor(
        torch.cat([_shifted(crow[:-1], copies * values.numel()), torch.tensor([count * values.numel()])]),
        _shifted(col, copies * features),
        values.repeat(count),
        (count * nodes, count * features),
        check_invariants=True,
    )
    edges = torch.stack([_shifted(ends, copies * nodes) for ends in graph.edge_index])
    return Graph(x=wide, edge_index=edges, y=graph.labels.repeat(count))


def joined(splits: list[Split], nodes: int) -> Split:
    """Split r on copy r."""

    def of_all(parts: list[Tensor]) -> Tensor:
        return torch.cat([part + copy * nodes for copy, part in enumerate(parts)])

    return replace(
        splits[0],
        train=of_all([split.train for split in splits]),
        val=of_all([split.val for split in splits]),
        test=of_all([split.test for split in splits]),
    )


def _shifted(numbers: Tensor, by: Tensor) -> Tensor:
    """One copy of the numbers for each shift."""
    return (numbers + by[:, None]).flatten()
