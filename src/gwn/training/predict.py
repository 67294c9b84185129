"""A trained model back from disk, and its predictions for the graph it knows or for a new one."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from gwn.data import Dataset, Split, make_splits
from gwn.data.schema import FeatureSchema
from gwn.data.splits import EVERYONE, SPLITS, WITHOUT_TEST
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.io import (
    content_key,
    file_sha256,
    read_json,
    read_weights,
    require_annotated,
    require_fields,
    require_shape,
    safe_name,
    write_json,
    write_weights,
)
from gwn.models import model_spec
from gwn.models.peers.boosted import BoostedTrees
from gwn.registry import lookup, require_known
from gwn.training.boosting import grow_trees
from gwn.training.config import DTYPES, TrainConfig
from gwn.training.experiment import read_schema
from gwn.training.label_input import KnownLabels, build_network, rebuild_network
from gwn.training.loop import GraphTask, former_determinism, predict_logits, seed_everything, train_epochs
from gwn.training.loss import Scaling, balanced_weights
from gwn.training.metrics import METRICS
from gwn.training.outputs import Floats, probabilities
from gwn.training.prior import Prior, corrected, train_shares
from gwn.training.result import FORMAT, RunResult

COMPARISON = "comparison.json"
COMPARE_AGAIN = "delete it and compare again"
OWN = ("nodes.parquet", "edges.parquet")
"""Tables that a run folder may hold itself."""

REFIT = "refit"
"""Files of the model that was trained once more on all labels."""


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

    def corrected(self, logits: Tensor) -> Tensor:
        """The network's logits with the prior that the run found, which is that of the graph it was trained on."""
        return corrected(logits, self.run.prior)

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
    """A run by its folder, or by the folder's name below `root`; the folder of a comparison stands for its best one."""
    for folder in (Path(run), root / run):
        if (folder / "config.json").is_file():
            return folder
        if (folder / COMPARISON).is_file():
            verdict = read_json(folder / COMPARISON, again=COMPARE_AGAIN).get("result")
            if verdict is None:
                raise GWNError(
                    f"the comparison {run} is not finished; give the same `gwn compare` again to go on, "
                    "with a longer --time where it ran out"
                )
            members = _members(verdict)
            return folder.parent / safe_name(members[0]["folder"])
    known = sorted(path.parent.name for path in root.glob("*/config.json"))
    more = f" and {len(known) - 5} more" if len(known) > 5 else ""
    hint = f"; {root} has {', '.join(known[:5])}{more}" if known else "; train one first with `gwn train`"
    raise GWNError(f"no run {run!r}: it should be a folder with a config.json{hint}")


def _members(verdict: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """What a comparison saved; the first comparisons saved the best model."""
    require_shape(verdict, dict, "the verdict of the comparison")
    saved = verdict.get("predictor")
    held, name = (verdict, "rows") if saved is None else (saved, "members")
    require_shape(held, {name: [dict]}, "the verdict of the comparison")
    members = [{"weight": 1.0, **member} for member in held[name][: 1 if saved is None else None]]
    require_shape(members, [{"folder": str, "weight": (int, float)}], "a model of the comparison")
    if not members or not all(0 <= member["weight"] <= 1 for member in members):
        raise GWNError(
            f"the comparison has no models with weights from 0 to 1; it was edited: delete {COMPARISON} and compare "
            f"again"
        )
    return members


def predictor_of(run: str, root: Path) -> list[tuple[Path, float]]:
    """The run folders that a comparison predicts with, and their weights; none where `run` is no comparison."""
    for record in (Path(run) / COMPARISON, root / run / COMPARISON):
        if record.is_file() and (verdict := read_json(record, again=COMPARE_AGAIN).get("result")) is not None:
            return [(record.parent.parent / safe_name(m["folder"]), float(m["weight"])) for m in _members(verdict)]
    return []


def finished_runs(folder: Path) -> list[RunResult]:
    """The records of the runs in a folder that can predict."""
    return [run for run in _records(folder) if run.status == "ok"]


def _records(folder: Path) -> list[RunResult]:
    return [RunResult.from_json(read_json(path)) for path in sorted(folder.glob("run-*.json"))]


CONFIG: dict[str, Any] = {
    "dataset": {"name": str, "files": dict, "features": int, "classes": int},
    "metric": str,
    "split": str,
    "seed": int,
    "model": str,
    "settings": dict,
    "training": {"device": str, "dtype": str, "epochs": int},
    "classes": [str],
    "feature_names": (list, type(None)),
    "origin": (dict, type(None)),
}
"""What every reader of a run takes for granted about its configuration."""


def load_trained(folder: Path, number: int | None = None) -> TrainedModel:
    """The model of run `number`, or of the run with the best validation score."""
    config = _with_own_files(read_json(folder / "config.json"), folder)
    if not isinstance(version := config.get("format"), int) or version > FORMAT:
        raise GWNError(f"{folder} was written by a newer version of gwn; upgrade to read it")
    require_shape(config, CONFIG, f"{folder / 'config.json'}")
    require_known("metric", config["metric"], tuple(METRICS))
    require_fields(config["training"], TrainConfig, f"{folder / 'config.json'}")
    config["settings"] = model_spec(config["model"]).stored(config["settings"])
    finished = [run for run in finished_runs(folder) if number in (None, run.run)]
    if not finished:
        if number is not None and (others := finished_runs(folder)):
            numbers = ", ".join(str(run.run) for run in others[:20])
            raise GWNError(f"{folder} has no finished run number {number}; it has {numbers}")
        diverged = [run.reason for run in _records(folder) if run.reason]
        raise GWNError(f"{folder} has no finished run" + (f": {diverged[0]}" if diverged else "; train again"))
    best = max(finished, key=lambda run: (-math.inf if run.val is None else run.val, -(run.val_loss or 0.0)))
    network = _rebuilt(folder, config, read_weights(folder / f"run-{best.run:02d}.safetensors", best.weights_sha256))
    schema = read_schema(folder, best.run, best.schema_sha256) if best.schema_sha256 else None
    return TrainedModel(network=network, run=best, config=config, schema=schema)


def _rebuilt(folder: Path, config: Mapping[str, Any], weights: Mapping[str, Tensor]) -> nn.Module:
    """The network that a configuration describes, with these weights."""
    try:
        dataset = config["dataset"]
        sizes = (dataset["features"], 1 if dataset.get("task") == "regression" else dataset["classes"])
        model, training = model_spec(config["model"]), config["training"]
        for name, parameter in model.settings().items():
            if name in config["settings"]:
                where = f"{name} in {folder / 'config.json'}"
                require_annotated(config["settings"][name], str(parameter.annotation), where)
        network = rebuild_network(model, config["settings"], training, sizes, weights)
        network.to(lookup("dtype", config["training"]["dtype"], DTYPES)).load_state_dict(weights)
    except (KeyError, RuntimeError, TypeError) as error:
        line = " ".join(str(error).split())
        raise GWNError(f"{folder}: config.json and weights do not fit together ({line}); train again") from None
    return network


def check_own_file(path: Path, config: Mapping[str, Any]) -> None:
    """Refuse a table of a run folder that is not the one that was saved with it."""
    try:
        sealed, found = config["dataset"]["files"][path.name], file_sha256(path)
    except (KeyError, TypeError):
        raise GWNError(f"{path} has no hash in config.json, which was edited; save the model again") from None
    except OSError as error:
        raise GWNError(
            f"{path} cannot be read: {error.strerror or error}; restore it, or save the model again"
        ) from None
    if found != sealed:
        raise GWNError(f"{path} is not what was saved (SHA-256 differs); restore it, or save the model again")


def _with_own_files(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Files that were saved within the run folder are found there, wherever it was moved to, as they were saved."""
    origin = config.get("origin")
    if not isinstance(origin, Mapping):
        return config
    own = {
        key: str(folder.resolve() / name) for key, name in origin.items() if key in ("nodes", "edges") and name in OWN
    }
    for path in map(Path, own.values()):
        check_own_file(path, config)
    return {**config, "origin": {**origin, **own}}


def changed_files(config: Mapping[str, Any], data: Dataset) -> str:
    """Which files are no longer those that a model was trained on, in one line; nothing where none changed."""
    then, now = config["dataset"]["files"], data.files
    changed = [name for name, digest in now.items() if name in then and then[name] != digest]
    if not changed:
        return ""
    before, graph = config["dataset"], data.graph
    stored = 1 if data.directed else 2  # entries of an edge
    return (
        f"{' and '.join(changed)} changed since training: {before['nodes']:,} nodes and "
        f"{before['edges'] // stored:,} edges then, {graph.num_nodes:,} and {graph.num_edges // stored:,} now; the "
        f"predictions are for what is there now"
    )


def answers(trained: TrainedModel, graph: Graph, device: str = "auto", calibrated: bool = True) -> Floats:
    """Probabilities [N, c] of the classes, or predicted numbers [N, 1] in the units of the table.

    calibrated   with the temperature that the run learnt on validation
    """
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
        shorter = ", or train again with a smaller time or tau" if "time" in trained.config["settings"] else ""
        raise GWNError(
            f"the model overflows on this graph, whose features go up to {_largest(graph):.3g}; scale them as those of "
            f"the training are{shorter}"
        )
    if trained.task == "regression":
        found = trained.scaling.undo(logits).unsqueeze(1)
    else:
        found = probabilities(trained.corrected(logits), trained.run.temperature if calibrated else None)
    return np.asarray(found.cpu().numpy(), dtype=np.float64)


def _largest(graph: Graph) -> float:
    """The largest feature, whatever its sign."""
    stored = graph.x.values() if graph.is_sparse else graph.x
    return float(stored.abs().max()) if stored.numel() else 0.0


def predict(trained: TrainedModel, graph: Graph, device: str = "auto", calibrated: bool = True) -> pd.DataFrame:
    """One row a node, see `table_of`."""
    return table_of(graph, answers(trained, graph, device, calibrated), trained)


def table_of(graph: Graph, found: Floats, trained: TrainedModel) -> pd.DataFrame:
    """One row a node: `node`, `known` (the label it has), `predicted`, `confidence` and `p_<class>` for every class.

    Of numbers, `node`, `known` and `predicted`.
    """
    nodes = list(graph.node_ids) if graph.node_ids is not None else range(graph.num_nodes)
    known = known_labels(graph)
    if trained.task == "regression":
        return pd.DataFrame({"node": nodes, "known": known, "predicted": found[:, 0]})
    names = trained.class_names
    columns = {
        "node": nodes,
        "known": known,
        "predicted": [names[index] for index in found.argmax(1)],
        "confidence": found.max(1),
    }
    return pd.DataFrame({**columns, **{f"p_{name}": found[:, index] for index, name in enumerate(names)}})


def known_labels(graph: Graph) -> list[Any]:
    """The class name or number of every node, None where it is not known."""
    if graph.y is None:
        return [None] * graph.num_nodes
    if graph.task == "regression":
        return [None if math.isnan(value) else value for value in graph.y.tolist()]
    return [None if index < 0 else graph.label_name(index) for index in graph.y.tolist()]


def blended(
    members: Sequence[tuple[Path, float]],
    open_: Callable[[Mapping[str, Any]], Dataset],
    *,
    same: bool,
    device: str = "auto",
    calibrated: bool = True,
) -> tuple[Dataset, Floats, TrainedModel]:
    """As `ensemble`, for several run folders with weights that sum to one; the best run is that of the first."""
    parts = [ensemble(folder, open_, same=same, device=device, calibrated=calibrated) for folder, _ in members]
    mean: Floats = np.tensordot([weight for _, weight in members], np.stack([found for _, found, _ in parts]), axes=1)
    return parts[0][0], mean, parts[0][2]


def ensemble(
    folder: Path,
    open_: Callable[[Mapping[str, Any]], Dataset],
    *,
    same: bool,
    device: str = "auto",
    calibrated: bool = True,
) -> tuple[Dataset, Floats, TrainedModel]:
    """The graph, the mean of all finished runs' answers about it, and the best of them.

    open_   from `TrainedModel.origin` to the graph as that run sees it; the others encode the same tables their way
    same    whether it is the graph of the training, of which every run has seen the labels of some nodes
    """
    best, members = load_trained(folder), []
    data = open_(best.origin)
    for run in finished_runs(folder):
        trained = load_trained(folder, run.run)
        found = answers(trained, _as_seen_by(trained, data), device, calibrated)
        members.append((found, _trained_on(trained, data) if same else None))
    return data, mean_answers(members), best


def _as_seen_by(trained: TrainedModel, data: Dataset) -> Graph:
    """The graph with its table encoded as this run learnt to."""
    if trained.schema is None or data.tables is None:
        return data.graph
    return data.tables.encode(data.graph, FeatureSchema.from_json(trained.schema))


def _trained_on(trained: TrainedModel, data: Dataset) -> Tensor | None:
    """The training nodes of a run; None where they are not known: other labels, or a split that somebody else made."""
    config, run = trained.config, trained.run
    if config["split"] not in (*SPLITS, *data.published) and WITHOUT_TEST.fullmatch(config["split"]) is None:
        return None
    split = make_splits(data, config["split"], run.run + 1, config["seed"])[run.run]
    return split.train if split.content_hash() == run.split_hash else None


def mean_answers(members: Sequence[tuple[Floats, Tensor | None]]) -> Floats:
    """The mean of several runs' answers; of a node that a run trained on, without that run, if any other is left.

    members   a run's answers, and the nodes it trained on; None for another graph, of which no run has seen a node
    """
    found = np.stack([answer for answer, _ in members])
    weight = np.ones(found.shape[:2])
    for number, (_, train) in enumerate(members):
        if train is not None:
            weight[number, train.numpy()] = 0.0
    weight[:, weight.sum(0) == 0] = 1.0
    mean: Floats = np.einsum("rnc,rn->nc", found, weight) / weight.sum(0)[:, None]
    return mean


@former_determinism()
def refit(folder: Path, dataset: Dataset, device: str = "auto") -> TrainedModel:
    """The model trained once more, on all labelled nodes of `dataset`, for the median of the runs' best epochs.

    Nothing is left to choose an epoch by, or to learn a temperature on: both are the medians of the runs in `folder`.
    It is kept in the folder, and taken from there as long as graph, labels and runs are the same.
    """
    config, runs = load_trained(folder).config, finished_runs(folder)
    if config["training"].get("smooth", "none") != "none" or "features" in config:
        raise GWNError("--refit is for networks in memory without smooth=correct; use --ensemble or --best")
    epochs = max(1, round(statistics.median(run.best_epoch or 1 for run in runs)))
    trained_on = content_key({"graph": dataset.graph.content_hash(), "runs": [run.weights_sha256 for run in runs]})
    if (kept := _kept_refit(folder, config, trained_on)) is not None:
        return kept
    training = TrainConfig(**{**config["training"], "device": device, "epochs": epochs, "prior": "none"})
    everyone = dataset.graph.labelled.nonzero().flatten()
    nobody = everyone[:0]
    split = Split(train=everyone, val=nobody, test=nobody, kind=EVERYONE, seed=config["seed"])
    graph = dataset.on(split).to(training.torch_device, training.torch_dtype)
    seed_everything(config["seed"], training.deterministic)
    model = build_network(model_spec(config["model"]), config["settings"], training, graph, split)
    model = model.to(training.torch_device, training.torch_dtype)
    task = GraphTask(model, graph, split, training, config["metric"])
    if isinstance(model, BoostedTrees):
        grow_trees(model, task, training)
    else:
        train_epochs(model, task, training)
    temperatures = [run.temperature for run in runs if run.temperature is not None]
    sha256 = write_weights(folder / f"{REFIT}.safetensors", model.state_dict())
    record = replace(
        runs[0],
        best_epoch=epochs,
        temperature=statistics.median(temperatures) if temperatures else None,
        prior=_prior_of(runs, graph.labels[everyone], len(config["classes"]), training),
        target_mean=None if task.scaling is None else task.scaling.mean,
        target_spread=None if task.scaling is None else task.scaling.spread,
        weights_sha256=sha256,
    )
    schema = dataset.schema_on(split)
    write_json(
        folder / f"{REFIT}.json",
        {"trained_on": trained_on, "sha256": sha256, "record": record.to_json(), "schema": schema},
    )
    return TrainedModel(network=model, run=record, config=config, schema=schema)


def _kept_refit(folder: Path, config: Mapping[str, Any], trained_on: str) -> TrainedModel | None:
    """What an earlier `refit` kept; None where there is nothing, or it was trained on something else."""
    path = folder / f"{REFIT}.json"
    if not path.is_file():
        return None
    kept = read_json(path, again="delete it, and --refit trains again")
    if kept.get("trained_on") != trained_on:
        return None
    network = _rebuilt(folder, config, read_weights(path.with_suffix(".safetensors"), kept["sha256"]))
    run = RunResult.from_json(kept["record"])
    return TrainedModel(network=network, run=run, config=config, schema=kept["schema"])


def _prior_of(runs: Sequence[RunResult], y: Tensor, classes: int, config: TrainConfig) -> dict[str, Any] | None:
    """The mean of what the runs found, against the training nodes' classes `y`; None where they corrected nothing."""
    found = [Prior.from_json(run.prior) for run in runs if run.prior is not None]
    if not found:
        return None
    train = train_shares(y.cpu(), classes, balanced_weights(y.cpu(), classes, config))
    target = np.mean([prior.target for prior in found], axis=0)
    mean = Prior(
        source=found[0].source,
        train=tuple(train.tolist()),
        target=tuple(target.tolist()),
        scale=float(np.mean([prior.scale for prior in found])),
    )
    return mean.to_json()
