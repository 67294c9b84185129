"""One configuration over several splits: every finished run is kept, and the same call continues where it stopped."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from gwn.data import Dataset, Split
from gwn.data.dataset import repeated_splits
from gwn.errors import Diverged, GWNError
from gwn.graph import Graph
from gwn.io import content_key, file_sha256, read_json, read_weights, safe_name, write_atomic, write_json, write_weights
from gwn.memory import PeakMemory
from gwn.models import ModelSpec
from gwn.training.card import model_card
from gwn.training.checkpoint import Checkpoints
from gwn.training.config import TrainConfig
from gwn.training.label_input import build_network
from gwn.training.loop import Fit, OnEpoch, fit, former_determinism, seed_everything
from gwn.training.metrics import METRICS
from gwn.training.outputs import Outputs, warnings_of
from gwn.training.result import FORMAT, RunResult, environment, summary_of_runs

OnProgress = Callable[[int, int, float], None]
OnRun = Callable[[RunResult], None]
CHECKPOINT = ".checkpoint"
SELECTION = {
    "score": "epoch with the best validation score, ties by lower validation loss",
    "loss": "epoch with the lowest validation loss, ties by better validation score",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Experiment:
    """What is to be computed: a model with settings, on a dataset, over splits.

    origin          how the dataset was named or which files it came from, so that `gwn predict` finds it again
    settings_from   the table of tuned settings that were used, None for defaults and given ones
    """

    dataset: Dataset
    model: ModelSpec
    settings: Mapping[str, Any]
    config: TrainConfig
    splits: Sequence[Split]
    seed: int = 0
    origin: Mapping[str, Any] | None = None
    settings_from: Mapping[str, Any] | None = None

    def describe(self) -> dict[str, Any]:
        """Everything that decides the outcome of a run, except its number."""
        return {
            "format": FORMAT,
            "dataset": self.facts(),
            "metric": self.dataset.metric,
            "split": self.splits[0].kind,
            "seed": self.seed,
            "model": self.model.name,
            "settings": dict(self.settings),
            "training": self.config.to_json(),
            "selection": SELECTION[self.config.select],
        }

    @property
    def sizes(self) -> tuple[int, int]:
        """Features, and outputs for each node."""
        return self.dataset.graph.num_features, self.dataset.graph.num_outputs

    def facts(self) -> dict[str, Any]:
        """What the graph is."""
        graph = self.dataset.graph
        return {
            "name": self.dataset.name,
            "hash": graph.content_hash(),
            "files": dict(self.dataset.files),
            "directed": self.dataset.directed,
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "features": graph.num_features,
            "classes": graph.num_classes,
            **({"task": "regression"} if graph.task == "regression" else {}),
        }

    def compute(
        self, number: int, split: Split, folder: Path, checkpoints: Checkpoints, on_progress: OnProgress | None
    ) -> RunResult:
        """Train one run and write its weights."""
        device, seed = self.config.torch_device, self.seed + number
        graph, schema_sha256 = self._graph_of_run(number, split, folder, checkpoints)
        graph = graph.to(device, self.config.torch_dtype)
        seed_everything(seed, self.config.deterministic)
        model = build_network(self.model, self.settings, self.config, graph, split, self.sizes)
        model = model.to(device, self.config.torch_dtype)
        found = record_run(
            lambda report: self.fit(model, graph, split, report, checkpoints),
            model,
            number,
            seed,
            split,
            device,
            folder,
            on_progress,
        )
        return replace(found, schema_sha256=schema_sha256)

    def _graph_of_run(self, number: int, split: Split, folder: Path, checkpoints: Checkpoints) -> tuple[Graph, str]:
        """The graph as this run sees it, and the hash of the file that says how its table was encoded.

        A run that version 0.1.0 began has a checkpoint and no such file: it goes on with what it began with.
        """
        schema, path = self.dataset.schema_on(split), schema_file(folder, number)
        if schema is None or (checkpoints.path.exists() and not path.exists()):
            return self.dataset.graph, ""
        write_json(path, schema)
        return self.dataset.on(split), file_sha256(path)

    def fit(
        self, model: nn.Module, graph: Graph, split: Split, on_epoch: OnEpoch | None, checkpoints: Checkpoints
    ) -> Fit:
        """Train one run's model, from its last checkpoint on where it was interrupted."""
        return fit(model, graph, split, self.config, self.dataset.metric, on_epoch, checkpoints=checkpoints)

    def folder(self, root: Path) -> Path:
        """Where its results live: the same configuration always has the same name.

        Results that were written under a former name of the model stay where they are.
        """
        names = (self.model.name, *self.model.former_names)
        described, dataset = self.describe(), safe_name(self.dataset.name)
        places = [root / f"{dataset}-{name}-{content_key({**described, 'model': name})}" for name in names]
        return next((place for place in places if place.is_dir()), places[0])


def schema_file(folder: Path, number: int) -> Path:
    """Where a run keeps how its node table was encoded."""
    return folder / f"schema-{number:02d}.json"


def read_schema(folder: Path, number: int, sha256: str) -> dict[str, Any]:
    """How a run encoded its node table, refused where it is not what the run wrote."""
    path = schema_file(folder, number)
    if not path.is_file():
        raise GWNError(f"{path} is gone, which says how the run read its table; train again")
    schema = read_json(path)
    if file_sha256(path) != sha256:
        raise GWNError(f"{path} was edited: it is not what the run wrote; train again")
    return schema


def history_file(folder: Path, number: int) -> Path:
    """Where a run keeps its learning curves."""
    return folder / f"history-{number:02d}.json"


CURVE_POINTS = 200
"""So many epochs of a run are kept at most."""


def compact(fitted: Fit) -> dict[str, Any]:
    """The learning curves of a run at evenly spaced epochs, the best and the last among them."""
    count = len(fitted.curves.val)
    kept = {round(place) for place in np.linspace(1, count, min(count, CURVE_POINTS - 1))} | {fitted.best_epoch, count}
    epochs = sorted(kept)
    return {
        "epoch": epochs,
        "best_epoch": fitted.best_epoch,
        **{
            name: [values[epoch - 1] if math.isfinite(values[epoch - 1]) else None for epoch in epochs]
            for name, values in fitted.curves._asdict().items()
        },
    }


def run_experiment(
    experiment: Experiment,
    root: Path,
    *,
    force: bool = False,
    checkpoint_seconds: float = 60.0,
    on_progress: OnProgress | None = None,
    on_run: OnRun | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> tuple[dict[str, Any], Path]:
    """Compute the runs that are missing; the result (also in `result.json`) and its folder.

    A run that was interrupted goes on from its last checkpoint, to the same result.

    force                compute again what is already there
    checkpoint_seconds   between two checkpoints of a run
    on_progress          called with (run, epoch, validation score) after every epoch
    on_run               called with every run's result, those found on disk included
    say                  hears that a run goes on from a checkpoint
    """
    folder, identity = _begin(experiment, root)
    with fixed_threads(experiment.config.choose_threads(experiment.dataset.graph)):
        runs = []
        for number, split in enumerate(experiment.splits):
            found = None if force else _finished(folder / f"run-{number:02d}.json", split, say)
            if found is None:
                found = _compute(experiment, number, folder, force, checkpoint_seconds, on_progress, say)
            if on_run is not None:
                on_run(found)
            runs.append(found)
        machine = environment(experiment.config.torch_device)
    repeated = repeated_splits(experiment.dataset, experiment.splits[0].kind, len(runs))
    result_json = {
        **identity,
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "environment": machine,
        "caveat": experiment.dataset.caveat,
        "runs": [run.to_json() for run in runs],
        "summary": summary_of_runs(runs, shares=METRICS[experiment.dataset.metric].percent),
        "warnings": [
            *warnings_of([run.to_json() for run in runs], identity["classes"]),
            *([repeated] if repeated else []),
        ],
    }
    write_json(folder / "result.json", result_json)
    write_atomic(folder / "MODEL_CARD.md", model_card(result_json, folder.name).encode())
    return result_json, folder


def run_one(experiment: Experiment, number: int, root: Path) -> tuple[RunResult, Path]:
    """One run alone, of those that `run_experiment` computes, and the folder: it is found there by a later call."""
    folder, _ = _begin(experiment, root)
    found = _finished(folder / f"run-{number:02d}.json", experiment.splits[number], lambda line: None)
    if found is None:
        with fixed_threads(experiment.config.choose_threads(experiment.dataset.graph)):
            found = _compute(experiment, number, folder)
    return found, folder


def _begin(experiment: Experiment, root: Path) -> tuple[Path, dict[str, Any]]:
    """Its folder, and what its runs are of, written there."""
    folder, graph = experiment.folder(root), experiment.dataset.graph
    identity = {
        **experiment.describe(),
        "classes": [graph.label_name(index) for index in range(graph.num_classes)],
        "feature_names": None if graph.feature_names is None else list(graph.feature_names),
        "origin": None if experiment.origin is None else dict(experiment.origin),
        "settings_from": None if experiment.settings_from is None else dict(experiment.settings_from),
    }
    write_json(folder / "config.json", identity)
    return folder, identity


@former_determinism()
def _compute(
    experiment: Experiment,
    number: int,
    folder: Path,
    force: bool = False,
    checkpoint_seconds: float = 60.0,
    on_progress: OnProgress | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> RunResult:
    """Train a run, from its last checkpoint on unless `force` forbids it, and write its record."""
    path, split = folder / f"run-{number:02d}.json", experiment.splits[number]
    key = f"{folder.name}/{path.stem} {split.content_hash()[:12]}"
    checkpoints = Checkpoints(path.with_suffix(CHECKPOINT), key, seconds=checkpoint_seconds, say=say)
    if force:
        checkpoints.path.unlink(missing_ok=True)
    found = experiment.compute(number, split, folder, checkpoints, on_progress)
    write_json(path, found.to_json())
    checkpoints.path.unlink(missing_ok=True)
    return found


def _finished(path: Path, split: Split, say: Callable[[str], None]) -> RunResult | None:
    """The run in this file, if it is whole: its record, the split it was asked for, and the files it wrote."""
    if not path.exists():
        return None
    try:
        result = RunResult.from_json(read_json(path))
        if result.status == "ok":
            read_weights(path.with_suffix(".safetensors"), result.weights_sha256)
            if result.schema_sha256:
                read_schema(path.parent, result.run, result.schema_sha256)
            if (history := history_file(path.parent, result.run)).exists():
                read_json(history)
    except GWNError as error:
        say(f"{path.stem} is computed again: {error}")
        return None
    return result if result.split_hash == split.content_hash() else None


@contextmanager
def fixed_threads(count: int) -> Iterator[None]:
    """PyTorch with `count` threads, the former number afterwards."""
    if count < 1:
        raise GWNError(f"threads must be at least 1; got {count}")
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def record_run(
    train: Callable[[OnEpoch | None], Fit],
    model: nn.Module,
    number: int,
    seed: int,
    split: Split,
    device: torch.device,
    folder: Path,
    on_progress: OnProgress | None,
) -> RunResult:
    """Train, keep the weights, and say what came out: scores, time and memory, or why it diverged.

    train   the training itself, told where to report each epoch
    """
    outcome = RunResult(
        run=number,
        seed=seed,
        split_hash=split.content_hash(),
        split_sizes=(split.train.numel(), split.val.numel(), split.test.numel()),
        status="ok",
    )
    report = None if on_progress is None else (lambda epoch, score: on_progress(number, epoch, score))
    try:
        with PeakMemory(device) as peak:
            fitted = train(report)
    except Diverged as error:
        return replace(outcome, status="diverged", reason=str(error))
    write_json(history_file(folder, number), compact(fitted))
    return replace(
        outcome,
        parameters=sum(parameter.numel() for parameter in model.parameters()),  # some are made in the first pass
        val=fitted.val,
        test=None if math.isnan(fitted.test) else fitted.test,  # there may be no node to test on
        val_loss=fitted.val_loss,
        best_epoch=fitted.best_epoch,
        epochs=fitted.epochs,
        seconds=fitted.seconds,
        peak_memory_mib=peak.mebibytes,
        weights_sha256=write_weights(folder / f"run-{number:02d}.safetensors", fitted.weights),
        loss_fell=fitted.loss_fell,
        **({} if fitted.outputs is None else _judged(fitted.outputs)),
    )


def _judged(outputs: Outputs) -> dict[str, Any]:
    """How outputs become answers, and how good those are."""
    temperature, scaling = outputs.temperature(), outputs.scaling
    return {
        "temperature": temperature,
        "target_mean": None if scaling is None else scaling.mean,
        "target_spread": None if scaling is None else scaling.spread,
        "details": outputs.details(temperature),
        "prior": None if outputs.prior is None else outputs.prior.to_json(),
        "shift": outputs.shift,
    }
