"""`figure-depth`: test accuracy and Dirichlet energy against the number of layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gwn.adjacency import adjacency_of
from gwn.graph import Graph
from gwn.paper.curve_data import Axis, CurveData, Panel, Series, numbers
from gwn.paper.exhibit import Context, Exhibit
from gwn.paper.trained import TRAINING, Trained, Wanted, accuracy_series, runs_a_point, train_missing, trained_so_far
from gwn.sparse import matmul
from gwn.training import load_trained
from gwn.training.loop import predict_logits

DEPTHS = (2, 4, 8, 16, 32, 64)
BEYOND = (128, 256, 1024)
"""Deeper than the paper, for the models whose states stay finite there."""

WIDTH = 64


@dataclass(frozen=True, kw_only=True, eq=False)
class DeepModel:
    """A model and the setting that is its number of layers; `key` is how it is drawn."""

    label: str
    key: str
    model: str
    setting: str = "num_layers"
    given: Mapping[str, Any] = field(default_factory=lambda: {"hidden_channels": WIDTH})
    beyond: bool = False

    def wanted(self, dataset: str, depth: int) -> Wanted:
        layers = float(depth) if self.setting == "time" else depth
        return Wanted(
            dataset=dataset, model=self.model, settings={**self.given, self.setting: layers}, training=TRAINING
        )


def _wave(label: str, key: str, model: str, beyond: bool = False, **given: Any) -> DeepModel:
    """A step of length one is a layer; encoders and read-out are the paper's."""
    settings = {"hidden_channels": WIDTH, "tau": 1.0, "readout": "last", **given}
    return DeepModel(label=label, key=key, model=model, setting="time", given=settings, beyond=beyond)


MODELS = (
    _wave("GWN-sym", "gwn-sym", "gwn-sym"),
    _wave("GWN-sym, rescaled", "gwn-sym-rescaled", "gwn-sym", True, scheme="leapfrog-rescaled"),
    _wave("GWN-fa", "gwn-fa", "gwn-fa"),
    _wave("physical wave", "physical", "gwn-plus", True, laplacian="physical", activation="none"),
    DeepModel(label="GCN", key="gcn", model="gcn"),
    DeepModel(label="GAT", key="gat", model="gat"),
    DeepModel(label="SGC", key="sgc", model="sgc", setting="hops", given={}),
    DeepModel(label="JK-Net", key="jk-net", model="jk-net"),
    DeepModel(label="ResGCN", key="resgcn", model="resgcn"),
    DeepModel(label="GCNII", key="gcnii", model="gcnii"),
    DeepModel(label="AIR", key="air", model="air"),
    DeepModel(label="GRAND", key="grand", model="grand", setting="time"),
    DeepModel(label="GraphCON", key="graphcon", model="graphcon"),
)


@dataclass(frozen=True, kw_only=True, eq=False)
class DeepDataset:
    """How often and how deep a dataset is gone through."""

    name: str
    title: str
    runs: int
    deepest: int = DEPTHS[-1]
    beyond: bool = False


DATASETS = (
    DeepDataset(name="cora", title="Cora", runs=3, beyond=True),
    DeepDataset(name="citeseer", title="CiteSeer", runs=2),
    DeepDataset(name="pubmed", title="PubMed", runs=1, deepest=16),
)
QUICK = (DeepDataset(name="cora", title="Cora", runs=1, deepest=4),)


class DepthPoint(NamedTuple):
    """One point of the figure, and how many runs it is the mean of."""

    dataset: DeepDataset
    model: DeepModel
    depth: int
    runs: int

    @property
    def name(self) -> str:
        return f"{self.dataset.name}, {self.model.label}, {self.depth} layers"

    @property
    def wanted(self) -> Wanted:
        return self.model.wanted(self.dataset.name, self.depth)


def points(datasets: tuple[DeepDataset, ...]) -> list[DepthPoint]:
    """Every point: many runs up to 64 layers, one beyond."""
    usual = [
        DepthPoint(d, m, depth, d.runs) for d in datasets for m in MODELS for depth in DEPTHS if depth <= d.deepest
    ]
    deep = [DepthPoint(d, m, depth, 1) for d in datasets if d.beyond for depth in BEYOND for m in MODELS if m.beyond]
    return usual + deep


def in_order(plan: list[DepthPoint]) -> Iterator[tuple[DepthPoint, int]]:
    """(point, number of runs to have) so that a picture of everything is there early: first one run of each, shallow
    before deep, one dataset after the other, then the second run, and so on; what lies beyond the paper after each."""
    names = list(dict.fromkeys(point.dataset.name for point in plan))
    for runs in range(1, max(point.runs for point in plan) + 1):
        for deep in (False, True):
            for point in sorted(plan, key=lambda point: (names.index(point.dataset.name), point.depth)):
                if point.runs >= runs and (point.depth > DEPTHS[-1]) == deep:
                    yield point, runs


def relative_energy(x: Tensor, graph: Graph) -> float:
    """`tr(X^T (I - Â) X) / ||X||²`, `Â = D~^-1/2 (A + I) D~^-1/2`: in [0, 2), and 0 where all nodes of a component
    carry the same feature up to `sqrt(d~)`, that is, over-smoothing; independent of the scale of X."""
    x = x.double()
    matrix = adjacency_of(
        graph.edge_index, graph.edge_weight, graph.num_nodes, dtype=torch.float64, self_loops="add"
    ).matrix
    x = x / x.abs().max().clamp_min(1e-300)  # the square of a grown wave would overflow
    norm = x.square().sum()
    return float((norm - (x * matmul(matrix, x)).sum()) / norm) if float(norm) > 0 else 0.0


@torch.no_grad()
def last_features(network: nn.Module, graph: Graph) -> Tensor:
    """What the last linear map sees, [N, d]; for a network that is one linear map and propagation, its logits without
    the bias."""
    convs: Any = getattr(network, "convs", [None])
    last = getattr(network, "head", convs[-1])
    if last is None:
        bias = getattr(network, "bias", None)
        logits = predict_logits(network, graph)
        return logits - bias if isinstance(bias, Tensor) else logits
    seen: list[Tensor] = []

    def remember(_: nn.Module, inputs: tuple[Any, ...]) -> None:
        seen.append(inputs[0])

    handle = last.register_forward_pre_hook(remember)
    try:
        predict_logits(network, graph)
    finally:
        handle.remove()
    return seen[-1]


CAPTION = (
    "Test accuracy (mean and 95 % interval where there are several runs) and Dirichlet energy tr(X'(I - A)X)/||X||² "
    "of the features that the last linear map sees, against the number of layers; tau = 1, so a layer is a step of "
    "the wave. Crosses: every run diverged. Places that were not run are empty; the provenance lists them."
)


def compute(context: Context) -> tuple[CurveData]:
    """Train what is missing while there is time, then put together all that is there."""
    datasets = QUICK if context.quick else DATASETS
    plan = points(datasets)
    train_missing(context, EXHIBIT.name, [(point.name, point.wanted, runs) for point, runs in in_order(plan)])
    found = trained_so_far(context, [(point, point.wanted, point.runs) for point in plan])
    energies: dict[DepthPoint, float | None] = {}
    for place, (point, trained) in enumerate(found.items()):
        context.advance(place, len(found), "energies")
        energies[point] = _energy(trained)

    def accuracy(dataset: DeepDataset, model: DeepModel) -> Series:
        here = [(point.depth, t) for point, t in found.items() if point.dataset is dataset and point.model is model]
        return accuracy_series(model.label, model.key, here)

    layers = Axis(label="layers", scale="log")
    panels = [
        Panel(
            title=f"{dataset.title}, {runs_a_point(t for c, t in found.items() if c.dataset is dataset)}",
            kind="lines",
            x=layers,
            y=Axis(label="test accuracy", unit="%"),
            series=tuple(s for s in (accuracy(dataset, m) for m in MODELS) if s.x),
        )
        for dataset in datasets
    ] + [
        Panel(
            title=dataset.title,
            kind="lines",
            x=layers,
            y=Axis(label="Dirichlet energy / ||X||²", scale="log"),
            series=tuple(s for s in (_energies(energies, dataset, m) for m in MODELS) if s.x),
        )
        for dataset in datasets
    ]
    missing = [f"{c.name}: {_there(found, c)}/{c.runs} runs" for c in plan]
    return EXHIBIT.figure(
        caption=CAPTION,
        panels=tuple(panels),
        columns=len(datasets),
        provenance={
            "runs": [trained.describe() for trained in found.values()],
            "not run": [line for line, c in zip(missing, plan, strict=True) if _there(found, c) < c.runs],
        },
    )


def _there(found: dict[DepthPoint, Trained], point: DepthPoint) -> int:
    return len(found[point].runs) if point in found else 0


def _energies(energies: dict[DepthPoint, float | None], dataset: DeepDataset, model: DeepModel) -> Series:
    here = {c.depth: value for c, value in energies.items() if c.dataset is dataset and c.model is model}
    return Series(
        label=model.label,
        key=model.key,
        x=numbers([*here]),
        y=numbers([None if value is None else max(value, 1e-9) for value in here.values()]),
        marks=tuple("diverged" if value is None else "" for value in here.values()),
    )


def _energy(trained: Trained) -> float | None:
    """The mean over the finished runs."""
    graph = trained.dataset.graph
    values = [
        relative_energy(last_features(load_trained(trained.folder, run.run).network, graph), graph)
        for run in trained.finished
    ]
    return sum(values) / len(values) if values else None


EXHIBIT = Exhibit(
    name="figure-depth",
    title="Accuracy and Dirichlet energy against depth",
    place="figure 3, over-smoothing",
    compute=compute,
)
