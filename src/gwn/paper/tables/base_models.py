"""The paper's table 4: each wave network beside the network whose operator it shares."""

from __future__ import annotations

from pathlib import Path

from gwn.paper.cell import ROWS, Cell
from gwn.paper.compare import outcome, paired
from gwn.paper.exhibit import Exhibit
from gwn.paper.printed import place
from gwn.paper.recipe import BUDGETS
from gwn.paper.table import TableCell, TableData, words
from gwn.paper.tables.accuracy import PROTOCOL, budget_caption, heading, views

NAME = "table-base-models"
PAIRS = (("gcn", "gwn-sym"), ("fagcn", "gwn-fa"))
DATASETS = ("cora", "citeseer", "pubmed", "computers", "photo", "cs", "texas", "cornell", "wisconsin")
COLUMNS = tuple(f"{dataset}.per-class" for dataset in DATASETS)


def tables(results: Path) -> tuple[TableData, ...]:
    """Both models, and the paired difference over the same splits with its interval."""
    rows, records = [], []
    cells = views(results, "base-models", [row for pair in PAIRS for row in pair], COLUMNS)
    for base, wave in PAIRS:
        for row in (base, wave):
            rows.append((words(ROWS[row].title), *(cells[row][column].shown() for column in COLUMNS)))
            records += [cells[row][column].flat() for column in COLUMNS]
        line = [words(f"{ROWS[wave].title} - {ROWS[base].title}")]
        for column in COLUMNS:
            found = paired(cells[wave][column], cells[base][column])
            if found is None or found.low is None or found.high is None:
                line.append(words(""))
            else:
                lines = (f"{found.mean:+.2f}, {outcome(found)}", f"{found.low:+.1f} to {found.high:+.1f}")
                line.append(TableCell(lines=lines, value=found.mean))
        rows.append(tuple(line))
    return (
        TableData(
            name=NAME,
            title="GCN against GWN-sym, FAGCN against GWN-fa (the paper's table 4)",
            caption=f"{PROTOCOL} Differences are paired over the same splits, with their 95 % interval. "
            f"{budget_caption(cells, COLUMNS)}",
            columns=("model", *map(heading, COLUMNS)),
            rows=tuple(rows),
            command=f"gwn reproduce {NAME}",
            records=tuple(records),
        ),
    )


_CELLS = [Cell(dataset=name, split="per-class", row=row) for name in DATASETS for pair in PAIRS for row in pair]
EXHIBIT = Exhibit(
    name=NAME,
    title="each wave network and its base model",
    place=place("base-models"),
    cells=tuple(cell for cell in _CELLS if ROWS[cell.row].full or not BUDGETS[cell.dataset].short),
    beyond=tuple(cell for cell in _CELLS if not ROWS[cell.row].full and BUDGETS[cell.dataset].short),
    tables=tables,
)
