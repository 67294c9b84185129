"""`figure-stability`: accuracy against the step length, and the growth per step, predicted and measured."""

from __future__ import annotations

from gwn.data import DATASETS
from gwn.experiments.figures.curves import accuracy_series, trained_so_far
from gwn.experiments.figures.data import Axis, CurveData, Panel, Series
from gwn.experiments.figures.exhibit import FigureContext, FigureExhibit
from gwn.experiments.figures.growth import STEPS, growth_panel
from gwn.experiments.figures.stability_plan import MODELS, QUICK, RUNS, TIME, Cell, Stepped, cells
from gwn.experiments.figures.trained import Trained, runs_a_point, train_missing

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
    found = trained_so_far(context, [(cell, cell.wanted, runs[cell.dataset]) for cell in plan])
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
        series=tuple(series for series in (_series(dataset, model, found) for model in MODELS) if series.x),
    )


def _series(dataset: str, model: Stepped, found: dict[Cell, Trained]) -> Series:
    here = [(cell.tau, t) for cell, t in found.items() if cell.dataset == dataset and cell.model is model]
    return accuracy_series(model.label, model.key, sorted(here, key=lambda point: point[0]))


EXHIBIT = FigureExhibit(
    name="stability",
    title="Accuracy and growth against the step length",
    place="figure 4",
    compute=compute,
)
