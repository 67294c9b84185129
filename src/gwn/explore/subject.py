"""What is explored: a graph with a network that was trained on it before, is trained now, or with none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gwn.data import Dataset, make_splits
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.models import ModelSpec, model_spec
from gwn.networks import GWN
from gwn.settings import find_tuned
from gwn.training import Experiment, TrainConfig, load_trained, run_experiment
from gwn.training.config import effective_settings
from gwn.training.experiment import OnProgress
from gwn.training.metrics import METRICS

LONG_ENOUGH = 4.0
"""T of a network that is trained for the page without tuned settings: a wave of a step or two is little to look at."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Subject:
    """A graph and the wave on it.

    network     a trained wave network, or None for an impulse alone
    dynamics    the names of its Laplacian and scheme
    about       one sentence on where the wave comes from
    command     what writes this page again
    """

    graph: Graph
    name: str
    network: GWN | None = None
    dynamics: tuple[str, str] = ("", "")
    about: str = "The wave of an impulse."
    command: str = ""


def require_wave(model: ModelSpec) -> None:
    """Refuse a model that solves no wave equation."""
    if model.kind != "wave":
        raise GWNError(f"{model.name} has no wave to look at; use --model gwn-sym, gwn-fa or gwn-plus")


def subject_of_run(folder: Path, data: Dataset, command: str) -> Subject:
    """The best run in this folder, on the graph it was trained on."""
    trained = load_trained(folder)
    config = trained.config
    if not isinstance(trained.network, GWN):
        raise GWNError(
            f"{folder} is a {config['model']}, which has no wave to look at; choose a run of gwn-sym or gwn-fa"
        )
    if data.graph.num_features != config["dataset"]["features"]:
        raise GWNError(
            f"{folder} was trained on {config['dataset']['features']} features and the graph now has "
            f"{data.graph.num_features}; train again with `gwn train`"
        )
    laplacian = {**config["settings"], **model_spec(config["model"]).fixed}["laplacian"]
    metric, test = METRICS[config["metric"]], trained.run.test
    score = "" if test is None else f", test {metric.title} {metric.text(test, 1)}"
    return Subject(
        graph=data.graph,
        name=data.name,
        network=trained.network,
        dynamics=(laplacian, config["settings"].get("scheme", "leapfrog")),
        about=f"The wave of {config['model']}, trained on the {config['split']} split{score}.",
        command=command,
    )


def train_for(
    model: ModelSpec,
    data: Dataset,
    origin: Mapping[str, Any],
    runs: Path,
    on_progress: OnProgress | None = None,
) -> Path:
    """One run as `gwn train --runs 1` makes it, with tuned settings where there are any; its folder."""
    splits = make_splits(data, None, 1, 0)
    tuned = find_tuned(model, data.name, splits[0].kind, data.graph.content_hash())
    settings, training = ({}, {}) if tuned is None else tuned.merge(model, {}, {})
    experiment = Experiment(
        dataset=data,
        model=model,
        settings=effective_settings(model, {"time": LONG_ENOUGH, **settings}),
        config=TrainConfig(**training),
        splits=splits,
        origin=origin,
        settings_from=None if tuned is None else tuned.origin([]),
    )
    _, folder = run_experiment(experiment, runs, on_progress=on_progress)
    return folder
