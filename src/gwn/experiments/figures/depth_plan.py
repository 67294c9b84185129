"""Which models are trained how deep, on what, how often: the plan of `figure-depth`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gwn.experiments.figures.trained import Wanted

DEPTHS = (2, 4, 8, 16, 32, 64)
BEYOND = (128, 256, 1024)
"""Deeper than the paper, for the models whose states stay finite there."""

TRAINING = {"epochs": 100, "patience": 30}
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
    _wave("physical wave", "physical", "gwn", True, laplacian="physical", activation="none"),
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


class Cell(NamedTuple):
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


def cells(datasets: tuple[DeepDataset, ...]) -> list[Cell]:
    """Every point: many runs up to 64 layers, one beyond."""
    usual = [Cell(d, m, depth, d.runs) for d in datasets for m in MODELS for depth in DEPTHS if depth <= d.deepest]
    deep = [Cell(d, m, depth, 1) for d in datasets if d.beyond for depth in BEYOND for m in MODELS if m.beyond]
    return usual + deep


def in_order(plan: list[Cell]) -> Iterator[tuple[Cell, int]]:
    """(cell, number of runs to have) so that a picture of everything is there early: first one run of each, shallow
    before deep, one dataset after the other, then the second run, and so on; what lies beyond the paper after each."""
    names = list(dict.fromkeys(cell.dataset.name for cell in plan))
    for runs in range(1, max(cell.runs for cell in plan) + 1):
        for deep in (False, True):
            for cell in sorted(plan, key=lambda cell: (names.index(cell.dataset.name), cell.depth)):
                if cell.runs >= runs and (cell.depth > DEPTHS[-1]) == deep:
                    yield cell, runs
