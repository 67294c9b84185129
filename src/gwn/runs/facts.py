"""What a run says of itself: its records, and the answers of its network on the test nodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support
from torch import Tensor

from gwn.data import Split
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.io import read_json, require_shape
from gwn.networks import GWN
from gwn.training import TrainedModel
from gwn.training.checkpoint import Curves
from gwn.training.experiment import history_file
from gwn.training.loop import predict_logits
from gwn.training.loss import AS_IT_IS, Scaling
from gwn.training.outputs import probabilities

BINS = 10
MOST_NEIGHBOURS = 12
"""Around the node whose wave is shown."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassScores:
    """How well one class is found among the test nodes; `precision` is None where the class is never predicted."""

    name: str
    count: int
    predicted: int
    precision: float | None
    recall: float | None
    f1: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """What the network says of the test nodes.

    nodes, known, predicted   [n]
    confidence                [n] the probability of the predicted class
    """

    nodes: Tensor
    known: NDArray[np.int64]
    predicted: NDArray[np.int64]
    confidence: NDArray[np.float64]
    classes: tuple[str, ...]

    @property
    def confusion(self) -> NDArray[np.int64]:
        """[c, c] test nodes of a class (row) by what they were predicted as (column)."""
        found: NDArray[np.int64] = confusion_matrix(self.known, self.predicted, labels=range(len(self.classes)))
        return found

    @property
    def by_class(self) -> list[ClassScores]:
        precision, recall, f1, count = precision_recall_fscore_support(
            self.known, self.predicted, labels=range(len(self.classes)), zero_division=0.0
        )
        made = np.bincount(self.predicted, minlength=len(self.classes))
        return [
            ClassScores(
                name=name,
                count=int(count[k]),
                predicted=int(made[k]),
                precision=float(precision[k]) if made[k] else None,
                recall=float(recall[k]) if count[k] else None,
                f1=float(f1[k]),
            )
            for k, name in enumerate(self.classes)
        ]

    @property
    def calibration(self) -> list[tuple[float, float, int]]:
        """For each of ten bins of confidence that has nodes: mean confidence, share that is right, nodes."""
        place = np.minimum((self.confidence * BINS).astype(int), BINS - 1)
        right = self.known == self.predicted
        return [
            (float(self.confidence[inside].mean()), float(right[inside].mean()), int(inside.sum()))
            for inside in (place == number for number in range(BINS))
            if inside.any()
        ]

    @property
    def calibration_error(self) -> float:
        """The mean distance between confidence and share that is right, bins weighted by their nodes."""
        return sum(abs(mean - right) * count for mean, right, count in self.calibration) / len(self.known)

    def mistakes(self, most: int) -> list[int]:
        """Places of the wrong answers, the most confident first."""
        wrong = np.flatnonzero(self.known != self.predicted)
        return [int(place) for place in wrong[np.argsort(-self.confidence[wrong], kind="stable")][:most]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Numbers:
    """Predicted numbers of the test nodes, in the units of the table."""

    nodes: Tensor
    known: NDArray[np.float64]
    predicted: NDArray[np.float64]

    @property
    def mean_error(self) -> float:
        """The mean absolute error."""
        return float(np.abs(self.predicted - self.known).mean())

    def mistakes(self, most: int) -> list[int]:
        """Places of the largest errors."""
        return [int(place) for place in np.argsort(-np.abs(self.predicted - self.known), kind="stable")[:most]]


def answers_of(trained: TrainedModel, graph: Graph, split: Split) -> Answers | Numbers:
    """The answers of this run's network on its test nodes, or on its validation nodes where it has no others."""
    judged = split.test if split.test.numel() else split.val
    dtype = next((parameter.dtype for parameter in trained.network.parameters()), torch.float32)
    logits = predict_logits(trained.network.to("cpu"), graph.to("cpu", dtype))[judged]
    if not bool(torch.isfinite(logits).all()):
        raise GWNError("the model overflows on this graph; retrain with a smaller time or tau")
    if trained.task == "regression":
        return Numbers(
            nodes=judged,
            known=graph.labels[judged].double().cpu().numpy(),
            predicted=trained.scaling.undo(logits).double().cpu().numpy().reshape(-1),
        )
    shares = probabilities(trained.corrected(logits), trained.run.temperature)
    return Answers(
        nodes=judged,
        known=graph.labels[judged].cpu().numpy(),
        predicted=shares.argmax(1).numpy(),
        confidence=shares.max(1).values.numpy(),
        classes=tuple(trained.class_names),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Wave:
    """The wave around one node: the margin of one class over another, as it is carried from step to step.

    nodes    [m] the node itself, then its neighbours
    pairs    edges among them, by their places in `nodes`
    values   [n + 1, m]
    times    [n + 1]
    zero     what zero stands for: the part of the margin that is the same at every node
    """

    nodes: list[int]
    pairs: list[tuple[int, int]]
    values: list[list[float]]
    times: list[float]
    zero: float
    total_neighbours: int


def wave_around(
    network: Any, graph: Graph, node: int, target: int, rival: int | None, scaling: Scaling = AS_IT_IS
) -> Wave | None:
    """The margin of `target` over `rival` at the node and around it; None for a network without a wave.

    The channels are combined as the network's answer combines them: by least squares on the last state, which is the
    head itself where it is linear.
    """
    network = getattr(network, "network", network)
    if not isinstance(network, GWN) or graph.num_features != network.phi0.first.weight.shape[0]:
        return None
    dtype = next(network.parameters()).dtype
    seen = graph.to("cpu", dtype)
    states = network.trajectory(seen.x, seen.edge_index, seen.edge_weight).double()
    logits = predict_logits(network, seen).double()
    margin = logits[:, target] - (0.0 if rival is None else logits[:, rival])
    columns = torch.cat([states[-1], states.new_ones(states.shape[1], 1)], dim=1)
    solution = torch.linalg.lstsq(columns, margin[:, None], driver="gelsd").solution
    source, target_ends = graph.edge_index
    around = torch.unique(torch.cat([target_ends[source == node], source[target_ends == node]]))
    around = around[around != node]
    signal = scaling.spread * (states @ solution[:-1]).squeeze(2)
    strongest = signal[:, around].abs().amax(0).argsort(descending=True, stable=True)[:MOST_NEIGHBOURS]
    nodes = [node, *around[strongest].tolist()]
    place = {number: index for index, number in enumerate(nodes)}
    among = torch.isin(graph.edge_index, torch.tensor(nodes)).all(0)
    ends = graph.edge_index[:, among].t().tolist()
    pairs = sorted({(min(place[a], place[b]), max(place[a], place[b])) for a, b in ends if a != b})
    return Wave(
        nodes=nodes,
        pairs=pairs,
        values=[[float(f"{value:.5g}") for value in row] for row in signal[:, nodes].tolist()],
        times=[round(step * network.scheme.tau, 3) for step in range(states.shape[0])],
        zero=float(scaling.restore(solution[-1])),
        total_neighbours=int(around.numel()),
    )


def learning_curves(folder: Path, number: int) -> dict[str, Any] | None:
    """The learning curves of a run; None for runs of version 0.1.0, which kept none."""
    path = history_file(folder, number)
    if not path.exists():
        return None
    curves = read_json(path)
    points = [(int, float, type(None))]
    named = dict.fromkeys(Curves._fields, points)
    require_shape(curves, {"epoch": [int], "best_epoch": int, **named}, str(path))
    if len({len(curves[name]) for name in ("epoch", *named)}) > 1:
        raise GWNError(f"{path} has curves of different lengths; it was edited: train again")
    return curves
