"""Graph folders on the command line: which arguments are one, and how much of it may be in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gwn.data import DATASETS, Dataset
from gwn.data.large.folder import GraphFolder, is_folder
from gwn.errors import GWNError
from gwn.scale.budget import parse_memory
from gwn.scale.experiment import FileExperiment, OnColumns, require_in_memory
from gwn.scale.predict_files import predict_to_csv
from gwn.training import Experiment, TrainedModel


def open_folder(dataset: str | None) -> GraphFolder | None:
    """The graph folder of this name; None for a dataset's name, or where nothing was given."""
    return None if dataset is None or dataset in DATASETS or not is_folder(dataset) else GraphFolder.open(dataset)


class OnFiles:
    """What `--memory` means for a graph: from file to file with `precompute`, or a check that the whole fits."""

    def __init__(self, dataset: str | None, memory: str | None, settings: Mapping[str, Any]) -> None:
        self.graph = open_folder(dataset)
        self.memory = None if memory is None else parse_memory(memory)
        if self.memory is not None and self.graph is None:
            raise GWNError("--memory goes with a graph folder: make one with `gwn data convert` or `gwn data generate`")
        self.report: OnColumns = lambda done, total: None
        self.active = self.memory is not None and bool(settings.get("precompute"))
        if self.graph is not None and self.memory is not None and not self.active:
            require_in_memory(self.graph, int(settings.get("hidden_channels", 1)), self.memory)

    def source(self) -> tuple[Dataset, dict[str, Any]]:
        """Labels and splits, and where the rest is."""
        assert self.graph is not None
        return self.graph.labels(), {"dataset": str(self.graph.path), "directed": False}

    def experiment(self, out: Path, **fields: Any) -> Experiment:
        """The experiment on files, or the usual one."""
        if not self.active:
            return Experiment(**fields)
        assert self.graph is not None
        assert self.memory is not None
        return FileExperiment(
            **fields,
            graph=self.graph,
            memory=self.memory,
            root=out,
            on_columns=lambda done, total: self.report(done, total),
        )


def predict_folder(trained: TrainedModel, graph: Path | None, root: Path, out: Path, memory: str) -> int:
    """Predictions for the folder a model was trained on, or for another one; how many nodes."""
    origin = (trained.config.get("origin") or {}).get("dataset")
    folder = open_folder(origin if graph is None else str(graph))
    if folder is None:
        raise GWNError("--memory goes with a graph folder: name one with --graph, or leave --memory out")
    return predict_to_csv(trained, folder, root, out, memory=parse_memory(memory))
