"""`figure-depth`: test accuracy and Dirichlet energy against the number of layers."""

from __future__ import annotations

from gwn.experiments.figures.curves import accuracy_series, trained_so_far
from gwn.experiments.figures.data import Axis, CurveData, Panel, Series, numbers
from gwn.experiments.figures.depth_plan import DATASETS, MODELS, QUICK, Cell, DeepDataset, DeepModel, cells, in_order
from gwn.experiments.figures.energy import last_features, relative_energy
from gwn.experiments.figures.exhibit import FigureContext, FigureExhibit
from gwn.experiments.figures.trained import Trained, runs_a_point, train_missing
from gwn.training import load_trained

CAPTION = (
    "Test accuracy (mean and 95 % interval where there are several runs) and Dirichlet energy tr(X'(I - A)X)/||X||² "
    "of the features that the last linear map sees, against the number of layers; tau = 1, so a layer is a step of "
    "the wave. Crosses: every run diverged. Places that were not run are empty; the provenance lists them."
)


def compute(context: FigureContext) -> CurveData:
    """Train what is missing while there is time, then put together all that is there."""
    datasets = QUICK if context.quick else DATASETS
    plan = cells(datasets)
    train_missing(context, EXHIBIT.name, [(cell.name, cell.wanted, runs) for cell, runs in in_order(plan)])
    found = trained_so_far(context, [(cell, cell.wanted, cell.runs) for cell in plan])
    energies: dict[Cell, float | None] = {}
    for place, (cell, trained) in enumerate(found.items()):
        context.advance(place, len(found), "energies")
        energies[cell] = _energy(trained)

    def accuracy(dataset: DeepDataset, model: DeepModel) -> Series:
        here = [(cell.depth, t) for cell, t in found.items() if cell.dataset is dataset and cell.model is model]
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
    return CurveData(
        name=EXHIBIT.name,
        title=EXHIBIT.title,
        place=EXHIBIT.place,
        caption=CAPTION,
        panels=tuple(panels),
        columns=len(datasets),
        provenance={
            "runs": [trained.describe() for trained in found.values()],
            "not run": [line for line, c in zip(missing, plan, strict=True) if _there(found, c) < c.runs],
        },
    )


def _there(found: dict[Cell, Trained], cell: Cell) -> int:
    return len(found[cell].runs) if cell in found else 0


def _energies(energies: dict[Cell, float | None], dataset: DeepDataset, model: DeepModel) -> Series:
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


EXHIBIT = FigureExhibit(
    name="depth",
    title="Accuracy and Dirichlet energy against depth",
    place="figure 3, over-smoothing",
    compute=compute,
)
