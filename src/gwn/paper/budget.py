"""What the cells of a column were searched with, as their records say: one budget, or a caption that says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gwn.data import DATASETS
from gwn.paper.cell import ROWS
from gwn.paper.compare import View

MOST_NAMES = 6
"""Models that a caption names; of more it says how many."""


@dataclass(frozen=True, kw_only=True, order=True)
class Spent:
    """The budget behind one cell; ordered by how much it is."""

    trials: int
    on_rows: int
    splits: int
    finalists: int
    playoff_splits: int
    epochs: int
    patience: int

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Spent | None:
        """From a record; None for a model that has nothing to choose."""
        recipe, config = record["recipe"], record["config"]
        if record["search"] is None:
            return None
        return cls(
            trials=recipe["trials"],
            on_rows=recipe.get("on_rows", 0),
            splits=recipe["search_splits"],
            finalists=recipe.get("finalists", 1),
            playoff_splits=recipe.get("playoff_splits", 0),
            epochs=config["epochs"],
            patience=config["patience"],
        )

    @property
    def text(self) -> str:
        """ "24 + 8 trials on 5 splits, the best 5 play off on 10"."""
        plus = f" + {self.on_rows}" if self.on_rows else ""
        playoff = f", the best {self.finalists} play off on {self.playoff_splits}" if self.playoff_splits else ""
        return f"{self.trials}{plus} trials on {self.splits} split{'' if self.splits == 1 else 's'}{playoff}"


def heading(column: str) -> str:
    """A column's name in a table, with its metric where that is not the accuracy."""
    dataset, split = column.split(".")
    found = DATASETS[dataset]
    return f"{found.title} {split}" + (", ROC-AUC" if found.metric == "roc-auc" else "")


def spent_in(cells: Mapping[str, Mapping[str, View]], column: str) -> dict[Spent, list[str]]:
    """The budgets of a column, the largest first, each with the rows that had it."""
    found: dict[Spent, list[str]] = {}
    for row, of_row in cells.items():
        record = of_row[column].record
        if record is not None and (spent := Spent.of(record)) is not None:
            found.setdefault(spent, []).append(row)
    return dict(sorted(found.items(), reverse=True))


def unequal_columns(cells: Mapping[str, Mapping[str, View]], columns: Sequence[str]) -> list[str]:
    """The columns in which not all models had the same budget."""
    return [column for column in columns if len(spent_in(cells, column)) > 1]


def budget_caption(cells: Mapping[str, Mapping[str, View]], columns: Sequence[str]) -> str:
    """Trials, splits, play-off, epochs and patience behind the cells, by column, as their records say."""
    groups: dict[str, list[str]] = {}
    lengths: set[tuple[int, int]] = set()
    for column in columns:
        found = spent_in(cells, column)
        lengths |= {(one.epochs, one.patience) for one in found}
        if found:
            groups.setdefault(_said(found), []).append(heading(column))
    said = "; ".join(f"{', '.join(names)}: {text}" for text, names in groups.items())
    rows = (
        " After a plus: trials on row-normalised features; the best of both play off, see docs/protocol.md."
        if " + " in said
        else ""
    )
    length = ""
    if len(lengths) == 1:
        ((epochs, patience),) = lengths
        length = f" Every training has at most {epochs} epochs and a patience of {patience}."
    elif lengths:
        length = " Epochs or patience differ: " + _ranges(sorted(lengths)) + "."
    return f"Search: {said or 'none yet'}.{rows}{length}"


def _ranges(lengths: Sequence[tuple[int, int]]) -> str:
    return ", ".join(f"{epochs} with a patience of {patience}" for epochs, patience in lengths)


def _said(found: Mapping[Spent, Sequence[str]]) -> str:
    """What one column had: the same for everybody, or the most and the least."""
    texts: dict[str, list[str]] = {}
    for spent, rows in found.items():
        texts.setdefault(spent.text, []).extend(rows)
    if len(texts) == 1:
        return f"{next(iter(texts))} for every model"
    (most, first), *_, (least, last) = texts.items()
    return f"UNEQUAL, from {least} ({_who(last)}) to {most} ({_who(first)})"


def _who(rows: Sequence[str]) -> str:
    return ", ".join(ROWS[row].title for row in rows) if len(rows) <= MOST_NAMES else f"{len(rows)} models"
