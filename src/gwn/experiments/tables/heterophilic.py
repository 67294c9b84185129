"""The paper's table 3: heterophilic datasets, WebKB on two kinds of splits."""

from __future__ import annotations

from pathlib import Path

from gwn.experiments.exhibit import Exhibit
from gwn.experiments.paper import place
from gwn.experiments.rows import ROWS
from gwn.experiments.table import TableData
from gwn.experiments.tables.accuracy import figures, paired_table, rank_table, test_selected_table, views
from gwn.experiments.tables.plan import planned, uniform_table

NAME = "table-heterophilic"
WEBKB = ("texas", "cornell", "wisconsin")
COLUMNS = (
    "actor.per-class",
    *(f"{dataset}.{split}" for dataset in WEBKB for split in ("geom", "per-class")),
    "deezer-europe.per-class",
)


def tables(results: Path) -> tuple[TableData, ...]:
    """Figures, the uniform split beside the per-class one, paired differences, ranks, and the warning."""
    command = f"gwn reproduce {NAME}"
    cells = views(results, "heterophilic", tuple(ROWS), COLUMNS)
    return (
        figures(NAME, "Test accuracy on heterophilic datasets (the paper's table 3)", command, cells, COLUMNS),
        uniform_table(results, NAME, command, ("actor", *WEBKB, "deezer-europe")),
        paired_table(NAME, command, cells, COLUMNS),
        rank_table(NAME, command, cells, COLUMNS),
        test_selected_table(NAME, command, cells, COLUMNS),
    )


CELLS, BEYOND = planned(COLUMNS)
EXHIBIT = Exhibit(
    name=NAME,
    title="accuracy on heterophilic datasets",
    place=place("heterophilic"),
    cells=CELLS,
    beyond=BEYOND,
    tables=tables,
)
