"""Runs and predictions on a graph that stays on disk: `gwn train FOLDER --precompute --memory 4GB`, `gwn predict`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gwn.data import Split
from gwn.data.folders.folder import GraphFolder
from gwn.errors import GWNError
from gwn.io import require_space
from gwn.networks import GWN
from gwn.outofcore.fit import fit_files, predict_files
from gwn.outofcore.propagate import propagate
from gwn.spreadsheet import Written, write_csv
from gwn.training.checkpoint import Checkpoints
from gwn.training.experiment import Experiment, OnProgress, record_run
from gwn.training.loop import seed_everything
from gwn.training.memory import say_memory
from gwn.training.outputs import probabilities
from gwn.training.predict import TrainedModel
from gwn.training.result import RunResult

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
        return self.graph.facts()

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "features": "propagated to files, in mini-batches"}

    def compute(
        self, number: int, split: Split, folder: Path, checkpoints: Checkpoints, on_progress: OnProgress | None
    ) -> RunResult:
        if self.config.torch_device.type != "cpu":
            raise GWNError("training from files runs on the CPU; use --device cpu")
        if (self.config.labels, self.config.smooth) != ("none", "none"):
            raise GWNError("labels=masked and smooth=correct need the whole graph in memory; leave out --memory")
        if self.config.prior != "none":
            raise GWNError(f"prior={self.config.prior} needs all answers in memory; leave out --memory")
        seed = self.seed + number
        seed_everything(seed, self.config.deterministic)
        model = self.model.build(self.graph.num_features, self.graph.num_classes, **self.settings)
        if not isinstance(model, GWN):
            raise GWNError(f"{self.model.name} is no wave network; --memory goes with gwn-sym or gwn and --precompute")
        features = propagate(self.graph, model, self.root, memory=self.memory, on_columns=self.on_columns)
        return record_run(
            lambda report: fit_files(
                model,
                self.graph,
                features,
                split,
                self.config,
                memory=self.memory,
                on_epoch=report,
                checkpoints=checkpoints,
            ),
            model,
            number,
            seed,
            split,
            self.config.torch_device,
            folder,
            on_progress,
        )


def require_in_memory(graph: GraphFolder, width: int, memory: int) -> None:
    """Refuse a graph whose full-batch training cannot fit: features, S with its transpose, and a dozen states."""
    needed = 4 * graph.num_nodes * (2 * graph.num_features + 12 * width) + 28 * graph.num_arcs
    if needed > memory:
        raise GWNError(
            f"{graph.path} needs about {say_memory(needed)} to train as a whole; {say_memory(memory)} were allowed: "
            f"use --precompute (fixed operators), --set partitions=K (attention), or more --memory"
        )


def predict_to_csv(
    trained: TrainedModel, graph: GraphFolder, root: Path, out: Path, *, memory: int, raw_cells: bool = False
) -> Written:
    """Node, predicted class and probabilities of all nodes as CSV, as `gwn predict` writes them.

    root       where propagated features are kept; those of training are found again
    raw_cells  keep ids and class names that look like formulas as they are
    """
    network = trained.network
    if not isinstance(network, GWN):
        raise GWNError("--memory goes with a network that was trained with --precompute; leave it out")
    if graph.num_features != trained.config["dataset"]["features"]:
        expected = trained.config["dataset"]["features"]
        raise GWNError(f"this model was trained on {expected} features, {graph.path} has {graph.num_features}")
    names = trained.class_names
    require_space(out, graph.num_nodes * 10 * len(names))
    features = propagate(graph, network, root, memory=memory)
    ids = _ids(graph)
    known = (None if label < 0 else graph.class_names[label] for label in map(int, graph.y))
    heat = trained.run.temperature
    rows = (
        [next(ids), next(known), names[best], row[best], *row]
        for shares in (probabilities(logits, heat) for logits in predict_files(network, features))
        for row, best in zip(shares.tolist(), shares.argmax(1).tolist(), strict=True)
    )
    headings = ["node", "known", "predicted", "confidence", *(f"p_{name}" for name in names)]
    return write_csv(out, headings, rows, raw=raw_cells)


def _ids(graph: GraphFolder) -> Iterator[object]:
    named: Iterable[object] | None = graph.node_ids()
    return iter(range(graph.num_nodes) if named is None else named)
