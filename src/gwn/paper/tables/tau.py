"""The appendix tables: every tau of GWN-sym and GWN-fa, with run times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gwn.paper.cell import ROWS, TAUS, Cell
from gwn.paper.exhibit import Exhibit
from gwn.paper.measure import TRIALS_OF_A_TAU
from gwn.paper.printed import out_of_memory, paper_value, place
from gwn.paper.recipe import BUDGETS
from gwn.paper.table import TableCell, TableData, words
from gwn.paper.tables.accuracy import PROTOCOL, heading
from gwn.paper.view import view

PEERS = ("mlp", "sgc", "appnp", "gpr-gnn", "gcn", "fagcn")
COLUMNS = {
    "homophilic": tuple(f"{name}.per-class" for name in ("cora", "citeseer", "pubmed", "computers", "photo", "cs")),
    "heterophilic": tuple(
        f"{name}.{split}" for name in ("texas", "cornell", "wisconsin") for split in ("geom", "per-class")
    ),
}


def _line(row: str, tau: float | None, column: str) -> Cell:
    dataset, split = column.split(".")
    return Cell(dataset=dataset, split=split, row=row, tau=tau)


_LINES = [*((row, None) for row in PEERS), *((row, tau) for row in ("gwn-sym", "gwn-fa") for tau in TAUS)]


def _tables(kind: str) -> Callable[[Path], tuple[TableData, ...]]:
    def tables(results: Path) -> tuple[TableData, ...]:
        rows, records = [], []
        for row, tau in _LINES:
            title = ROWS[row].title if tau is None else f"{ROWS[row].title}, tau {tau:g}"
            line = [words(title)]
            for column in COLUMNS[kind]:
                cell = _line(row, tau, column)
                seen = view(results, cell, paper_value(f"tau-{kind}", cell.line, column))
                records.append(seen.flat())
                shown = seen.shown(seconds=True)
                if out_of_memory(f"tau-{kind}", cell.line, column):
                    shown = TableCell(lines=(*filter(None, shown.lines), "paper: out of memory"), value=shown.value)
                line.append(shown)
            rows.append(tuple(line))
        return (
            TableData(
                name=f"table-tau-{kind}",
                title=f"Every tau on {kind} datasets, with the seconds of one run (the paper's appendix)",
                caption=f"{PROTOCOL} For each tau the best settings on validation among the trials that had it, "
                f"or among {TRIALS_OF_A_TAU} of its own where the search tried it less often. "
                "Seconds are medians of one thread's work on a machine that did other work as well; the paper's "
                "are a V100's.",
                columns=("model", *map(heading, COLUMNS[kind])),
                rows=tuple(rows),
                command=f"gwn reproduce table-tau-{kind}",
                records=tuple(records),
            ),
        )

    return tables


def _exhibit(kind: str) -> Exhibit:
    cells = [_line(row, tau, column) for column in COLUMNS[kind] for row, tau in _LINES]
    beyond = [cell for cell in cells if BUDGETS[cell.dataset].short and (cell.tau or not ROWS[cell.row].full)]
    return Exhibit(
        name=f"table-tau-{kind}",
        title=f"every tau on {kind} datasets, with run times",
        place=place(f"tau-{kind}"),
        cells=tuple(cell for cell in cells if cell not in beyond),
        beyond=tuple(beyond),
        tables=_tables(kind),
    )


HOMOPHILIC, HETEROPHILIC = _exhibit("homophilic"), _exhibit("heterophilic")
