"""Which cells an accuracy table computes by itself, and the two readings of "60/20/20" side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gwn.experiments.cell import Cell
from gwn.experiments.exhibit import Exhibit
from gwn.experiments.paper import place
from gwn.experiments.recipe import BUDGETS
from gwn.experiments.rows import ROWS
from gwn.experiments.table import TableData, words
from gwn.experiments.tables.accuracy import (
    PROTOCOL,
    figures,
    heading,
    paired_table,
    rank_table,
    test_selected_table,
    views,
)
from gwn.experiments.view import view

FULL = tuple(row.name for row in ROWS.values() if row.full or row.name == "majority")


def planned(columns: Sequence[str]) -> tuple[tuple[Cell, ...], tuple[Cell, ...]]:
    """The cells of a table, and those beyond: peers on large graphs, hours of work on two cores."""
    now: list[Cell] = []
    beyond: list[Cell] = []
    for column in columns:
        dataset, split = column.split(".")
        for row in ROWS:
            cell = Cell(dataset=dataset, split=split, row=row)
            affordable = row in FULL or not BUDGETS[dataset].short
            (now if affordable else beyond).append(cell)
            if split == "per-class" and row in FULL:
                now.append(Cell(dataset=dataset, split="uniform", row=row))
    return tuple(now), tuple(beyond)


def uniform_table(results: Path, name: str, command: str, datasets: Sequence[str]) -> TableData:
    """The same settings on "uniform" splits, where 60 % of all nodes train, beside "per-class" ones."""
    columns = [f"{dataset}.{split}" for dataset in datasets for split in ("per-class", "uniform")]
    rows, records = [], []
    for row in FULL:
        cells = []
        for column in columns:
            dataset, split = column.split(".")
            cells.append(view(results, Cell(dataset=dataset, split=split, row=row)))
        rows.append((words(ROWS[row].title), *(cell.shown() for cell in cells)))
        records += [cell.flat() for cell in cells]
    return TableData(
        name=f"{name}-uniform",
        title='Two readings of "60/20/20": 60 % of N/C of every class, or 60 % of all nodes',
        caption=f"{PROTOCOL} Settings on uniform splits are those that the search found on per-class splits.",
        columns=("model", *map(heading, columns)),
        rows=tuple(rows),
        command=command,
        records=tuple(records),
    )


def accuracy_exhibit(name: str, kind: str, columns: Sequence[str], unmeasured: Sequence[str] = ()) -> Exhibit:
    """A table of accuracies with everything that belongs to it.

    kind         "homophilic" or "heterophilic": the paper's table, and the word for its datasets
    unmeasured   further columns, shown with the paper's figures alone
    """
    command, title = f"gwn reproduce {name}", f"Test accuracy on {kind} datasets, {place(kind)}"
    datasets = [column.split(".")[0] for column in columns if column.endswith(".per-class")]

    def tables(results: Path) -> tuple[TableData, ...]:
        shown = (*columns, *unmeasured)
        cells = views(results, kind, tuple(ROWS), shown)
        return (
            figures(name, title, command, cells, shown),
            uniform_table(results, name, command, datasets),
            paired_table(name, command, cells, columns),
            rank_table(name, command, cells, columns),
            test_selected_table(name, command, cells, columns),
        )

    now, beyond = planned(columns)
    what = f"accuracy on {kind} datasets"
    return Exhibit(name=name, title=what, place=place(kind), cells=now, beyond=beyond, tables=tables)
