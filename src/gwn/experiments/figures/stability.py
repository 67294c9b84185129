"""`figure-stability`: accuracy against the step length, and the growth per step, predicted and measured."""

from __future__ import annotations

from gwn.data import DATASETS
from gwn.experiments.figures.data import Axis, CurveData, Panel, Series, numbers
from gwn.experiments.figures.exhibit import FigureContext, FigureExhibit
from gwn.experiments.figures.growth import STEPS, growth_panel
from gwn.experiments.figures.stability_plan import MODELS, QUICK, RUNS, TIME, Cell, cells
from gwn.experiments.figures.trained import Trained, runs_a_point, runs_on_disk, train, train_missing
from gwn.training import summarise

CAPTION = (
    "Test accuracy (mean, and 95 % interval where there are several runs) against the step length tau, up to T = "
    "{time:g}, and the growth per step on the first graph: predicted from the spectrum (lines) and measured over "
    "the second half of a run of the trained networks, of {steps} steps or more where the operator is fixed "
    "(markers). A growth of 1 is bounded. GWN-sym and GWN-fa grow for every tau. Leapfrog on the physical wave ends "
    "at its bound; Newmark and Bessel take any step and do not grow, but for the drift of the smoothest mode, which "
    "is linear in time. GRAND is the heat equation by explicit Euler. Crosses: every run diverged."
)


def compute(context: FigureContext) -> CurveData:
    """Train what is missing while there is time, then put together all that is there."""
    runs = QUICK if context.quick else RUNS
    plan = cells(runs)
    rounds = [
        (cell.name, cell.wanted, number)
        for number in range(1, max(runs.values()) + 1)
        for cell in plan
        if runs[cell.dataset] >= number
    ]
    train_missing(context, EXHIBIT.name, rounds)
    found: dict[Cell, Trained] = {}
    for cell in plan:
        count = min(runs[cell.dataset], runs_on_disk(context, cell.wanted))
        if count:
            found[cell] = train(context, cell.wanted, count)
    shown = [name for name in runs if any(cell.dataset == name for cell in found)]
    panels = [_panel(name, found) for name in shown]
    if shown:
        at = {c: trained for c, trained in found.items() if c.dataset == shown[0]}
        panels.append(growth_panel(DATASETS[shown[0]].title, at))
    return CurveData(
        name=EXHIBIT.name,
        title=EXHIBIT.title,
        place=EXHIBIT.place,
        caption=CAPTION.format(time=TIME, steps=STEPS),
        panels=tuple(panels),
        columns=min(3, len(panels)),
        provenance={
            "runs": [trained.describe() for trained in found.values()],
            "not run": [c.name for c in plan if c not in found or len(found[c].runs) < runs[c.dataset]],
        },
    )


def _panel(dataset: str, found: dict[Cell, Trained]) -> Panel:
    return Panel(
        title=f"{DATASETS[dataset].title}, {runs_a_point(t for c, t in found.items() if c.dataset == dataset)}",
        kind="lines",
        x=Axis(label="step length tau", scale="log"),
        y=Axis(label="test accuracy", unit="%"),
        series=tuple(series for series in (_series(dataset, model.key, found) for model in MODELS) if series.x),
    )


def _series(dataset: str, key: str, found: dict[Cell, Trained]) -> Series:
    here = sorted((c for c in found if c.dataset == dataset and c.model.key == key), key=lambda cell: cell.tau)
    summaries = [summarise([100 * run.test for run in found[c].finished if run.test is not None]) for c in here]
    return Series(
        label=here[0].model.label if here else key,
        key=key,
        x=numbers([cell.tau for cell in here]),
        y=numbers([None if s is None else s.mean for s in summaries]),
        low=numbers([None if s is None else s.low for s in summaries]),
        high=numbers([None if s is None else s.high for s in summaries]),
        marks=tuple("diverged" if s is None else "" for s in summaries),
    )


EXHIBIT = FigureExhibit(
    name="stability",
    title="Accuracy and growth against the step length",
    place="figure 4",
    compute=compute,
)
