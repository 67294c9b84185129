"""`figure-depth`: test accuracy and Dirichlet energy against the number of layers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gwn.adjacency import adjacency_of
from gwn.compare.verdict import listed
from gwn.data import DATASETS as CATALOGUE
from gwn.graph import Graph
from gwn.networks import GWN
from gwn.paper.accuracy_curve import ALL_DIVERGED, accuracy_series, best_peer, peer_line, runs_a_point
from gwn.paper.curve_data import Axis, CurveData, Panel, Series, numbers
from gwn.paper.exhibit import Context, Exhibit
from gwn.paper.trained import PAPER_MAPS, Trained, Wanted, train_missing, trained_so_far
from gwn.sparse import matmul
from gwn.training import load_trained
from gwn.training.loop import predict_logits

DEPTHS = (2, 4, 8, 16, 32, 64)
BEYOND = (128, 256)
"""Deeper than the paper, for the waves."""

WIDTH = 64
"""Of every model, so that depth is what differs."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DeepModel:
    """A model and the setting that is its number of layers; `key` is how it is drawn, and what is not prescribed here
    is tuned as the model `tuned_as` was."""

    label: str
    key: str
    model: str
    tuned_as: str
    setting: str = "num_layers"
    given: Mapping[str, Any] = field(default_factory=lambda: {"hidden_channels": WIDTH})
    beyond: bool = False

    def wanted(self, dataset: str, depth: int) -> Wanted:
        layers = float(depth) if self.setting == "time" else depth
        settings = {**self.given, self.setting: layers}
        return Wanted(dataset=dataset, model=self.model, settings=settings, tuned_as=self.tuned_as)


def _wave(label: str, key: str, model: str, tuned_as: str, **given: Any) -> DeepModel:
    """A step of length one is a layer; encoders and read-out are the paper's."""
    settings = {"hidden_channels": WIDTH, "tau": 1.0, **PAPER_MAPS, **given}
    return DeepModel(label=label, key=key, model=model, tuned_as=tuned_as, setting="time", given=settings, beyond=True)


def _peer(label: str, name: str, **changed: Any) -> DeepModel:
    return DeepModel(label=label, key=name, model=name, tuned_as=name, **changed)


MODELS = (
    _wave("GWN-sym", "gwn-sym", "gwn-sym", "gwn-sym", scheme="leapfrog"),
    _wave("GWN-sym, rescaled", "gwn-sym-rescaled", "gwn-sym", "gwn-sym", scheme="leapfrog-rescaled"),
    _wave("GWN-fa", "gwn-fa", "gwn-fa", "gwn-fa", scheme="leapfrog"),
    _wave("physical wave", "physical", "gwn-plus", "gwn-sym", laplacian="physical", scheme="leapfrog"),
    _peer("GCN", "gcn"),
    _peer("GAT", "gat"),
    _peer("SGC", "sgc", setting="hops", given={}),
    _peer("JK-Net", "jk-net"),
    _peer("ResGCN", "resgcn"),
    _peer("GCNII", "gcnii"),
    _peer("AIR", "air"),
    # a step of explicit Euler is a layer, as a step of leapfrog is
    _peer("GRAND", "grand", setting="time", given={"hidden_channels": WIDTH, "method": "euler", "step_size": 1.0}),
    _peer("GraphCON", "graphcon"),
)

RUNS = 5
DATASETS = ("cora", "citeseer", "pubmed")


class DepthPoint(NamedTuple):
    """One point of the figure."""

    dataset: str
    model: DeepModel
    depth: int

    @property
    def name(self) -> str:
        return f"{self.dataset}, {self.model.label}, {self.depth} layers"

    @property
    def wanted(self) -> Wanted:
        return self.model.wanted(self.dataset, self.depth)


def points(datasets: Sequence[str], deepest: int) -> list[DepthPoint]:
    """Every model on every dataset: the paper's depths, and those beyond for the waves."""
    return [
        DepthPoint(dataset, model, depth)
        for dataset in datasets
        for model in MODELS
        for depth in (*DEPTHS, *(BEYOND if model.beyond else ()))
        if depth <= deepest
    ]


def in_order(plan: Sequence[DepthPoint], runs: int) -> list[tuple[DepthPoint, int]]:
    """(point, number of runs to have): small graphs, shallow networks and first runs come first, but none of the three
    waits for all of another, so that most of the picture is there early; a first run shows more than a fifth one."""
    every = [(point, number) for number in range(1, runs + 1) for point in plan]
    return sorted(every, key=lambda one: CATALOGUE[one[0].dataset].nodes * math.log2(one[0].depth) * one[1] ** 2)


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

    if isinstance(network, GWN):
        network.precompute = network.evaluates_classes = False  # neither of which would form the features
    handle = last.register_forward_pre_hook(remember)
    try:
        predict_logits(network, graph)
    finally:
        handle.remove()
    return seen[-1]


CAPTION = (
    "Test accuracy (mean, and for the coloured curves its 95 % interval from three runs on) and Dirichlet energy "
    "tr(X'(I - A)X)/||X||² of the features that the last linear map sees (of one run), against the number of layers; "
    "tau = 1, so a layer is a step of the wave. All are {width} wide; the other settings are those that each model's "
    "search chose at a depth of its own{default}, not chosen again for each depth. Dotted: the best peer of the "
    "tables. Crosses below: every run diverged, as float32 does where a wave grows without bound; a white cross on a "
    "point: some did; a cross after a name: its curve ends where every run did. GWN-sym, rescaled, is the same network "
    "divided by its growth."
)
IN_WORDS = ("gwn-sym", "gwn-sym-rescaled", "gwn-fa", "physical", "gcn")
"""The curves that the caption's first sentence is about."""


def finding(accuracies: Mapping[str, Panel]) -> str:
    """What becomes of a model from its best depth to the paper's deepest, where points have an interval: of fewer runs
    nothing is said."""
    said = []
    for model in (model for model in MODELS if model.key in IN_WORDS):
        losses, diverged, some = dict[str, float](), [], False
        for title, panel in accuracies.items():
            curves = [series for series in panel.series if series.key == model.key]
            at = {x or 0.0: (y, mark) for s in curves for x, y, mark in zip(s.x, s.y, s.marks, strict=True)}
            known = {
                x or 0.0: y
                for s in curves
                for x, y, low in zip(s.x, s.y, s.low, strict=True)
                if y is not None and low is not None and (x or 0.0) <= DEPTHS[-1]
            }
            mark = at.get(float(DEPTHS[-1]), (None, ""))[1]
            if mark == ALL_DIVERGED and known:
                diverged.append(title)
            elif (last := known.get(float(DEPTHS[-1]))) is not None:
                losses[title] = max(known.values()) - last
                some |= bool(mark)
        finished = " in the runs that finish" if some else ""
        parts = [f"loses {_span([*losses.values()])} points on {listed([*losses])}{finished}"] if losses else []
        parts += [f"diverges on {listed(diverged)}"] if diverged else []
        if parts:
            said.append(f"{model.label} {' and '.join(parts)}")
    return f"From its best depth to {DEPTHS[-1]} layers {'; '.join(said)}. " if said else ""


def _span(values: Sequence[float]) -> str:
    low, high = f"{min(values):.1f}", f"{max(values):.1f}"
    return low if low == high else f"{low} to {high}"


def not_measured(missing: Mapping[DepthPoint, int], runs: int) -> str:
    """What the plan has and the figure has not, in a sentence."""
    if not missing:
        return ""
    empty = [point for point, there in missing.items() if there == 0]
    at = {
        CATALOGUE[dataset].title: sorted({point.depth for point in empty if point.dataset == dataset})
        for dataset in dict.fromkeys(point.dataset for point in empty)
    }
    words = [f"{title}: some models at {', '.join(map(str, depths))} layers" for title, depths in at.items()]
    few = len(missing) - len(empty)
    words += [f"the last of {runs} runs of {few} points"] if few else []
    return f" Not measured yet: {'; '.join(words)}."


def compute(context: Context) -> tuple[CurveData]:
    """Train what is missing while there is time, then put together all that is there."""
    datasets, deepest, runs = (DATASETS[:1], 4, 1) if context.quick else (DATASETS, BEYOND[-1], RUNS)
    plan = points(datasets, deepest)
    train_missing(context, EXHIBIT.name, [(p.name, p.wanted, number) for p, number in in_order(plan, runs)])
    found = trained_so_far(context, EXHIBIT.name, [(point, point.wanted, runs) for point in plan])
    energies: dict[DepthPoint, float | None] = {}
    for place, (point, trained) in enumerate(found.items()):
        context.advance(place, len(found), "energies")
        energies[point] = _energy(trained)
    depths = {name: {point.depth for point in found if point.dataset == name} for name in datasets}
    shown = [name for name in datasets if len(depths[name]) > 1] or [*datasets[:1]]  # one depth is no curve
    accuracies = {CATALOGUE[dataset].title: _accuracy(context, dataset, found) for dataset in shown}
    missing = {point: there for point in plan if (there := _there(found, point)) < runs}
    untuned = sorted(
        {CATALOGUE[p.dataset].title for p, t in found.items() if t.settings_from is None and p.dataset in shown}
    )
    default = f" (on {' and '.join(untuned)} defaults, for models that were not searched there)" if untuned else ""
    caption = CAPTION.format(width=WIDTH, default=default)
    return EXHIBIT.figure(
        caption=f"{finding(accuracies)}{caption}{not_measured(missing, runs)}",
        panels=(*accuracies.values(), *(_energies(dataset, energies) for dataset in shown)),
        columns=len(shown),
        provenance={
            "runs": [{**t.describe(), "notes": {"energy": energies[point]}} for point, t in found.items()],
            "not run": [f"{point.name}: {there}/{runs} runs" for point, there in missing.items()],
        },
    )


def _there(found: Mapping[DepthPoint, Trained], point: DepthPoint) -> int:
    return len(found[point].runs) if point in found else 0


LAYERS = Axis(label="layers", scale="log")


def _accuracy(context: Context, dataset: str, found: Mapping[DepthPoint, Trained]) -> Panel:
    here = {point: trained for point, trained in found.items() if point.dataset == dataset}
    series = [
        accuracy_series(m.label, m.key, [(p.depth, trained.runs) for p, trained in here.items() if p.model is m])
        for m in MODELS
    ]
    peer = best_peer(context.results, dataset, CATALOGUE[dataset].default_split)
    if peer is not None and here:
        series.insert(0, peer_line(peer, [point.depth for point in here]))
    return Panel(
        title=f"{CATALOGUE[dataset].title}, {runs_a_point(trained.runs for trained in here.values())}",
        kind="lines",
        x=LAYERS,
        y=Axis(label="test accuracy", unit="%"),
        series=tuple(one for one in series if one.x),
    )


def _energies(dataset: str, energies: Mapping[DepthPoint, float | None]) -> Panel:
    series = (_energy_series(dataset, model, energies) for model in MODELS)
    return Panel(
        title=CATALOGUE[dataset].title,
        kind="lines",
        x=LAYERS,
        y=Axis(label="Dirichlet energy / ||X||²", scale="log"),
        series=tuple(one for one in series if one.x),
    )


def _energy_series(dataset: str, model: DeepModel, energies: Mapping[DepthPoint, float | None]) -> Series:
    here = {p.depth: value for p, value in energies.items() if p.dataset == dataset and p.model is model}
    return Series(
        label=model.label,
        key=model.key,
        x=numbers([*here]),
        y=numbers([None if value is None else max(value, 1e-9) for value in here.values()]),
        marks=tuple("diverged" if value is None else "" for value in here.values()),
    )


def _energy(trained: Trained) -> float | None:
    """Of the first run that finished."""
    if trained.notes.get("energy") is not None:
        return float(trained.notes["energy"])
    for run in trained.finished[:1]:
        if not (trained.folder / f"run-{run.run:02d}.safetensors").is_file():
            return None  # known from a record that did not note it
        graph = trained.dataset.graph
        return relative_energy(last_features(load_trained(trained.folder, run.run).network, graph), graph)
    return None


EXHIBIT = Exhibit(
    name="figure-depth",
    title="Accuracy and Dirichlet energy against depth",
    place="figure 3, over-smoothing",
    compute=compute,
)
