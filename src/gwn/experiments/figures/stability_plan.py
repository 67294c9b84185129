"""Which models are trained with which step, on what, how often: the plan of `figure-stability`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gwn.experiments.figures.trained import Wanted

TAUS = (0.2, 0.5, 1.0, 2.0, 5.0)
TIME = 10.0
TRAINING = {"epochs": 100, "patience": 30}


@dataclass(frozen=True, kw_only=True, eq=False)
class Stepped:
    """A model and the setting that is its step, taken from `least`, below which it costs more than it tells, up to
    `bound`, the largest one it accepts."""

    label: str
    key: str
    model: str
    given: Mapping[str, Any]
    setting: str = "tau"
    least: float = 0.0
    bound: float = math.inf

    def wanted(self, dataset: str, tau: float) -> Wanted:
        settings = {**self.given, "time": TIME, self.setting: tau}
        return Wanted(dataset=dataset, model=self.model, settings=settings, training=TRAINING)


PAPER_MAPS = {"readout": "last", "activation": "none"}
MODELS = (
    Stepped(label="GWN-sym", key="gwn-sym", model="gwn-sym", given={}),
    Stepped(label="GWN-fa", key="gwn-fa", model="gwn-fa", given={}),
    Stepped(
        label="physical, leapfrog", key="physical", model="gwn", given={**PAPER_MAPS, "laplacian": "physical"},
        bound=math.sqrt(2),
    ),
    Stepped(
        label="physical, newmark", key="physical-newmark", model="gwn",
        given={**PAPER_MAPS, "laplacian": "physical", "scheme": "newmark"}, least=1.0,
    ),
    Stepped(
        label="physical, bessel", key="physical-bessel", model="gwn",
        given={**PAPER_MAPS, "laplacian": "physical", "scheme": "bessel"},
    ),
    Stepped(label="GRAND, Euler", key="grand", model="grand", given={"method": "euler"}, setting="step_size"),
)  # fmt: skip

RUNS = {
    "texas": 3, "cornell": 3, "wisconsin": 3, "cora": 2, "citeseer": 2,
    "actor": 1, "photo": 1, "pubmed": 1, "cs": 1, "computers": 1, "deezer-europe": 1,
}  # fmt: skip
"""Runs of every dataset, small ones first; one of all before the second of any."""

QUICK = {"texas": 1}


class Cell(NamedTuple):
    """One point of the figure."""

    dataset: str
    model: Stepped
    tau: float

    @property
    def name(self) -> str:
        return f"{self.dataset}, {self.model.label}, tau = {self.tau:g}"

    @property
    def wanted(self) -> Wanted:
        return self.model.wanted(self.dataset, self.tau)


def cells(runs: Mapping[str, int]) -> list[Cell]:
    """Large steps of all datasets first: they are the short runs."""
    return [Cell(name, m, tau) for tau in reversed(TAUS) for name in runs for m in MODELS if m.least <= tau <= m.bound]
