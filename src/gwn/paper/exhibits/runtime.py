"""`figure-runtime`: accuracy against the time of a run, for the wave variants, every tau, and the peers."""

from __future__ import annotations

from collections import Counter
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
    "with the settings that its search chose, and the wave networks also at fixed tau (small points, joined by a "
    "line). In brackets: the multiple of the shortest run. Dashed: the front that no model is both faster and better "
    "than. {silent}Every run of a cell was timed on the same machine, but not alone on it: a factor of two means "
    "little. Up and to the left is better."
)
FLOOR = "majority"
"""Takes no time, and lies so low that a scale with it would hide all differences."""

MAIN = ("cora.per-class", "citeseer.per-class", "pubmed.per-class")
"""The panels of the figure; the others stand in the appendix."""

SPOKEN = ("gcn", "grand", "sgc")
"""Rows with a name beside their point, after ours and the best of the front."""

NAMES = 8
"""In a panel, at most."""


class Timed(NamedTuple):
    """One cell: seconds of a run, score in per cent."""

    cell: Cell
    seconds: float
    score: float


def compute(context: Context) -> tuple[CurveData]:
    """The main panels, or what there is of them. Nothing is trained: cells are measured by the tables."""
    points = _points(context)
    columns = [column for column in MAIN if any(p.cell.column == column for p in points)] or _columns(points)[:3]
    return _figure(EXHIBIT, points, columns, _finding(points, columns))


def compute_rest(context: Context) -> tuple[CurveData]:
    """The columns that the figure has no place for."""
    points = _points(context)
    rest = [column for column in _columns(points) if column not in MAIN] or _columns(points)
    return _figure(APPENDIX, points, rest, _finding(points, rest))


def _points(context: Context) -> list[Timed]:
    # The second reading of "60/20/20" and a prior have the settings of the first, so they tell nothing new about time.
    measured = ((cell, record) for cell, record in read_cells(context.results) if cell.prior == "none")
    points = [point for point in timed(measured) if point.cell.split != "uniform"]
    if not points:
        raise GWNError(
            f"{context.results / 'cells'} has no measured cell to take times from; measure some with "
            f"`gwn reproduce table-homophilic`"
        )
    return [point for point in points if point.cell.row != FLOOR]


def _figure(exhibit: Exhibit, points: Sequence[Timed], columns: Sequence[str], finding: str) -> tuple[CurveData]:
    silent = "Grey points without a name: the other models. " if len(points) > NAMES * len(columns) else ""
    return exhibit.figure(
        caption=f"{finding} {CAPTION.format(silent=silent)}",
        panels=tuple(_panel(column, [p for p in points if p.cell.column == column]) for column in columns),
        columns=min(3, len(columns)),
        provenance={"cells": [point.cell.name for point in points if point.cell.column in columns]},
    )


def timed(records: Iterable[tuple[Cell, Mapping[str, Any]]]) -> Iterable[Timed]:
    """The cells that have a finished run with a time."""
    for cell, record in records:
        runs = [run for run in record["runs"] if run["status"] == "ok" and run["seconds"]]
        if runs:
            yield Timed(cell, median(run["seconds"] for run in runs), 100 * mean(run["test"] for run in runs))


def _columns(points: Sequence[Timed]) -> list[str]:
    """Columns with most cells first, then as the datasets stand on the shelf."""
    names = list(DATASETS)
    count = Counter(point.cell.column for point in points)
    return sorted(count, key=lambda column: (-count[column], names.index(column.split(".")[0]), column))


def front(points: Iterable[Timed]) -> list[Timed]:
    """The points that no other is both faster and better than, fastest first."""
    best: list[Timed] = []
    for point in sorted(points, key=lambda point: (point.seconds, -point.score)):
        if not best or point.score > best[-1].score:
            best.append(point)
    return best


def _finding(points: Sequence[Timed], columns: Sequence[str]) -> str:
    """On how many panels a wave network stands on the front; of a few panels, also where."""
    ahead, parts = 0, []
    for column in columns:
        here = [p for p in points if p.cell.column == column and p.cell.tau is None]
        ours = [p for p in here if p.cell.row in OURS]
        on = [ROWS[p.cell.row].title for p in front(here) if p.cell.row in OURS]
        ahead += bool(on)
        if not ours or len(here) == len(ours):
            continue
        best, near = (max(some, key=lambda p: p.score) for some in (here, ours))
        title = ROWS[near.cell.row].title
        if best is near:
            gap = f"{title} is the best of {len(here)} models"
        else:
            times = near.seconds / best.seconds
            gap = f"{title} is {best.score - near.score:.1f} points below {ROWS[best.cell.row].title} in {times:.1f}x"
            gap += " its time"
        parts.append(f"{_title(column)}: {', '.join(on) or 'no wave network'} on the front, {gap}")
    first = f"A wave network stands on the front of speed and accuracy in {ahead} of {len(columns)} panels"
    return f"{first}{'. ' + '; '.join(parts) if len(columns) <= len(MAIN) and parts else ''}."


def _title(column: str) -> str:
    dataset, split = column.split(".")
    return f"{DATASETS[dataset].title} {split}"


def _panel(column: str, points: list[Timed]) -> Panel:
    dataset = column.split(".")[0]
    rows = [row for row in ROWS if any(point.cell.row == row for point in points)]
    whole = [point for point in points if point.cell.tau is None]
    fastest = min(point.seconds for point in points)
    ahead = front(whole)
    named = list(dict.fromkeys([*OURS, *(p.cell.row for p in ahead[:-4:-1]), *SPOKEN]))[:NAMES]
    series = [
        _series(row, [p for p in points if p.cell.row == row and (p.cell.tau is None) == best], fastest, named)
        for best in (False, True)
        for row in rows
        if any(point.cell.row == row and (point.cell.tau is None) == best for point in points)
    ]
    edge = Series(label="", key="front", x=numbers([p.seconds for p in ahead]), y=numbers([p.score for p in ahead]))
    return Panel(
        title=_title(column),
        kind="path",
        x=Axis(label="one run", unit="s", scale="log"),
        y=Axis(label=f"test {DATASETS[dataset].metric}", unit="%", limits=_heights(points)),
        series=(edge, *series),
        note=_below(points),
    )


def _heights(points: Sequence[Timed]) -> tuple[float, float]:
    """From the lowest point to the highest, without the few that lie so low that the others could not be told apart."""
    scores = sorted(point.score for point in points)
    quarter, half = scores[len(scores) // 4], scores[len(scores) // 2]
    low = min(score for score in scores if score >= quarter - 2 * max(half - quarter, 1.0))
    reach = max(scores[-1] - low, 1.0)
    return round(low - 0.06 * reach, 2), round(scores[-1] + 0.12 * reach, 2)


def _below(points: Sequence[Timed]) -> str:
    """What is said of the points that have no place in the panel."""
    low = sorted(point.score for point in points if point.score < _heights(points)[0])
    return f"{len(low)} further below, from {low[0]:.0f} %" if low else ""


def _series(row: str, points: list[Timed], fastest: float, named: Sequence[str]) -> Series:
    """The best cell of a row, or those with a fixed tau in its order, of which the ends say theirs."""
    points = sorted(points, key=lambda point: point.cell.tau or 0.0)
    marks = []
    for place, point in enumerate(points):
        if point.cell.tau is not None:
            marks.append(f"τ={point.cell.tau:g}" if place in (0, len(points) - 1) else "")
        else:
            marks.append(f"{ROWS[row].title} ({point.seconds / fastest:.1f}x)" if row in named else "")
    return Series(
        label=ROWS[row].title,
        key=row if row in OURS else "peer",
        x=numbers([point.seconds for point in points]),
        y=numbers([point.score for point in points]),
        marks=tuple(marks),
    )


EXHIBIT = Exhibit(
    name="figure-runtime",
    title="Accuracy against run time",
    place="figure 8",
    compute=compute,
)
APPENDIX = Exhibit(
    name="figure-runtime-rest",
    title="Accuracy against run time, the other datasets",
    place="figure 8, beyond the paper's panels",
    compute=compute_rest,
)
