"""What the measured cells say of the paper's tables of accuracy: its figures met, beaten and missed, and where the wave
networks stand among all models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gwn.data.describe import ALIKE, UNLIKE
from gwn.data.homophily import homophily
from gwn.paper.budget import spent_in, unequal_columns
from gwn.paper.cell import BEST, ROWS
from gwn.paper.compare import View, outcome, paired
from gwn.paper.exhibits.accuracy import COLUMNS, UNMEASURED, views

Cells = Mapping[str, Mapping[str, View]]
"""Row -> column -> cell."""

KINDS = {"above": "beaten", "within": "met", "below": "missed", "": "not measured"}
"""What a verdict of `View` is called: the paper's figure is ..."""


def all_cells(results: Path, rows: Sequence[str] = tuple(ROWS), *, unmeasured: bool = False) -> Cells:
    """The cells of both tables; with `unmeasured`, also the columns that have the paper's figures alone."""
    cells: dict[str, dict[str, View]] = {row: {} for row in rows}
    for table, columns in COLUMNS.items():
        shown = (*columns, *UNMEASURED[table]) if unmeasured else columns
        for row, of_row in views(results, table, rows, shown).items():
            cells[row].update(of_row)
    return cells


def tally(seen: Iterable[View]) -> dict[str, list[View]]:
    """The cells of which the paper prints a figure, by what became of it."""
    found: dict[str, list[View]] = {kind: [] for kind in KINDS.values()}
    for each in seen:
        if each.paper is not None:
            found[KINDS[each.verdict]].append(each)
    return found


MANY_TESTED = 500
"""A verdict on models needs so many test nodes: on WebKB, with 37 to 80, validation cannot rank them."""


def telling(cells: Cells, columns: Sequence[str]) -> list[str]:
    """The columns with many test nodes, as the records have them."""
    found = []
    for column in columns:
        records = (of_row[column].record for of_row in cells.values() if column in of_row)
        tested = next((record["runs"][0]["split_sizes"][2] for record in records if record is not None), 0)
        if tested >= MANY_TESTED:
            found.append(column)
    return found


def ranking(cells: Cells, column: str) -> list[View]:
    """The measured models of a column, the best first."""
    measured = [of_row[column] for of_row in cells.values() if of_row[column].test is not None]
    return sorted(measured, key=lambda each: -(each.test or {})["mean"])


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A row among all models: in how many columns it was measured, is first, or is not told apart from the first."""

    row: str
    columns: int
    first: int
    tied: int
    places: tuple[tuple[int, int], ...]
    """Its place and the number of models, column by column."""


def standing(cells: Cells, row: str, columns: Sequence[str]) -> Standing:
    """Told apart by the 95 % interval of the paired difference over the splits that both have."""
    places, tied = [], 0
    for column in columns:
        ranked = ranking(cells, column)
        of_row = cells[row][column]
        if of_row.test is None:
            continue
        place = ranked.index(of_row) + 1
        places.append((place, len(ranked)))
        tied += place > 1 and outcome(paired(ranked[0], of_row)) == "tie"
    return Standing(
        row=row,
        columns=len(places),
        first=sum(place == 1 for place, _ in places),
        tied=tied,
        places=tuple(places),
    )


def above_twin(cells: Cells, columns: Sequence[str]) -> dict[str, str]:
    """Column -> "win", "tie" or "loss" of our entry against the same network without edges, on the same splits."""
    found = {column: outcome(paired(cells[BEST][column], cells["gwn-twin"][column])) for column in columns}
    return {column: said for column, said in found.items() if said}


def worth_of_edges(worth: Mapping[str, str]) -> str:
    """In how many of these columns our entry is above its twin, and where: by how alike neighbours are."""
    alike = homophily()
    similar = {column: alike[column.split(".")[0]]["adjusted_homophily"] for column in worth}

    def of(columns: list[str]) -> str:
        return f"{sum(worth[column] == 'win' for column in columns)} of {len(columns)}"

    much = [column for column in worth if similar[column] > ALIKE]
    little = [column for column in worth if similar[column] < UNLIKE]
    groups = ((f"above {ALIKE:g}", much), (f"below {UNLIKE:g}", little))
    where = ", ".join(f"on {of(columns)} {bound}" for bound, columns in groups if columns)
    return f"on {of(list(worth))}" + (f" (by adjusted homophily: {where})" if where else "")


def reservations(cells: Cells, columns: Sequence[str]) -> list[str]:
    """What keeps the comparison from being fair, and the row from being what it is called, counted."""
    unequal = unequal_columns(cells, columns)
    trials = [column for column in unequal if len({spent.text for spent in spent_in(cells, column)}) > 1]
    heat = [column for column in columns if cells["gwn-plus"][column].no_wave]
    said = []
    if trials:
        said.append(
            f"In {len(trials)} of {len(columns)} columns the models did not have equal trials: see the captions."
        )
    if others := len(unequal) - len(trials):
        said.append(
            f"In {others} of {len(columns)} columns the models had equal trials but not the same epochs and patience: "
            "see the captions."
        )
    if heat:
        columns_of = "one column" if len(heat) == 1 else f"{len(heat)} columns"
        said.append(f"GWN+ is the heat equation, no wave, on {columns_of}: new searches choose waves alone.")
    return said
