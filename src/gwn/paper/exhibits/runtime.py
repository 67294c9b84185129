"""`figure-runtime`: accuracy against the time of a run, for the wave variants, every tau, and the peers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import mean, median
from typing import Any, NamedTuple

from gwn.data import DATASETS, make_splits
from gwn.errors import GWNError
from gwn.models import model_spec
from gwn.models.peers.grand import VARIANTS
from gwn.paper.cell import OURS, ROWS, Cell
from gwn.paper.curve_data import Axis, CurveData, Panel, Series, numbers
from gwn.paper.exhibit import Context, Exhibit
from gwn.paper.records import read_cells
from gwn.paper.trained import Trained, Wanted, experiment_of, train_missing, trained_so_far
from gwn.training import Experiment, TrainConfig, build_network, fit, fixed_threads, seed_everything

CAPTION = (
    "Mean test score against the {time}, from the measured cells of the tables: each model with the settings that its "
    "search chose, and the wave networks also at fixed tau (small points, joined by a line), each tau with a search of "
    "its own. In brackets: the multiple of the shortest run. Dashed: the front, which no point, small or large, is "
    "both faster and better than. {silent}{how} Up and to the left is better."
)
ALONE = {
    "time": "time of one training run",
    "how": "Times are of one thread, each model by itself, one after the other: what a run does once, and an epoch as "
    "often as the runs of its cell trained. GRAND's three variants, with the other settings of its cell: linear (l), "
    "nonlinear (nl) and rewired (nl-rw); {runs}.",
}
AS_RUN = {
    "time": "median time of one training run",
    "how": "Every run of a cell was timed on the same machine, but not alone on it: a factor of two means little.",
}
FLOOR = "majority"
"""Takes no time, and lies so low that a scale with it would hide all differences."""

MAIN = ("cora.per-class", "citeseer.per-class", "pubmed.per-class")
"""The panels of the figure; the others stand in the appendix."""

SPOKEN = ("gcn", "grand", "sgc")
"""Rows with a name beside their point, after ours and the best of the front."""

NAMES = 8
"""In a panel, at most."""


WATCHED = 12
"""Epochs for which a run is timed."""

GRAND, SHORT = "grand", {"linear": "l", "nonlinear": "nl", "rewired": "nl-rw"}
GRAND_RUNS = 3
"""Of each variant: one of them takes minutes."""


class Timed(NamedTuple):
    """One cell: seconds of a run, score in per cent.

    variant   of GRAND, where it is not the one that the cell's search chose
    """

    cell: Cell
    seconds: float
    score: float
    variant: str = ""

    @property
    def whole(self) -> bool:
        """Whether it is what the search of its row chose, and not one of a series."""
        return self.cell.tau is None and not self.variant

    @property
    def title(self) -> str:
        """The row, and what sets this point apart in it."""
        return ROWS[self.cell.row].title + ("" if self.cell.tau is None else f" at tau = {self.cell.tau:g}")


class Pace(NamedTuple):
    """Processor seconds of one thread: what a run does once, and an epoch of it."""

    once: float
    epoch: float

    def of_run(self, runs: Sequence[Mapping[str, Any]]) -> float:
        """As many epochs as these runs had on average."""
        return self.once + self.epoch * mean(float(run["epochs"]) for run in runs)


def compute(context: Context) -> tuple[CurveData]:
    """The main panels, or what there is of them, each model timed by itself; of GRAND the missing runs are trained."""
    records = _records(context)
    points = list(timed(records.items()))
    columns = [column for column in MAIN if any(p.cell.column == column for p in points)] or _columns(points)[:3]
    paces: dict[str, Pace] = {}
    drawn = {cell: record for cell, record in records.items() if cell.column in columns}
    for done, (cell, record) in enumerate(drawn.items()):
        context.advance(done, len(drawn), cell.name)
        paces[cell.name] = pace_of(_experiment(context, cell, record))
    alone = [
        point._replace(seconds=paces[point.cell.name].of_run(_finished(records[point.cell])))
        for point in points
        if point.cell.name in paces
    ]
    grands = [cell for cell in drawn if cell.row == GRAND]
    trained = _grands(context, grands)
    counts = sorted({len(one.runs) for one in trained.values()})
    span = " to ".join(str(count) for count in counts[:1] + counts[1:][-1:])
    lacking = [
        f"{SHORT[variant]} on {DATASETS[cell.dataset].title}"
        for cell in grands
        for variant in VARIANTS
        if (cell, variant) not in trained or not trained[cell, variant].finished
    ]
    runs = f"{span} of {GRAND_RUNS} runs each" if counts else "not trained yet"
    runs += f", without a finished run {', '.join(lacking)}" if counts and lacking else ""
    further = {
        "paces": {name: pace._asdict() for name, pace in paces.items()},
        "runs": [one.describe() for one in trained.values()],
    }
    caption = {**ALONE, "how": ALONE["how"].format(runs=runs)}
    return _figure(EXHIBIT, [*alone, *_variants(context, trained)], columns, caption, further)


def compute_rest(context: Context) -> tuple[CurveData]:
    """The columns that the figure has no place for, with the times of their runs. Nothing is trained."""
    points = list(timed(_records(context).items()))
    rest = [column for column in _columns(points) if column not in MAIN] or _columns(points)
    return _figure(APPENDIX, points, rest, AS_RUN, finding=_finding_as_run(points, rest), across=2)


def _records(context: Context) -> dict[Cell, Mapping[str, Any]]:
    """The cells with a finished run, uncorrected: a correction takes no time that could be seen. The second reading of
    "60/20/20" has the settings of the first, so it tells nothing new about time."""
    found: dict[Cell, Mapping[str, Any]] = {
        cell: record
        for cell, record in read_cells(context.results)
        if cell.prior == "none" and cell.split != "uniform" and cell.row != FLOOR and _finished(record)
    }
    if not found:
        raise GWNError(
            f"{context.results / 'cells'} has no measured cell to take times from; measure some with "
            f"`gwn reproduce table-homophilic`"
        )
    return found


def _finished(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [run for run in record["runs"] if run["status"] == "ok" and run["seconds"]]


def _experiment(context: Context, cell: Cell, record: Mapping[str, Any]) -> Experiment:
    data = context.load(cell.dataset)
    return Experiment(
        dataset=data,
        model=model_spec(cell.row),
        settings=record["settings"],
        config=TrainConfig(**record["training"]),
        splits=make_splits(data, cell.split, 1),
        origin={"dataset": cell.dataset},
    )


def pace_of(experiment: Experiment) -> Pace:
    """A few epochs of the first run, on a graph of its own: nothing is there that another model has computed of it."""
    config = replace(experiment.config, epochs=WATCHED, stopping="none", threads=1, device="cpu")
    split, graph = experiment.splits[0], experiment.dataset.graph
    graph = replace(graph, edge_index=graph.edge_index.clone()).to("cpu", config.torch_dtype)
    marks = [time.process_time()]
    with fixed_threads(1):
        seed_everything(experiment.seed)
        network = build_network(experiment.model, experiment.settings, config, graph, split)
        network.to(dtype=config.torch_dtype)
        fit(network, graph, split, config, experiment.dataset.metric, lambda *_: marks.append(time.process_time()))
    first, *later = (after - before for before, after in pairwise(marks))
    return Pace(once=max(0.0, first - median(later)), epoch=median(later))


def _grands(context: Context, cells: Sequence[Cell]) -> dict[tuple[Cell, str], Trained]:
    """GRAND's three on every dataset where it was measured, with as many runs as there is time for."""
    plan = {
        (cell, variant): Wanted(dataset=cell.dataset, model=GRAND, settings={"variant": variant}, tuned_as=GRAND)
        for variant in VARIANTS  # the slowest last
        for cell in cells
    }
    work = [
        (f"{cell.dataset}, {variant} GRAND", wanted, number)
        for number in range(1, GRAND_RUNS + 1)
        for (cell, variant), wanted in plan.items()
    ]
    train_missing(context, EXHIBIT.name, work)
    return trained_so_far(context, EXHIBIT.name, [(key, wanted, GRAND_RUNS) for key, wanted in plan.items()])


def _variants(context: Context, trained: Mapping[tuple[Cell, str], Trained]) -> Iterable[Timed]:
    for (cell, variant), one in trained.items():
        if one.finished:
            seconds = pace_of(experiment_of(context, one.wanted, 1)).of_run([run.to_json() for run in one.finished])
            yield Timed(cell, seconds, 100 * mean(run.test or 0.0 for run in one.finished), SHORT[variant])


def _figure(
    exhibit: Exhibit,
    points: Sequence[Timed],
    columns: Sequence[str],
    caption: Mapping[str, str],
    further: Mapping[str, Any] | None = None,
    finding: str = "",
    across: int = 3,
) -> tuple[CurveData]:
    silent = "Grey points without a name: the other models. " if len(points) > NAMES * len(columns) else ""
    return exhibit.figure(
        caption=f"{finding or _finding(points, columns)} {CAPTION.format(silent=silent, **caption)}",
        panels=tuple(_panel(column, [p for p in points if p.cell.column == column]) for column in columns),
        columns=min(across, len(columns)),
        provenance={"cells": [point.cell.name for point in points if point.cell.column in columns], **(further or {})},
    )


def timed(records: Iterable[tuple[Cell, Mapping[str, Any]]]) -> Iterable[Timed]:
    """The cells that have a finished run with a time."""
    for cell, record in records:
        if runs := _finished(record):
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
        every = [p for p in points if p.cell.column == column]
        on = [p.title for p in front(every) if p.cell.row in OURS]
        ahead += bool(on)
        here = [p for p in every if p.whole]
        ours = [p for p in here if p.cell.row in OURS]
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


def _finding_as_run(points: Sequence[Timed], columns: Sequence[str]) -> str:
    """The same where times are of runs beside others, of which a factor of two means little."""
    ahead = 0
    for column in columns:
        here = [p for p in points if p.cell.column == column and p.whole]
        ours = [p for p in here if p.cell.row in OURS]
        ahead += any(all(q.score <= p.score or q.seconds > 2 * p.seconds for q in here) for p in ours)
    return (
        f"In {ahead} of {len(columns)} panels a wave network is the best of all models that take up to twice its time."
    )


def _title(column: str) -> str:
    dataset, split = column.split(".")
    return f"{DATASETS[dataset].title} {split}"


def _panel(column: str, points: list[Timed]) -> Panel:
    dataset = column.split(".")[0]
    rows = [row for row in ROWS if any(point.cell.row == row for point in points)]
    fastest = min(point.seconds for point in points)
    ahead = front(points)
    names = dict.fromkeys([*OURS, *(p.cell.row for p in [p for p in ahead if p.whole][:-4:-1]), *SPOKEN])
    named = list(names)[: NAMES - sum(bool(point.variant) for point in points)]
    series = [
        _series(row, [p for p in points if p.cell.row == row and p.whole == best], fastest, named)
        for best in (False, True)
        for row in rows
        if any(point.cell.row == row and point.whole == best for point in points)
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
    """The best cell of a row, its cells with a fixed tau, of which the ends say theirs, or GRAND's variants."""
    points = sorted(points, key=lambda point: point.cell.tau or 0.0)
    marks = []
    for place, point in enumerate(points):
        if point.variant:
            marks.append(f"GRAND-{point.variant} ({point.seconds / fastest:.1f}x)")
        elif point.cell.tau is not None:
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
