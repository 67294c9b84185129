"""`figure-runtime`: accuracy against the time of a run, for the wave variants, every tau, and the peers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, median
from typing import Any, NamedTuple

from gwn.data import DATASETS
from gwn.errors import GWNError
from gwn.paper.cell import OURS, ROWS, Cell
from gwn.paper.curve_data import Axis, CurveData, Panel, Series, numbers
from gwn.paper.exhibit import Context, Exhibit
from gwn.paper.records import read_cells

CAPTION = (
    "Mean test score against the median time of one training run, from the measured cells of the tables: each model "
    "with the settings that its search chose, and the wave networks also at fixed tau (the number beside the point, "
    "joined by a line). Every run of a cell was timed on the same machine, but not alone on it: a factor of two "
    "means little. Up and to the left is better."
)

FLOOR = "majority"
"""Takes no time, and lies so low that a scale with it would hide all differences: said in words."""


class Timed(NamedTuple):
    """One cell: seconds of a run, score in per cent."""

    cell: Cell
    seconds: float
    score: float


def compute(context: Context) -> tuple[CurveData]:
    """Nothing is trained: cells are measured by the tables."""
    # The second reading of "60/20/20" and a prior have the settings of the first, so they tell nothing new about time.
    measured = ((cell, record) for cell, record in read_cells(context.results) if cell.prior == "none")
    points = [point for point in timed(measured) if point.cell.split != "uniform"]
    if not points:
        raise GWNError(
            f"{context.results / 'cells'} has no measured cell to take times from; measure some with "
            f"`gwn reproduce table-homophilic`"
        )
    columns = sorted({point.cell.column for point in points}, key=_order_of(points))
    return EXHIBIT.figure(
        caption=CAPTION,
        panels=tuple(_panel(column, [p for p in points if p.cell.column == column]) for column in columns),
        columns=min(2, len(columns)),
        provenance={"cells": [point.cell.name for point in points]},
    )


def timed(records: Iterable[tuple[Cell, Mapping[str, Any]]]) -> Iterable[Timed]:
    """The cells that have a finished run with a time."""
    for cell, record in records:
        runs = [run for run in record["runs"] if run["status"] == "ok" and run["seconds"]]
        if runs:
            yield Timed(cell, median(run["seconds"] for run in runs), 100 * mean(run["test"] for run in runs))


def _order_of(points: Sequence[Timed]) -> Any:
    """Columns with most cells first, then as the datasets stand on the shelf."""
    names = list(DATASETS)
    count = {column: sum(p.cell.column == column for p in points) for column in {p.cell.column for p in points}}
    return lambda column: (-count[column], names.index(column.split(".")[0]), column)


def _panel(column: str, points: list[Timed]) -> Panel:
    dataset, split = column.split(".")
    rows = [row for row in ROWS if row != FLOOR and any(point.cell.row == row for point in points)]
    floor = [point.score for point in points if point.cell.row == FLOOR]
    return Panel(
        title=f"{DATASETS[dataset].title}, {split}{f'; majority class {floor[0]:.1f} %' if floor else ''}",
        kind="path",
        x=Axis(label="one run", unit="s", scale="log"),
        y=Axis(label=f"test {DATASETS[dataset].metric}", unit="%"),
        series=tuple(
            _series(row, [point for point in points if point.cell.row == row and (point.cell.tau is None) == best])
            for best in (False, True)
            for row in rows
            if any(point.cell.row == row and (point.cell.tau is None) == best for point in points)
        ),
    )


def _series(row: str, points: list[Timed]) -> Series:
    """The best cell of a row, or those with a fixed tau in its order."""
    points = sorted(points, key=lambda point: point.cell.tau or 0.0)
    return Series(
        label=ROWS[row].title,
        key=row if row in OURS else "peer",
        x=numbers([point.seconds for point in points]),
        y=numbers([point.score for point in points]),
        marks=tuple(ROWS[row].title if p.cell.tau is None else f"τ = {p.cell.tau:g}" for p in points),
    )


EXHIBIT = Exhibit(
    name="figure-runtime",
    title="Accuracy against run time",
    place="figure 8",
    compute=compute,
)
