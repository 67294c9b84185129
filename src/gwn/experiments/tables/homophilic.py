"""The paper's table 2: homophilic datasets and ogbn-arxiv."""

from __future__ import annotations

from pathlib import Path

from gwn.experiments.exhibit import Exhibit
from gwn.experiments.paper import place
from gwn.experiments.rows import ROWS
from gwn.experiments.table import TableData
from gwn.experiments.tables.accuracy import figures, paired_table, rank_table, test_selected_table, views
from gwn.experiments.tables.plan import planned, uniform_table

NAME = "table-homophilic"
DATASETS = ("cora", "citeseer", "pubmed", "computers", "photo", "cs")
COLUMNS = (*(f"{dataset}.per-class" for dataset in DATASETS), "ogbn-arxiv.time")
MEASURED = COLUMNS[:-1]


def tables(results: Path) -> tuple[TableData, ...]:
    """Figures, the uniform split beside the per-class one, paired differences, ranks, and the warning."""
    command = f"gwn reproduce {NAME}"
    cells = views(results, "homophilic", tuple(ROWS), COLUMNS)
    return (
        figures(NAME, "Test accuracy on homophilic datasets (the paper's table 2)", command, cells, COLUMNS),
        uniform_table(results, NAME, command, DATASETS),
        paired_table(NAME, command, cells, MEASURED),
        rank_table(NAME, command, cells, MEASURED),
        test_selected_table(NAME, command, cells, MEASURED),
    )


CELLS, BEYOND = planned(MEASURED)
EXHIBIT = Exhibit(
    name=NAME,
    title="accuracy on homophilic datasets",
    place=place("homophilic"),
    cells=CELLS,
    beyond=BEYOND,
    tables=tables,
)
