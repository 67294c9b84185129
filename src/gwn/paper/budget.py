"""What the cells of a column were searched with, as their records say: one budget, or a caption that says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gwn.compare.verdict import listed
from gwn.data import DATASETS
from gwn.paper.cell import FINAL_RUNS, ROWS
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
    runs: int
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
            runs=recipe.get("runs", FINAL_RUNS),
            epochs=config["epochs"],
            patience=config["patience"],
        )

    @property
    def text(self) -> str:
        """ "24 + 8 trials on 5 splits, the best 5 play off on 10", and how many runs follow if not the usual."""
        plus = f" + {self.on_rows}" if self.on_rows else ""
        playoff = f", the best {self.finalists} play off on {self.playoff_splits}" if self.playoff_splits else ""
        runs = f", {self.runs} runs" if self.runs != FINAL_RUNS else ""
        return f"{self.trials}{plus} trials on {self.splits} split{'' if self.splits == 1 else 's'}{playoff}{runs}"

    @property
    def length(self) -> str:
        return f"at most {self.epochs} epochs and a patience of {self.patience}"


def heading(column: str) -> str:
    """A column's name in a table, with its metric where that is not the accuracy."""
    dataset, split = column.split(".")
    found = DATASETS[dataset]
    return f"{found.title} {split}" + (" (ROC-AUC)" if found.metric == "roc-auc" else "")


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
    spent = {column: found for column in columns if (found := spent_in(cells, column))}
    lengths = {one.length for found in spent.values() for one in found}
    groups: dict[str, list[str]] = {}
    for column, found in spent.items():
        groups.setdefault(_said(found, with_length=len(lengths) > 1), []).append(heading(column))
    said = "; ".join(f"{', '.join(names)}: {text}" for text, names in groups.items())
    rows = (
        " After a plus: trials on row-normalised features; the best of both play off, see docs/protocol.md."
        if " + " in said
        else ""
    )
    length = f" Every training has {next(iter(lengths))}." if len(lengths) == 1 else ""
    shorter = listed([heading(column) for column in columns if _has_shorter_times(cells, column)])
    times = (
        f" On {shorter} the paper's networks and GWN+ are searched with shorter times than the paper's."
        if shorter
        else ""
    )
    return f"Search: {said or 'none yet'}.{rows}{length}{times}"


def _has_shorter_times(cells: Mapping[str, Mapping[str, View]], column: str) -> bool:
    """Whether a search in the column was held to a part of the paper's times."""
    records = [of_row[column].record for of_row in cells.values()]
    return any(record is not None and record["recipe"]["space"].endswith("-short") for record in records)


def _said(found: Mapping[Spent, Sequence[str]], with_length: bool) -> str:
    """What one column had: the same for everybody, or the most and the least."""
    texts: dict[str, list[str]] = {}
    for spent, rows in found.items():
        texts.setdefault(f"{spent.text}, {spent.length}" if with_length else spent.text, []).extend(rows)
    if len(texts) == 1:
        return f"{next(iter(texts))} for every model"
    (most, first), *_, (least, last) = texts.items()
    return f"UNEQUAL, from {least} ({_who(last)}) to {most} ({_who(first)})"


def _who(rows: Sequence[str]) -> str:
    return ", ".join(ROWS[row].title for row in rows) if len(rows) <= MOST_NAMES else f"{len(rows)} models"
