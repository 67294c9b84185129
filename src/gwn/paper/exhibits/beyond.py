"""Columns that the paper does not have: published splits, and all models with one budget."""

from __future__ import annotations

from gwn.paper.cell import BUDGETS, Cell
from gwn.paper.exhibit import Context, Exhibit
from gwn.paper.exhibits.accuracy import accuracy_table, views
from gwn.paper.table import TableData

COLUMNS = tuple(
    f"{dataset}.published"
    for dataset in ("chameleon-filtered", "squirrel-filtered", "minesweeper", "tolokers", "computers", "photo", "cs")
)
ROWS = (
    *("gwn-sym", "gwn-fa", "gwn-plus", "gwn-bank", "gwn-bank-plus", "gwn-heat"),
    *("mlp", "gwn-twin", "gcn-tuned", "sage-tuned", "gat-tuned", "acm-gcn-plus", "gpr-gnn"),
)


def compute(context: Context) -> tuple[TableData, ...]:
    cells = views(context.results, "beyond", ROWS, COLUMNS)
    title = "Test scores beyond the paper, on published splits"
    return (accuracy_table(EXHIBIT.name, title, f"gwn reproduce {EXHIBIT.name}", cells, COLUMNS),)


_CELLS = [Cell.of(column, row) for column in COLUMNS for row in ROWS]
EXHIBIT = Exhibit(
    name="table-beyond",
    title="datasets beyond the paper, on published splits",
    place="not in the paper",
    compute=compute,
    cells=tuple(cell for cell in _CELLS if not BUDGETS[cell.dataset].short),
    beyond=tuple(cell for cell in _CELLS if BUDGETS[cell.dataset].short),
)
