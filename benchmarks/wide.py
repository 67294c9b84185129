"""What wide networks gain from oneDNN: a training step with its dense products, and with those of PyTorch's choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from unittest import mock

import torch
import torch.nn.functional as F

import gwn.dense
from benchmarks.harness import Result, Row, Settings, Verdict
from benchmarks.timing import measure
from gwn.data import Dataset, load_dataset
from gwn.models import model_spec
from gwn.training import fixed_threads, seed_everything
from gwn.tuning.spaces import SPACES

DATASETS = ("computers", "cs")
MODELS = ("gcn-tuned", "sage-tuned", "gwn-bank-plus")
WIDE = 256
"""Channels from which most of a step is dense products."""
BAR = 1.2
"""A gain below it would not be worth a second library."""


def wide(settings: Settings) -> Result:
    """A row a dataset and model, with the settings that the search begins with there: those of the tuned classics."""
    names, notes = settings.at_hand(DATASETS)
    rows: list[Row] = []
    with fixed_threads(settings.threads):
        for name in names:
            dataset = load_dataset(name)
            for model in MODELS:
                settings.say(f"wide: {model} on {name}")
                step, width = _step(dataset, model, settings.shrink)
                times = measure({"PyTorch's": partial(_without_onednn, step), "ours": step}, seconds=settings.seconds)
                usual, ours = times["PyTorch's"].best, times["ours"].best
                row = {"dataset": name, "model": model, "width": width, "oneDNN": gwn.dense.onednn_is_faster()}
                rows.append({**row, "PyTorch's ms": usual, "ours ms": ours, "ratio": usual / ours})
    return Result(rows=rows, facts={}, verdicts=wide_verdicts(rows), notes=notes)


def wide_verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """Where oneDNN is asked, it must pay."""
    what = "a step with PyTorch's own dense products, over ours"
    return [
        Verdict(subject=f"{row['dataset']} {row['model']}", what=what, value=row["ratio"], sign=">=", bar=BAR)
        for row in rows
        if row["oneDNN"] and row["width"] >= WIDE
    ]


def _without_onednn(step: Callable[[], object]) -> None:
    with mock.patch.object(gwn.dense, "LARGE", math.inf):
        step()


def _step(dataset: Dataset, name: str, shrink: int) -> tuple[Callable[[], object], int]:
    """A training step on the whole graph, and the network's width."""
    spec, graph = model_spec(name), dataset.graph
    start = SPACES["peers"].on(dataset).starts_of(spec)[0]
    known = {key: value for key, value in start.items() if key in spec.settings()}
    width = max(8, start.get("hidden_channels", 64) // shrink)
    seed_everything(0)
    network = spec.build(graph.num_features, graph.num_classes, **{**known, "hidden_channels": width})
    network.train()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, fused=True)

    def step() -> None:
        optimizer.zero_grad()
        loss = F.cross_entropy(network(graph.x, graph.edge_index), graph.labels)
        torch.autograd.backward(loss)
        optimizer.step()

    return step, width
