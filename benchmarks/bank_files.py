"""GWN+ from files beside GWN+ on the whole graph: the same bank, splits and seeds."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.harness import Result, Settings
from benchmarks.problem import arxiv_folder
from benchmarks.training_runs import Kept
from gwn.data import Dataset, load_dataset, make_splits
from gwn.data.folders.folder import GraphFolder, new_folder
from gwn.errors import GWNError
from gwn.models import model_spec
from gwn.networks.bank import BankGWN
from gwn.outofcore.fit import fit_files
from gwn.outofcore.states import propagate_states
from gwn.training import TrainConfig, fit
from gwn.training.loop import seed_everything

DATASETS = ("pubmed", "computers", "cs")
ARXIV = "arxiv shape"
RUNS, EPOCHS, WIDTH, BATCH = 3, 60, 64, 1024
LARGE = {"runs": 1, "epochs": 15}
"""Of the arxiv shape, where an epoch of the whole graph takes seconds."""
ONE_BANK = {"num_layers": 1, "encoder": False, "ego": False, "precompute": True}
MEMORY = 4 * 10**9
HOW = {
    "blocks, whole graph": "the default: an encoder and two banks",
    "one bank, whole graph": "on the features themselves",
    "one bank, from files": "the same in mini-batches",
    "one bank, from files, half": "the same from states in half precision",
}


def bank_files(settings: Settings) -> Result:
    """Mean test accuracy of each way on each dataset, and what is lost from files."""
    names, notes = settings.at_hand(DATASETS)
    kept = Kept(settings.work / "bank-files.json")
    rows = []
    for name in (*names, *((ARXIV,) if settings.large else ())):
        length = LARGE if name == ARXIV else {"runs": RUNS, "epochs": EPOCHS}
        for how in HOW:
            scores = []
            for run in range(length["runs"]):
                settings.say(f"{name}, {how}, run {run + 1}")
                task: dict[str, Any] = {"dataset": name, "how": how, "run": run, "epochs": length["epochs"]}
                described = {**task, "width": WIDTH, "batch": BATCH}
                scores.append(kept.get(described, lambda: {"test": _run(settings, **task)})["test"])  # noqa: B023
            rows.append({"dataset": name, "network": how, "mean": statistics.mean(scores), **length})
    facts = {"width": WIDTH, "batch": BATCH}
    return Result(rows=rows, facts=facts, notes=notes)


def _run(settings: Settings, dataset: str, how: str, run: int, epochs: int) -> float:
    work = settings.work
    data = arxiv_folder(settings).dataset() if dataset == ARXIV else load_dataset(dataset)
    split = make_splits(data, None, run + 1)[run]
    seed_everything(run, deterministic=False)
    changes = {} if how.startswith("blocks") else ONE_BANK
    model = model_spec("gwn-bank").build(
        data.graph.num_features, data.graph.num_classes, hidden_channels=WIDTH, **changes
    )
    assert isinstance(model, BankGWN)
    config = TrainConfig(epochs=epochs, stopping="none", device="cpu")
    if "files" not in how:
        return fit(model, data.graph, split, config).test or 0.0
    graph = arxiv_folder(settings) if dataset == ARXIV else folder_of(data, work / f"bank-{dataset}")
    stored = "float16" if how.endswith("half") else "float32"
    states = propagate_states(graph, model, work, memory=MEMORY, stored=stored)
    config = TrainConfig(epochs=epochs, stopping="none", device="cpu", batch_size=BATCH)
    return fit_files(model, graph, states, split, config, memory=MEMORY).test or 0.0


def folder_of(data: Dataset, path: Path) -> GraphFolder:
    """A dataset as a graph folder, made where it is not there."""
    try:
        return GraphFolder.open(path)
    except GWNError:
        pass
    graph, nodes = data.graph, data.graph.num_nodes
    row, column = torch.cat([graph.edge_index, graph.edge_index.flip(0)], 1).numpy()
    keys = np.unique((row * nodes + column)[row != column])
    dense = graph.x.to_dense() if graph.is_sparse else graph.x
    arrays = {
        "indptr": np.concatenate([[0], np.cumsum(np.bincount(keys // nodes, minlength=nodes))]),
        "indices": keys % nodes,
        "y": graph.labels.numpy(),
    }
    with new_folder(path) as folder:
        for name, values in arrays.items():
            writer = folder.array(name)
            writer.append(values)
            folder.finish(name, writer)
        writer = folder.array("x", (dense.shape[1],))
        writer.append(dense.numpy())
        folder.finish("x", writer)
        folder.facts = {"name": data.name, "classes": graph.num_classes, "made": {"by": "dataset"}}
    return GraphFolder.open(path)
