"""`figure-stability`: accuracy against the step length, and the growth per step, predicted and measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gwn.data import DATASETS
from gwn.models import model_spec
from gwn.networks import GWN
from gwn.paper.cell import TAUS
from gwn.paper.curve_data import Axis, CurveData, Panel, Series, numbers
from gwn.paper.exhibit import Context, Exhibit
from gwn.paper.trained import (
    PAPER_MAPS,
    TRAINING,
    Trained,
    Wanted,
    accuracy_series,
    runs_a_point,
    train_missing,
    trained_so_far,
)
from gwn.stability import analyse
from gwn.training import TrainedModel, load_trained

TIME = 10.0


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


MODELS = (
    Stepped(label="GWN-sym", key="gwn-sym", model="gwn-sym", given={}),
    Stepped(label="GWN-fa", key="gwn-fa", model="gwn-fa", given={}),
    Stepped(
        label="physical, leapfrog", key="physical", model="gwn-plus", given={**PAPER_MAPS, "laplacian": "physical"},
        bound=math.sqrt(2),
    ),
    Stepped(
        label="physical, newmark", key="physical-newmark", model="gwn-plus",
        given={**PAPER_MAPS, "laplacian": "physical", "scheme": "newmark"}, least=1.0,
    ),
    Stepped(
        label="physical, bessel", key="physical-bessel", model="gwn-plus",
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


class StepPoint(NamedTuple):
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


def points(runs: Mapping[str, int]) -> list[StepPoint]:
    """Large steps of all datasets first: they are the short runs."""
    every = (StepPoint(name, model, tau) for tau in reversed(TAUS) for name in runs for model in MODELS)
    return [point for point in every if point.model.least <= point.tau <= point.model.bound]


STEPS = 40
"""Of a measured run, at least."""


def growth_panel(title: str, found: Mapping[StepPoint, Trained]) -> Panel:
    """Lines for what is predicted, markers for what was measured, and a line at 1 = bounded."""
    series: list[Series] = []
    for key in dict.fromkeys(point.model.key for point in found):
        here = sorted((point for point in found if point.model.key == key), key=lambda point: point.tau)
        taus = numbers([point.tau for point in here])
        both = [growth(found[point]) for point in here]
        if any(predicted is not None for predicted, _ in both):
            label = here[0].model.label
            series.append(Series(label=label, key=f"{key} predicted", x=taus, y=numbers([a for a, _ in both])))
            series.append(Series(label="", key=f"{key} measured", x=taus, y=numbers([b for _, b in both])))
    taus = numbers(sorted({point.tau for point in found}))
    series.append(Series(label="", key="reference", x=taus, y=numbers([1.0] * len(taus))))
    return Panel(
        title=f"{title}: growth per step",
        kind="lines",
        x=Axis(label="step length tau", scale="log"),
        y=Axis(label="growth per step", scale="log"),
        series=tuple(series),
    )


def growth(trained: Trained) -> tuple[float | None, float | None]:
    """(predicted, measured) factor of one step; None for a network without a wave, or where no run finished."""
    if not trained.finished:
        return None, None
    best, graph = load_trained(trained.folder), trained.dataset.graph
    if not isinstance(best.network, GWN):
        return None, None
    network, wide = _longer(best, best.network).double(), graph.to(dtype=torch.float64)
    states = network.trajectory(wide.x, wide.edge_index, wide.edge_weight)
    return analyse(best.network, graph).growth, measured_growth(states)


def _longer(best: TrainedModel, network: GWN) -> GWN:
    """The same weights for more steps, where a fixed operator allows it: over two steps a growth cannot be measured."""
    if not network.laplacian.fixed or network.num_steps >= STEPS:
        return network
    settings = {**best.config["settings"], "time": STEPS * network.scheme.tau}
    facts = best.config["dataset"]
    longer = model_spec(best.config["model"]).build(facts["features"], facts["classes"], **settings)
    longer.load_state_dict(network.state_dict())
    assert isinstance(longer, GWN)
    return longer


def measured_growth(states: Tensor) -> float:
    """The mean factor by which the norm grew in a step, over the second half of the trajectory [n + 1, N, d]."""
    norms = states.double().flatten(1).norm(dim=1)
    half = (len(norms) - 1) // 2
    return float((norms[-1] / norms[half]) ** (1 / (len(norms) - 1 - half)))


CAPTION = (
    "Test accuracy (mean, and 95 % interval where there are several runs) against the step length tau, up to T = "
    "{time:g}, and the growth per step on the first graph: predicted from the spectrum (lines) and measured over "
    "the second half of a run of the trained networks, of {steps} steps or more where the operator is fixed "
    "(markers). A growth of 1 is bounded. GWN-sym and GWN-fa grow for every tau. Leapfrog on the physical wave ends "
    "at its bound; Newmark and Bessel take any step and do not grow, but for the drift of the smoothest mode, which "
    "is linear in time. GRAND is the heat equation by explicit Euler. Crosses: every run diverged."
)


def compute(context: Context) -> tuple[CurveData]:
    """Train what is missing while there is time, then put together all that is there."""
    runs = QUICK if context.quick else RUNS
    plan = points(runs)
    rounds = [
        (point.name, point.wanted, number)
        for number in range(1, max(runs.values()) + 1)
        for point in plan
        if runs[point.dataset] >= number
    ]
    train_missing(context, EXHIBIT.name, rounds)
    found = trained_so_far(context, [(point, point.wanted, runs[point.dataset]) for point in plan])
    shown = [name for name in runs if any(point.dataset == name for point in found)]
    panels = [_panel(name, found) for name in shown]
    if shown:
        at = {c: trained for c, trained in found.items() if c.dataset == shown[0]}
        panels.append(growth_panel(DATASETS[shown[0]].title, at))
    return EXHIBIT.figure(
        caption=CAPTION.format(time=TIME, steps=STEPS),
        panels=tuple(panels),
        columns=min(3, len(panels)),
        provenance={
            "runs": [trained.describe() for trained in found.values()],
            "not run": [c.name for c in plan if c not in found or len(found[c].runs) < runs[c.dataset]],
        },
    )


def _panel(dataset: str, found: dict[StepPoint, Trained]) -> Panel:
    return Panel(
        title=f"{DATASETS[dataset].title}, {runs_a_point(t for c, t in found.items() if c.dataset == dataset)}",
        kind="lines",
        x=Axis(label="step length tau", scale="log"),
        y=Axis(label="test accuracy", unit="%"),
        series=tuple(series for series in (_series(dataset, model, found) for model in MODELS) if series.x),
    )


def _series(dataset: str, model: Stepped, found: dict[StepPoint, Trained]) -> Series:
    here = [(point.tau, t) for point, t in found.items() if point.dataset == dataset and point.model is model]
    return accuracy_series(model.label, model.key, sorted(here, key=lambda point: point[0]))


EXHIBIT = Exhibit(
    name="figure-stability",
    title="Accuracy and growth against the step length",
    place="figure 4",
    compute=compute,
)
