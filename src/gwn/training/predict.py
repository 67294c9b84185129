"""A trained model back from disk, and its predictions for the graph it knows or for a new one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import nn

from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.io import file_sha256, read_json, read_weights
from gwn.models import model_spec
from gwn.registry import lookup
from gwn.training.config import DTYPES, TrainConfig
from gwn.training.experiment import schema_file
from gwn.training.label_input import KnownLabels, rebuild_network
from gwn.training.loop import predict_logits
from gwn.training.loss import Scaling
from gwn.training.result import FORMAT, RunResult

OWN = ("nodes.parquet", "edges.parquet")
"""Tables that a run folder may hold itself."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedModel:
    """A network with the weights of one run, and the description it was rebuilt from.

    schema   how this run's node table was encoded; None where its graph was not read from tables, and for runs of
             version 0.1.0, which encoded it as the configuration says
    """

    network: nn.Module
    run: RunResult
    config: Mapping[str, Any]
    schema: Mapping[str, Any] | None = None

    @property
    def origin(self) -> dict[str, Any]:
        """Where its graph came from and how it was read, for `gwn.cli.source.reopen`."""
        origin = dict(self.config.get("origin") or {})
        return origin if self.schema is None else {**origin, "schema": self.schema}

    @property
    def class_names(self) -> list[str]:
        return list(self.config["classes"])

    def shown_labels(self, graph: Graph) -> str:
        """Which labels the network is shown on this graph, in one line; nothing where it sees none."""
        return self.network.on(graph, self.class_names)[1] if isinstance(self.network, KnownLabels) else ""

    @property
    def task(self) -> str:
        return str(self.config["dataset"].get("task", "classification"))

    @property
    def scaling(self) -> Scaling:
        """What makes the network's outputs numbers in the units of its table."""
        if self.run.target_mean is None or self.run.target_spread is None:
            raise GWNError(f"the record of run {self.run.run} has no target_mean and target_spread; train again")
        return Scaling(mean=self.run.target_mean, spread=self.run.target_spread)


def find_run_folder(run: str, root: Path) -> Path:
    """A run by its folder, or by the folder's name below `root`."""
    for folder in (Path(run), root / run):
        if (folder / "config.json").is_file():
            return folder
    known = sorted(path.parent.name for path in root.glob("*/config.json"))
    hint = f"; {root} has {', '.join(known[:5])}" if known else "; train one first with `gwn train`"
    raise GWNError(f"no run {run!r}: it should be a folder with a config.json{hint}")


def load_trained(folder: Path, number: int | None = None) -> TrainedModel:
    """The model of run `number`, or of the run with the best validation score."""
    config = _with_own_files(read_json(folder / "config.json"), folder)
    if config.get("format", FORMAT + 1) > FORMAT:
        raise GWNError(f"{folder} was written by a newer version of gwn; upgrade to read it")
    runs = [RunResult.from_json(read_json(path)) for path in sorted(folder.glob("run-*.json"))]
    finished = [run for run in runs if run.status == "ok" and number in (None, run.run)]
    if not finished:
        what = "finished run" if number is None else f"finished run number {number}"
        raise GWNError(f"{folder} has no {what}; train again")
    best = max(finished, key=lambda run: (-math.inf if run.val is None else run.val, -(run.val_loss or 0.0)))
    weights = read_weights(folder / f"run-{best.run:02d}.safetensors", best.weights_sha256)
    try:
        dataset = config["dataset"]
        sizes = (dataset["features"], 1 if dataset.get("task") == "regression" else dataset["classes"])
        model, training = model_spec(config["model"]), config["training"]
        network = rebuild_network(model, config["settings"], training, sizes, weights)
        network.to(lookup("dtype", config["training"]["dtype"], DTYPES)).load_state_dict(weights)
    except (KeyError, RuntimeError, TypeError) as error:
        line = " ".join(str(error).split())
        raise GWNError(f"{folder}: config.json and weights do not fit together ({line}); train again") from None
    schema = None
    if best.schema_sha256:
        path = schema_file(folder, best.run)
        schema = read_json(path)
        if file_sha256(path) != best.schema_sha256:
            raise GWNError(f"{path} was edited: it is not what the run wrote; train again")
    return TrainedModel(network=network, run=best, config=config, schema=schema)


def _with_own_files(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Files that were saved within the run folder are found there, wherever it was moved to."""
    origin = config.get("origin")
    if not isinstance(origin, Mapping):
        return config
    own = {
        key: str(folder.resolve() / name) for key, name in origin.items() if key in ("nodes", "edges") and name in OWN
    }
    return {**config, "origin": {**origin, **own}}


def predict(trained: TrainedModel, graph: Graph, device: str = "auto") -> pd.DataFrame:
    """One row a node: `node`, `predicted` (class name) and `p_<class>` for every class."""
    expected = trained.config["dataset"]["features"]
    if graph.num_features != expected:
        raise GWNError(
            f"this model was trained on {expected} features, the graph has {graph.num_features}; "
            f"give the columns it was trained with"
        )
    config = TrainConfig(device=device, dtype=trained.config["training"]["dtype"])
    network = trained.network
    if isinstance(network, KnownLabels):
        network, _ = network.on(graph, trained.class_names)
    network = network.to(config.torch_device, config.torch_dtype)
    logits = predict_logits(network, graph.to(config.torch_device, config.torch_dtype))
    if not bool(torch.isfinite(logits).all()):
        raise GWNError("the model overflows on this graph; retrain with a smaller time or tau")
    nodes = list(graph.node_ids) if graph.node_ids is not None else range(graph.num_nodes)
    if trained.task == "regression":
        return pd.DataFrame({"node": nodes, "predicted": trained.scaling.undo(logits).cpu().numpy()})
    probabilities = logits.double().softmax(1).cpu().numpy()
    names = trained.class_names
    table = pd.DataFrame({"node": nodes, "predicted": [names[index] for index in probabilities.argmax(1)]})
    for index, name in enumerate(names):
        table[f"p_{name}"] = probabilities[:, index]
    return table
