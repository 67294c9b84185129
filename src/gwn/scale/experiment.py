"""`gwn train FOLDER --precompute --memory 4GB`: the runs of an experiment on a graph that stays on disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from gwn.data import Split
from gwn.data.large.folder import GraphFolder
from gwn.errors import Diverged, GWNError
from gwn.networks import GWN
from gwn.scale.budget import say_memory
from gwn.scale.fit_files import fit_files
from gwn.scale.propagate import propagate
from gwn.training.experiment import Experiment, OnProgress
from gwn.training.fit import seed_everything
from gwn.training.memory import PeakMemory
from gwn.training.result import RunResult
from gwn.training.store import content_key, write_weights

OnColumns = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True, eq=False)
class FileExperiment(Experiment):
    """As `Experiment`, with `dataset` holding labels alone; features are propagated from file to file.

    memory   bytes the process may hold; it changes how the work is cut, not what comes out
    root     where propagated features are kept, for this and every later experiment with the same dynamics
    """

    graph: GraphFolder
    memory: int
    root: Path
    on_columns: OnColumns = field(default=lambda done, total: None)

    def facts(self) -> dict[str, Any]:
        return folder_facts(self.graph)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "features": "propagated to files, in mini-batches"}

    def compute(self, number: int, split: Split, folder: Path, on_progress: OnProgress | None) -> RunResult:
        if self.config.torch_device.type != "cpu":
            raise GWNError("training from files runs on the CPU; use --device cpu")
        seed = self.seed + number
        seed_everything(seed, self.config.deterministic)
        model = self.model.build(self.graph.num_features, self.graph.num_classes, **self.settings)
        if not isinstance(model, GWN):
            raise GWNError(f"{self.model.name} is no wave network; --memory goes with gwn-sym or gwn and --precompute")
        features = propagate(self.graph, model, self.root, memory=self.memory, on_columns=self.on_columns)
        outcome = RunResult(
            run=number,
            seed=seed,
            split_hash=split.content_hash(),
            split_sizes=(split.train.numel(), split.val.numel(), split.test.numel()),
            status="ok",
        )
        report = None if on_progress is None else (lambda epoch, score: on_progress(number, epoch, score))
        try:
            with PeakMemory(torch.device("cpu")) as peak:
                fitted = fit_files(model, self.graph, features, split, self.config, memory=self.memory, on_epoch=report)
        except Diverged as error:
            return replace(outcome, status="diverged", reason=str(error))
        finally:
            torch.use_deterministic_algorithms(False)
        return replace(
            outcome,
            parameters=sum(parameter.numel() for parameter in model.parameters()),
            val=fitted.val,
            test=fitted.test,
            val_loss=fitted.val_loss,
            best_epoch=fitted.best_epoch,
            epochs=fitted.epochs,
            seconds=fitted.seconds,
            peak_memory_mib=peak.mebibytes,
            weights_sha256=write_weights(folder / f"run-{number:02d}.safetensors", fitted.weights),
        )


def folder_facts(graph: GraphFolder) -> dict[str, Any]:
    """What the graph is, without reading it."""
    return {
        "name": graph.name,
        "hash": content_key(graph.hashes),
        "files": graph.hashes,
        "directed": False,
        "nodes": graph.num_nodes,
        "edges": graph.num_arcs,
        "features": graph.num_features,
        "classes": graph.num_classes,
    }


def require_in_memory(graph: GraphFolder, width: int, memory: int) -> None:
    """Refuse a graph whose full-batch training cannot fit: features, S with its transpose, and a dozen states."""
    needed = 4 * graph.num_nodes * (2 * graph.num_features + 12 * width) + 28 * graph.num_arcs
    if needed > memory:
        raise GWNError(
            f"{graph.path} needs about {say_memory(needed)} to train as a whole; {say_memory(memory)} were allowed: "
            f"use --precompute (fixed operators), --set partitions=K (attention), or more --memory"
        )
