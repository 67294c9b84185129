"""Which epoch to keep, decided on validation alone: `python -m gwn.paper.epoch_rule --seconds 600` measures and writes.

Every measured cell of a small graph is trained once more with its settings, on splits of the play-off, for all epochs.
The epoch that one half of the validation nodes chooses, by the highest score or by the lowest loss, is scored on the
other half, and the other way round. No test label is read. What is measured is kept, and the same command goes on.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gwn.data import load_dataset, make_splits
from gwn.io import read_json, write_atomic, write_json
from gwn.models import model_spec
from gwn.paper.budget import heading
from gwn.paper.cell import Cell
from gwn.paper.compare import outcome
from gwn.paper.documents import fill, markdown_table
from gwn.paper.exhibits.accuracy import WEBKB
from gwn.paper.records import RESULTS, read_cells
from gwn.training import TrainConfig, build_network, fit, seed_everything
from gwn.training.metrics import cross_fitted
from gwn.training.result import summarise
from gwn.training.stopping import SELECT
from gwn.tuning.playoff import PLAYOFF_SEED

PAGE, COMMAND = Path("docs/protocol.md"), "python -m gwn.paper.epoch_rule"
SMALL = (*WEBKB, "cora", "citeseer", "actor")
SPLITS = 2

Measured = dict[str, dict[str, float]]
"""Cell -> rule -> mean cross-fitted score."""


def evidence_file(results: Path) -> Path:
    return results / "epoch-rule.json"


def read_evidence(results: Path) -> Measured:
    """What was measured; nothing where nothing was."""
    path = evidence_file(results)
    return dict(read_json(path)["cells"]) if path.exists() else {}


def small_cells(results: Path) -> list[tuple[Cell, dict[str, Any]]]:
    """The uncorrected cells of small graphs whose models learn in epochs, the quickest first."""
    found = [
        (cell, record)
        for cell, record in read_cells(results)
        if cell.dataset in SMALL and cell.split != "uniform" and cell.tau is None and cell.prior == "none"
        if record["search"] is not None and model_spec(cell.row).gradients
    ]
    return sorted(found, key=lambda one: sum(run["seconds"] or 0.0 for run in one[1]["runs"]))


def measure(cell: Cell, record: dict[str, Any], splits: int = SPLITS) -> dict[str, float]:
    """The mean cross-fitted validation score of a cell's settings under each rule, from the same trainings."""
    dataset, model = load_dataset(cell.dataset), model_spec(cell.row)
    given = {name: value for name, value in record["training"].items() if value is not None}
    config = TrainConfig(**{**given, "stopping": "none"})
    earned: dict[str, list[float]] = {rule: [] for rule in SELECT}
    for number, split in enumerate(make_splits(dataset, cell.split, splits, PLAYOFF_SEED)):
        seed_everything(PLAYOFF_SEED + number)
        graph = dataset.on(split).to(config.torch_device, config.torch_dtype)
        epochs: list[Tensor] = []
        network = build_network(model, record["settings"], config, graph, split).to(graph.x.device, config.torch_dtype)
        fit(network, graph, split, config, dataset.metric, on_validation=epochs.append)
        y = graph.labels[split.val.to(graph.labels.device)]
        for rule in SELECT:
            earned[rule].append(cross_fitted(torch.stack(epochs), y, dataset.metric, rule))
    return {rule: sum(scores) / len(scores) for rule, scores in earned.items()}


def gather(results: Path, seconds: float) -> Iterator[str]:
    """Measure what is missing until the time is over; a line for each cell."""
    until, found = time.monotonic() + seconds, read_evidence(results)
    for cell, record in small_cells(results):
        if cell.name in found or time.monotonic() > until:
            continue
        found[cell.name] = measure(cell, record)
        write_json(evidence_file(results), {"splits": SPLITS, "first_seed": PLAYOFF_SEED, "cells": found})
        yield f"{cell.name}: " + ", ".join(f"{rule} {100 * score:.2f}" for rule, score in found[cell.name].items())


def block(results: Path) -> str:
    """By column and in all: the paired difference of the two rules over the cells, and what it decides."""
    columns: dict[str, list[float]] = {}
    for name, scores in read_evidence(results).items():
        gain = 100 * (scores["loss"] - scores["score"])
        for key in (heading(Cell.parse(name).column), "all"):
            columns.setdefault(key, []).append(gain)
    if "all" not in columns:
        return "Not measured yet."
    rows = [["column", "models", "lowest loss minus highest score, points", "95 % interval", "better"]]
    for key, gains in sorted(columns.items(), key=lambda item: item[0] == "all"):
        found = summarise(gains)
        assert found is not None
        interval = "" if found.low is None else f"{found.low:+.2f} to {found.high:+.2f}"
        rows.append(
            [
                key,
                str(len(gains)),
                f"{found.mean:+.2f}",
                interval,
                {"win": "loss", "loss": "score"}.get(outcome(found), ""),
            ]
        )
    chosen = rows[-1][-1]
    said = (
        f"the rule of new searches should be `{chosen}`" if chosen else "the two are not told apart, so `score` stays"
    )
    return f"{markdown_table(rows)}\n\nOver all cells {said}."


def rewritten(text: str, results: Path = RESULTS) -> str:
    """The page with its generated part made anew."""
    return fill(text, COMMAND, "epoch rule", block(results))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure which epoch rule validation likes better.")
    parser.add_argument("--seconds", type=float, default=0.0, help="Begin no cell after so long.")
    for line in gather(RESULTS, parser.parse_args().seconds):
        print(line, flush=True)
    write_atomic(PAGE, rewritten(PAGE.read_text(encoding="utf-8")).encode())
