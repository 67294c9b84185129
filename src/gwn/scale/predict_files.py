"""Predictions for a graph that stays on disk: propagated from file to file, written line by line."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from gwn.data.large.folder import GraphFolder
from gwn.errors import GWNError
from gwn.networks import GWN
from gwn.scale.fit_files import predict_files
from gwn.scale.propagate import propagate
from gwn.training.predict import TrainedModel


def predict_to_csv(trained: TrainedModel, graph: GraphFolder, root: Path, out: Path, *, memory: int) -> int:
    """Node, predicted class and probabilities of all nodes as CSV, as `gwn predict` writes them; how many.

    root   where propagated features are kept; those of training are found again
    """
    network = trained.network
    if not isinstance(network, GWN):
        raise GWNError("--memory goes with a network that was trained with --precompute; leave it out")
    if graph.num_features != trained.config["dataset"]["features"]:
        expected = trained.config["dataset"]["features"]
        raise GWNError(f"this model was trained on {expected} features, {graph.path} has {graph.num_features}")
    features = propagate(graph, network, root, memory=memory)
    names = trained.class_names
    partial = out.with_name(f".part-{os.getpid()}-{out.name}")
    written = 0
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("w", newline="", encoding="utf-8") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(["node", "predicted", *(f"p_{name}" for name in names)])
            ids = _ids(graph)
            for logits in predict_files(network, features):
                shares = logits.double().softmax(1)
                for row, best in zip(shares.tolist(), shares.argmax(1).tolist(), strict=True):
                    lines.writerow([next(ids), names[best], *row])
                    written += 1
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, out)
    except OSError as error:
        raise GWNError(f"cannot write {out}: {error.strerror}; choose another place with --out") from None
    finally:
        partial.unlink(missing_ok=True)
    return written


def _ids(graph: GraphFolder) -> Iterator[object]:
    named: Iterable[object] | None = graph.node_ids()
    return iter(range(graph.num_nodes) if named is None else named)
