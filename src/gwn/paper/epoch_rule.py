"""Which epoch to keep, decided on validation alone: `python -m gwn.paper.epoch_rule --seconds 600` measures and writes.

Every measured cell of a small graph is trained once more with its settings, on splits of the play-off, for all epochs.
The epoch that one half of the validation nodes chooses, by the highest score or by the lowest loss, is scored on the
other half, and the other way round. No test label is read. What is measured is kept, and the same command goes on.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gwn.data import load_dataset, make_splits
from gwn.io import read_json, write_atomic, write_json
from gwn.models import model_spec
from gwn.pages.markdown import fill, markdown_table
from gwn.paper.budget import heading
from gwn.paper.cell import Cell
from gwn.paper.compare import outcome
from gwn.paper.exhibits.accuracy import WEBKB
from gwn.paper.records import RESULTS, read_cell, read_cells
from gwn.training import TrainConfig, build_network, fit, seed_everything
from gwn.training.metrics import cross_fitted
from gwn.training.result import summarise
from gwn.training.stopping import SELECT
from gwn.tuning.playoff import PLAYOFF_SEED

PAGE, COMMAND = Path("docs/protocol.md"), "python -m gwn.paper.epoch_rule"
SMALL = (*WEBKB, "cora", "citeseer", "actor")
SPLITS = 2

Measured = dict[str, dict[str, Any]]
"""Cell -> rule -> mean cross-fitted score, and "of" which record, by when that was created."""


def evidence_file(results: Path) -> Path:
    return results / "epoch-rule.json"


def read_evidence(results: Path) -> Measured:
    """What was measured; nothing where nothing was."""
    path = evidence_file(results)
    return dict(read_json(path)["cells"]) if path.exists() else {}


def small_cells(results: Path) -> list[tuple[Cell, dict[str, Any]]]:
    """The uncorrected cells of small graphs whose models learn in epochs: the quickest of every column, then the second
    of every column, and so on."""
    found = [
        (cell, record)
        for cell, record in read_cells(results)
        if cell.dataset in SMALL and cell.split != "uniform" and cell.tau is None and cell.prior == "none"
        if record["search"] is not None and model_spec(cell.row).gradients
    ]
    columns: dict[str, list[tuple[Cell, dict[str, Any]]]] = {}
    for one in sorted(found, key=lambda one: sum(run["seconds"] or 0.0 for run in one[1]["runs"])):
        columns.setdefault(one[0].column, []).append(one)
    return [one for places in zip_longest(*columns.values()) for one in places if one is not None]


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
        of = record.get("created")
        if (cell.name in found and found[cell.name].get("of") == of) or time.monotonic() > until:
            continue
        scores = measure(cell, record)
        found[cell.name] = {**scores, "of": of}
        write_json(evidence_file(results), {"splits": SPLITS, "first_seed": PLAYOFF_SEED, "cells": found})
        yield f"{cell.name}: " + ", ".join(f"{rule} {100 * score:.2f}" for rule, score in scores.items())


def block(results: Path) -> str:
    """By column, the paired difference of the two rules over its cells; and what the columns decide. Cells of a column
    share their splits, so it is the columns that are counted."""
    columns: dict[str, list[float]] = {}
    for name, scores in read_evidence(results).items():
        columns.setdefault(heading(Cell.parse(name).column), []).append(100 * (scores["loss"] - scores["score"]))
    if not columns:
        return "Not measured yet."
    means = [sum(gains) / len(gains) for gains in columns.values()]
    rows = [["column", "models", "lowest loss minus highest score, points", "95 % interval", "better"]]
    for key, gains in {**columns, f"{len(columns)} columns": means}.items():
        found = summarise(gains)
        assert found is not None
        interval = "" if found.low is None else f"{found.low:+.2f} to {found.high:+.2f}"
        better = {"win": "loss", "loss": "score"}.get(outcome(found), "")
        rows.append([key, str(len(gains)) if gains is not means else "", f"{found.mean:+.2f}", interval, better])
    chosen = rows[-1][-1]
    said = (
        f"the rule of new searches should be `{chosen}`" if chosen else "the two are not told apart, so `score` stays"
    )
    return (
        f"{markdown_table(rows)}\n\nOver the columns {said}. The settings are those of searches under `score`"
        f"{_of_former_settings(results)}."
    )


def _of_former_settings(results: Path) -> str:
    """How many cells were measured anew since they were tried here; nothing where none was."""
    tried = read_evidence(results)
    records = {name: read_cell(results, Cell.parse(name)) for name in tried}
    former = sum(record is not None and record["created"] != tried[name].get("of") for name, record in records.items())
    return f"; {former} of {len(tried)} cells were searched anew since" if former else ""


def rewritten(text: str, results: Path = RESULTS) -> str:
    """The page with its generated part made anew."""
    return fill(text, COMMAND, "epoch rule", block(results))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure which epoch rule validation likes better.")
    parser.add_argument("--seconds", type=float, default=0.0, help="Begin no cell after so long.")
    for line in gather(RESULTS, parser.parse_args().seconds):
        print(line, flush=True)
    write_atomic(PAGE, rewritten(PAGE.read_text(encoding="utf-8")).encode())
