"""Runs and predictions on a graph that stays on disk: `gwn train FOLDER --precompute --memory 4GB`, `gwn predict`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch

from gwn.data import Split
from gwn.data.folders.folder import GraphFolder
from gwn.errors import GWNError
from gwn.io import require_space
from gwn.memory import say_memory
from gwn.networks import GWN
from gwn.networks.bank import BankGWN
from gwn.outofcore.fit import Features, Network, chunk_rows, fit_files, predict_files, require_room_to_train
from gwn.outofcore.propagate import OnWait, propagate
from gwn.outofcore.states import propagate_states
from gwn.spreadsheet import Written, write_columns
from gwn.training.checkpoint import Checkpoints
from gwn.training.experiment import Experiment, OnProgress, record_run
from gwn.training.loop import seed_everything
from gwn.training.outputs import probabilities
from gwn.training.predict import TrainedModel
from gwn.training.result import RunResult

OnColumns = Callable[[float, int], None]
OnDone = Callable[[str, float, int], None]


@dataclass(frozen=True, kw_only=True, eq=False)
class FileExperiment(Experiment):
    """As `Experiment`, with `dataset` holding labels alone; features are propagated from file to file.

    memory   bytes the process may hold; it changes how the work is cut, not what comes out
    root     where propagated features are kept, for this and every later experiment with the same dynamics
    stored   the type in which a bank's states are kept, see `gwn.outofcore.states`
    """

    graph: GraphFolder
    memory: int
    root: Path
    stored: str = "float32"
    on_columns: OnColumns = field(default=lambda done, total: None)
    on_wait: OnWait = field(default=lambda line: None)

    def facts(self) -> dict[str, Any]:
        return self.graph.facts()

    def describe(self) -> dict[str, Any]:
        half = {} if self.stored == "float32" else {"stored": self.stored}
        return {**super().describe(), "features": "propagated to files, in mini-batches", **half}

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
        if not isinstance(model, (GWN, BankGWN)):
            raise GWNError(f"{self.model.name} is no wave network; --memory goes with gwn-sym or gwn and --precompute")
        require_room_to_train(self.graph, self.memory)
        features = self._features(model)
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

    def _features(self, model: GWN | BankGWN) -> Features:
        """What training reads: of a bank, where few nodes have labels, the states of those alone."""
        given: dict[str, Any] = {"memory": self.memory, "on_columns": self.on_columns, "on_wait": self.on_wait}
        if isinstance(model, GWN):
            if self.stored != "float32":
                raise GWNError(f"--stored {self.stored} goes with the states of a bank; leave it out for this model")
            return propagate(self.graph, model, self.root, **given)
        parts = [nodes for split in self.splits for nodes in (split.train, split.val, split.test)]
        needed = np.unique(torch.cat(parts).numpy())
        few = needed.size < self.graph.num_nodes / 2
        return propagate_states(
            self.graph, model, self.root, nodes=needed if few else None, stored=self.stored, **given
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
    trained: TrainedModel,
    graph: GraphFolder,
    root: Path,
    out: Path,
    *,
    memory: int,
    raw_cells: bool = False,
    on_done: OnDone = lambda what, done, total: None,
    on_wait: OnWait = lambda line: None,
) -> Written:
    """Node, predicted class and probabilities of all nodes as CSV, as `gwn predict` writes them.

    root       where propagated features are kept; those of training are found again
    raw_cells  keep ids and class names that look like formulas as they are
    """
    network = trained.network.float()  # whatever it was trained in: what is propagated to files is float32
    if not isinstance(network, (GWN, BankGWN)):
        raise GWNError("--memory goes with a network that was trained with --precompute; leave it out")
    if graph.num_features != trained.config["dataset"]["features"]:
        expected = trained.config["dataset"]["features"]
        raise GWNError(
            f"this model was trained on {expected} features, {graph.path} has {graph.num_features}; name a folder with "
            f"the features of its training with --graph"
        )
    require_space(out, graph.num_nodes * (BYTES_OF_A_CELL * (len(trained.class_names) + 1) + BYTES_OF_NAMES))

    def on_columns(done: float, total: int) -> None:
        on_done("propagating", done, total)

    features: Features
    given: dict[str, Any] = {"memory": memory, "on_columns": on_columns, "on_wait": on_wait}
    if isinstance(network, GWN):
        features = propagate(graph, network, root, **given)
    else:
        features = propagate_states(graph, network, root, stored=trained.config.get("stored", "float32"), **given)
    headings = ["node", "known", "predicted", "confidence", *(f"p_{name}" for name in trained.class_names)]
    return write_columns(out, headings, _predictions(trained, network, graph, features, on_done), raw=raw_cells)


BYTES_OF_A_CELL = 12
BYTES_OF_NAMES = 40
"""Of a line: the node and two classes."""


def _predictions(
    trained: TrainedModel, network: Network, graph: GraphFolder, features: Features, on_done: OnDone
) -> Iterator[list[pa.Array]]:
    """The columns of the file, a chunk of nodes at a time."""
    y, first, size = graph.reader("y"), 0, chunk_rows(features)
    own, names = pa.array(graph.class_names, pa.string()), pa.array(trained.class_names, pa.string())
    for ids, logits in zip(graph.id_batches(size), predict_files(network, features), strict=True):
        shares = probabilities(trained.corrected(logits), trained.run.temperature)
        best = shares.argmax(1)
        known = y.rows(first, first + len(best))
        columns = [
            ids,
            own.take(pa.array(known, mask=known < 0)),
            names.take(pa.array(best.numpy())),
            pa.array(shares.gather(1, best[:, None])[:, 0].numpy()),
            *(pa.array(column) for column in shares.t().contiguous().numpy()),
        ]
        first += len(best)
        on_done("writing", first, graph.num_nodes)
        yield columns
