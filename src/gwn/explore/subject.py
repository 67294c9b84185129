"""What is explored: a graph with a network that was trained on it before, is trained now, or with none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gwn.data import Dataset, Split, make_splits
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.models import ModelSpec, model_spec
from gwn.networks import GWN
from gwn.settings import find_tuned
from gwn.training import Experiment, TrainConfig, TrainedModel, run_experiment
from gwn.training.config import effective_settings
from gwn.training.experiment import OnProgress
from gwn.training.loop import predict_logits
from gwn.training.loss import AS_IT_IS, Scaling
from gwn.training.metrics import METRICS, score_text

LONG_ENOUGH = 4.0
"""T of a network that is trained for the page without tuned settings: a wave of a step or two is little to look at."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Subject:
    """A graph and the wave on it.

    network      a trained wave network, or None for pulses alone
    model, laplacian   what it is called, and its Laplacian
    predicted    [N] the classes it says, or the numbers in the units of the table
    scaling      from the network's numbers to these units
    part         [N] 1 for the nodes it was trained on, 2 for those it was chosen by, 3 for those it was tested on
    directed     whether its edges have a direction, which neither the picture nor a pulse has
    about        one sentence on the network
    command      what writes this page again
    """

    graph: Graph
    name: str
    network: GWN | None = None
    model: str = ""
    laplacian: str = ""
    predicted: Tensor | None = None
    scaling: Scaling = AS_IT_IS
    part: Tensor | None = None
    directed: bool = False
    about: str = ""
    command: str = ""


def node_name(graph: Graph, node: int) -> str:
    """The user's name of a node, or its number."""
    return graph.node_ids[node] if graph.node_ids is not None else f"node {node}"


def require_wave(model: ModelSpec) -> None:
    """Refuse a model that solves no wave equation."""
    if model.kind != "wave":
        raise GWNError(f"{model.name} has no wave to look at; use --model gwn-sym, gwn-fa or gwn-plus")


def subject_of_run(folder: Path, trained: TrainedModel, data: Dataset, split: Split, command: str) -> Subject:
    """A run on the graph it was trained on."""
    config, graph, network = trained.config, data.pictured, trained.network
    if not isinstance(network, GWN):
        raise GWNError(
            f"{folder} is a {config['model']}, which has no wave to look at; choose a run of gwn-sym or gwn-fa"
        )
    if graph.num_features != config["dataset"]["features"]:
        raise GWNError(
            f"{folder} was trained on {config['dataset']['features']} features and the graph now has "
            f"{graph.num_features}; train again with `gwn train`"
        )
    with torch.no_grad():
        outputs = predict_logits(network, graph.to("cpu", next(network.parameters()).dtype))
    if graph.task == "regression":
        predicted = trained.scaling.restore(outputs[:, 0])
    else:
        predicted = trained.corrected(outputs).argmax(1)
    part = torch.zeros(graph.num_nodes, dtype=torch.uint8)
    for number, nodes in enumerate((split.train, split.val, split.test), start=1):
        part[nodes] = number
    test, score = trained.run.test, "not tested"
    if test is not None:
        value, metric = score_text(config["metric"], test, 1), METRICS[config["metric"]]
        score = f"{metric.name} {value}{' %' if metric.percent else ''}"
        score += f" on the {split.test.numel():,} test nodes"
    return Subject(
        graph=graph,
        name=data.name,
        network=network,
        model=config["model"],
        laplacian={**config["settings"], **model_spec(config["model"]).fixed}["laplacian"],
        predicted=predicted,
        scaling=trained.scaling if graph.task == "regression" else AS_IT_IS,
        part=part,
        directed=data.directed,
        about=f"{config['model']} was trained on its {config['split']} split: {score}.",
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
