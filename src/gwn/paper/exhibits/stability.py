"""`figure-stability`: accuracy against the step length, and the growth per step, predicted and measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gwn.compare.verdict import listed
from gwn.data import DATASETS
from gwn.models import model_spec
from gwn.networks import GWN
from gwn.paper.accuracy_curve import accuracy_series, best_peer, peer_line, runs_a_point
from gwn.paper.cell import BUDGETS, PAPERS_OWN, TAUS, Cell
from gwn.paper.curve_data import Axis, CurveData, Panel, Series, numbers
from gwn.paper.exhibit import Context, Exhibit
from gwn.paper.records import read_cell
from gwn.paper.trained import PAPER_MAPS, Trained, Wanted, train, train_missing, trained_so_far
from gwn.stability import analyse
from gwn.training import RunResult, TrainedModel, load_trained


@dataclass(frozen=True, kw_only=True, eq=False)
class Stepped:
    """A model and the setting that is its step, taken from `least`, below which it costs more than it tells, up to
    `bound`, the largest one it accepts.

    tuned_as   the model whose tuned settings are the rest, the time T among them
    small      whether large graphs are left out
    """

    label: str
    key: str
    model: str
    tuned_as: str
    given: Mapping[str, Any] = field(default_factory=dict)
    setting: str = "tau"
    least: float = 0.0
    bound: float = math.inf
    small: bool = False

    def wanted(self, dataset: str, tau: float) -> Wanted:
        settings = {**self.given, self.setting: tau}
        return Wanted(dataset=dataset, model=self.model, settings=settings, tuned_as=self.tuned_as)


PHYSICAL = {**PAPER_MAPS, "laplacian": "physical"}

MODELS = (
    Stepped(label="GWN-sym", key="gwn-sym", model="gwn-sym", tuned_as="gwn-sym", given={"scheme": "leapfrog"}),
    Stepped(label="GWN-fa", key="gwn-fa", model="gwn-fa", tuned_as="gwn-fa", given={"scheme": "leapfrog"}),
    Stepped(
        label="physical, leapfrog", key="physical", model="gwn-plus", tuned_as="gwn-sym",
        given={**PHYSICAL, "scheme": "leapfrog"}, bound=math.sqrt(2), small=True,
    ),
    Stepped(
        label="physical, newmark", key="physical-newmark", model="gwn-plus", tuned_as="gwn-sym",
        given={**PHYSICAL, "scheme": "newmark"}, least=1.0, small=True,
    ),
    Stepped(
        label="GRAND", key="grand", model="grand", tuned_as="grand", given={"method": "euler"},
        setting="step_size", small=True,
    ),
)  # fmt: skip

SHOWN = (
    "texas", "cornell", "wisconsin", "cora", "citeseer", "actor",
    "photo", "cs", "deezer-europe", "pubmed", "computers",
)  # fmt: skip
RUNS = 5


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

    @property
    def cell(self) -> Cell | None:
        """The cell of the paper's table of every tau: the model tuned at this very tau."""
        if self.model.model not in PAPERS_OWN:
            return None
        split = DATASETS[self.dataset].default_split
        return Cell(dataset=self.dataset, split=split, row=self.model.model, tau=self.tau)

    @property
    def cost(self) -> float:
        """Of one run, about: edges times steps, and four times as much with attention, whose steps are not fixed."""
        spec = DATASETS[self.dataset]
        return (spec.nodes + spec.edges) / self.tau * (1 if self.model.key == "gwn-sym" else 4)


def points(datasets: Sequence[str]) -> list[StepPoint]:
    """Every model at every tau that it takes."""
    return [
        StepPoint(dataset, model, tau)
        for dataset in datasets
        for model in MODELS
        if not (model.small and BUDGETS[dataset].short)
        for tau in TAUS
        if model.least <= tau <= model.bound
    ]


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
    """(predicted, measured) factor of one step; None for a network without a wave, or where no run finished, and
    nothing is measured over fewer steps than `STEPS`: in the first ones the velocity counts."""
    if not trained.finished:
        return None, None
    best, graph = load_trained(trained.folder), trained.dataset.graph
    if not isinstance(best.network, GWN):
        return None, None
    predicted, network = analyse(best.network, graph).growth, _longer(best, best.network).double()
    if network.num_steps < STEPS:
        return predicted, None
    wide = graph.to(dtype=torch.float64)
    return predicted, measured_growth(network.trajectory(wide.x, wide.edge_index, wide.edge_weight))


def _longer(best: TrainedModel, network: GWN) -> GWN:
    """The same weights for more steps, where a fixed operator allows it."""
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
    "Test accuracy (mean, and from three runs on its 95 % interval) against the step length tau; dotted: the best peer "
    "of the tables. {tuned}Last panel: growth per step on {growth}, predicted from the spectrum (lines) and measured "
    "over the second half of a run of {steps} steps or more (markers; attention is trained for its own, fewer steps, "
    "and has none); 1 is bounded. GWN-sym and GWN-fa grow for every "
    "tau. Leapfrog on the physical wave ends at its bound; Newmark takes any step. GRAND is the heat equation by "
    "explicit Euler.{crosses}"
)


def crosses(panels: Iterable[Panel]) -> str:
    """What they mean, where there is one."""
    marked = any("diverged" in mark for panel in panels for series in panel.series for mark in series.marks)
    return " Crosses below: every run diverged; a white cross on a point: some did." if marked else ""


def finding(panels: Mapping[str, Panel]) -> str:
    """How much accuracy depends on tau, and on how many datasets the best tau reaches the best peer."""
    said = []
    for model in (model for model in MODELS if model.model in PAPERS_OWN):
        spans, reached, peers = {}, 0, 0
        for title, panel in panels.items():
            series = {one.key: one for one in panel.series}
            seen = [y for y in series[model.key].y if y is not None] if model.key in series else []
            if len(seen) == len(TAUS):
                spans[title] = max(seen) - min(seen)
                level = series["best-peer"].y[0] if "best-peer" in series else None
                peers += level is not None
                reached += level is not None and max(seen) >= level
        if spans:
            low, high = min(spans, key=lambda name: spans[name]), max(spans, key=lambda name: spans[name])
            span = f"{spans[high]:.1f} points ({high})"
            span = span if low == high else f"{spans[low]:.1f} ({low}) to {span}"
            beside = f" and reaches the best peer on {reached} of {peers} datasets" if peers else ""
            said.append(f"{model.label}'s accuracy changes by {span}{beside}")
    return f"Between tau = {TAUS[0]:g} and {TAUS[-1]:g} {'; '.join(said)}. " if said else ""


def how_tuned(found: Mapping[StepPoint, Measured]) -> str:
    """Which panels have settings that were tuned at each tau, and which points have one setting with tau changed."""
    own = [point for point in found if point.model.model in PAPERS_OWN]
    if not own:
        return ""
    once: dict[tuple[str, str], list[str]] = {}
    for point in (point for point in own if "cell" not in found[point].origin):
        title = DATASETS[point.dataset].title
        once.setdefault((point.model.label, title), []).append(f"{point.tau:g}")
    points = [f"{label} on {title} at {listed(taus)}" for (label, title), taus in once.items()]
    said = "tuned at each tau" if sum(map(len, once.values())) < len(own) else ""
    if points:
        said = f"{said}, but for {'; '.join(points)}, tuned once" if said else "tuned once, then tau changed"
    others = " The other models have their settings tuned once." if len(own) < len(found) else ""
    return f"GWN-sym and GWN-fa: {said}.{others} "


def not_measured(missing: Sequence[StepPoint], found: Mapping[StepPoint, Measured], runs: int) -> str:
    """What the plan has and the figure has not, in a sentence."""
    empty = [point for point in missing if point not in found]
    there = {point.dataset for point in found}
    whole = list(dict.fromkeys(DATASETS[p.dataset].title for p in empty if p.dataset not in there))
    parts = list(dict.fromkeys(DATASETS[p.dataset].title for p in empty if p.dataset in there))
    words = [", ".join(whole)] if whole else []
    words += [f"some points of {', '.join(parts)}"] if parts else []
    few = len(missing) - len(empty)
    words += [f"the last of {runs} runs of {few} points"] if few else []
    return f" Not measured yet: {'; '.join(words)}." if words else ""


CURVE = 3
"""Steps of one model that make a panel."""


def is_curve(points: Sequence[StepPoint]) -> bool:
    """Whether some model of a dataset has enough steps to be drawn."""
    return any(sum(point.model is model for point in points) >= CURVE for model in MODELS)


class Measured(NamedTuple):
    """The runs of a point, and where they are from."""

    runs: tuple[RunResult, ...]
    origin: Mapping[str, Any]


def compute(context: Context) -> tuple[CurveData]:
    """Train what is missing while there is time, then put together all that is there: the cells of the table of every
    tau where they were measured, and otherwise the tuned settings with another tau."""
    datasets, runs = (SHOWN[:1], 1) if context.quick else (SHOWN, RUNS)
    plan = points(datasets)
    cells = {point: there for point in plan if (there := _from_cell(context.results, point)) is not None}
    to_train = [point for point in plan if point not in cells]
    rounds = [(point, number) for number in range(1, runs + 1) for point in to_train]
    work = sorted(rounds, key=lambda one: one[0].cost * one[1])
    # growth is measured with weights, which no record has: of the smallest graph
    in_growth = [] if context.out_of_time else [point for point in plan if point.dataset == datasets[0]]
    growing = {point: train(context, point.wanted, 1) for point in in_growth}
    train_missing(context, EXHIBIT.name, [(point.name, point.wanted, number) for point, number in work])
    trained = trained_so_far(context, EXHIBIT.name, [(point, point.wanted, runs) for point in to_train])
    both = {**cells, **{point: Measured(t.runs, t.describe()) for point, t in trained.items()}}
    found = {point: both[point] for point in plan if point in both}  # by step length
    shown = [name for name in datasets if is_curve([point for point in found if point.dataset == name])]
    accuracies = {
        DATASETS[name].title: _panel(context, name, {p: m for p, m in found.items() if p.dataset == name})
        for name in shown
    }
    panels = [*accuracies.values()]
    drawn = {point: measured for point, measured in found.items() if point.dataset in shown}
    missing = [point for point in to_train if point not in found or len(found[point].runs) < runs]
    if growing:
        panels.append(growth_panel(DATASETS[datasets[0]].title, growing))
    return EXHIBIT.figure(
        caption=finding(accuracies)
        + CAPTION.format(
            tuned=how_tuned(drawn),
            growth=DATASETS[datasets[0]].title,
            steps=STEPS,
            crosses=crosses(accuracies.values()),
        )
        + not_measured(missing, drawn, runs),
        panels=tuple(panels),
        columns=min(len(panels), 3 if len(panels) % 3 == 0 else 4),
        provenance={
            "runs": [measured.origin for measured in found.values()],
            "not run": [point.name for point in missing],
        },
    )


def _from_cell(results: Path, point: StepPoint) -> Measured | None:
    record = None if point.cell is None else read_cell(results, point.cell)
    if record is None or point.cell is None:
        return None
    return Measured(tuple(RunResult.from_json(run) for run in record["runs"]), {"cell": point.cell.name})


def _panel(context: Context, dataset: str, found: Mapping[StepPoint, Measured]) -> Panel:
    series = [
        accuracy_series(m.label, m.key, [(p.tau, measured.runs) for p, measured in found.items() if p.model is m])
        for m in MODELS
    ]
    peer = best_peer(context.results, dataset, DATASETS[dataset].default_split)
    if peer is not None:
        series.insert(0, peer_line(peer, TAUS))
    return Panel(
        title=f"{DATASETS[dataset].title}, {runs_a_point(measured.runs for measured in found.values())}",
        kind="lines",
        x=Axis(label="step length tau", scale="log"),
        y=Axis(label="test accuracy", unit="%"),
        series=tuple(one for one in series if one.x),
    )


EXHIBIT = Exhibit(
    name="figure-stability",
    title="Accuracy and growth against the step length",
    place="figure 4",
    compute=compute,
)
