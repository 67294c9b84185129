"""`figure-depth`: test accuracy and Dirichlet energy against the number of layers."""

from __future__ import annotations

from gwn.experiments.figures.data import Axis, CurveData, Panel, Series, numbers
from gwn.experiments.figures.depth_plan import DATASETS, MODELS, QUICK, Cell, DeepDataset, cells, in_order
from gwn.experiments.figures.energy import last_features, relative_energy
from gwn.experiments.figures.exhibit import FigureContext, FigureExhibit
from gwn.experiments.figures.trained import Trained, runs_a_point, runs_on_disk, train, train_missing
from gwn.training import load_trained, summarise

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
    found: dict[Cell, Trained] = {}
    for place, cell in enumerate(plan):
        context.advance(place, len(plan), "energies")
        count = min(cell.runs, runs_on_disk(context, cell.wanted))
        if count:
            found[cell] = train(context, cell.wanted, count)
    energies = {cell: _energy(trained) for cell, trained in found.items()}
    layers = Axis(label="layers", scale="log")
    panels = [
        Panel(
            title=f"{dataset.title}, {runs_a_point(t for c, t in found.items() if c.dataset is dataset)}",
            kind="lines",
            x=layers,
            y=Axis(label="test accuracy", unit="%"),
            series=tuple(s for s in (_accuracy(plan, found, dataset, m.key) for m in MODELS) if s.x),
        )
        for dataset in datasets
    ] + [
        Panel(
            title=dataset.title,
            kind="lines",
            x=layers,
            y=Axis(label="Dirichlet energy / ||X||²", scale="log"),
            series=tuple(s for s in (_energies(plan, energies, dataset, m.key) for m in MODELS) if s.x),
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


def _accuracy(plan: list[Cell], found: dict[Cell, Trained], dataset: DeepDataset, key: str) -> Series:
    """One model on one dataset over depth; empty where nothing was run."""
    here = [cell for cell in plan if cell.dataset is dataset and cell.model.key == key and cell in found]
    summaries = [summarise([100 * run.test for run in found[c].finished if run.test is not None]) for c in here]
    return Series(
        label=here[0].model.label if here else key,
        key=key,
        x=numbers([cell.depth for cell in here]),
        y=numbers([None if s is None else s.mean for s in summaries]),
        low=numbers([None if s is None else s.low for s in summaries]),
        high=numbers([None if s is None else s.high for s in summaries]),
        marks=tuple("diverged" if s is None else "" for s in summaries),
    )


def _energies(plan: list[Cell], energies: dict[Cell, float | None], dataset: DeepDataset, key: str) -> Series:
    here = [cell for cell in plan if cell.dataset is dataset and cell.model.key == key and cell in energies]
    values = [energies[cell] for cell in here]
    return Series(
        label=here[0].model.label if here else key,
        key=key,
        x=numbers([cell.depth for cell in here]),
        y=numbers([None if value is None else max(value, 1e-9) for value in values]),
        marks=tuple("diverged" if value is None else "" for value in values),
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
