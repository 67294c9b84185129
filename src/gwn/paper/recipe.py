"""How a cell is measured: which search finds its settings, on what budget, and how many final runs it has."""

from __future__ import annotations

from dataclasses import dataclass

from gwn.paper.cell import ROWS, Cell
from gwn.registry import lookup

FINAL_RUNS = 10


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What two cores allow on a dataset.

    trials, splits             of a search for a row with the full budget
    peer_trials, peer_splits   of a search for any other row
    on_rows, peer_on_rows      trials of a second search, on row-normalised features
    finalists, peer_finalists  of each search; they play off on so many fresh splits:
    playoff_splits, peer_playoff_splits
    short                      a large graph: waves of at most a quarter of the paper's time, and GWN-sym without
                               propagating, in mini-batches
    """

    trials: int
    splits: int
    peer_trials: int
    peer_splits: int
    on_rows: int = 0
    peer_on_rows: int = 0
    finalists: int = 1
    peer_finalists: int = 1
    playoff_splits: int = 0
    peer_playoff_splits: int = 0
    short: bool = False


# Small test sets need many splits to tell settings apart; large graphs have little noise and cost much.
_WEBKB = Budget(
    trials=80,
    splits=5,
    peer_trials=8,
    peer_splits=3,
    on_rows=24,
    peer_on_rows=5,
    finalists=5,
    peer_finalists=2,
    playoff_splits=10,
    peer_playoff_splits=5,
)
_MEDIUM = Budget(trials=70, splits=2, peer_trials=5, peer_splits=1)
_LARGE = Budget(trials=12, splits=1, peer_trials=5, peer_splits=1, short=True)

BUDGETS: dict[str, Budget] = {
    **dict.fromkeys(("texas", "cornell", "wisconsin"), _WEBKB),
    **dict.fromkeys(("cora", "citeseer", "actor"), _MEDIUM),
    **dict.fromkeys(("pubmed", "photo", "computers", "cs", "deezer-europe", "ogbn-arxiv"), _LARGE),
}


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A search as `gwn tune` takes it, and the runs after it.

    split   that the search is scored on: settings for "uniform" are those found on "per-class"
    trials  0 for a model that has nothing to choose
    on_rows trials of a second search, on row-normalised features
    finalists, playoff_splits   of each search so many trials play off on so many fresh splits; 0: the best is taken
    """

    model: str
    split: str
    space: str
    trials: int
    search_splits: int
    on_rows: int = 0
    finalists: int = 1
    playoff_splits: int = 0
    fixed: tuple[str, ...] = ()
    runs: int = FINAL_RUNS


def recipe_of(cell: Cell) -> Recipe:
    """The recipe of a cell, from its row and its dataset alone."""
    row, budget = lookup("row", cell.row, ROWS), lookup("dataset of the tables", cell.dataset, BUDGETS)
    searched_on = "per-class" if cell.split == "uniform" else cell.split
    if row.name == "majority":
        return Recipe(model=row.model, split=searched_on, space="peers", trials=0, search_splits=1)
    fixed: tuple[str, ...] = ()
    if not row.full:
        space = "peers"
    elif row.name == "gwn-plus":
        space = "extended-short" if budget.short else "extended"
    elif row.name == "gwn-sym" and budget.short:
        # Whole-batch steps are too few for a linear map of features that the wave has scaled so differently. With
        # ten and more steps an epoch, less patience is enough.
        space, fixed = "standard-short", ("patience=20", "precompute=true", "batch_size=1024")
    else:
        space = "standard-short" if row.name == "gwn-fa" and budget.short else "standard"
    return Recipe(
        model=row.model,
        split=searched_on,
        space=space,
        trials=budget.trials if row.full else budget.peer_trials,
        search_splits=budget.splits if row.full else budget.peer_splits,
        on_rows=budget.on_rows if row.full else budget.peer_on_rows,
        finalists=budget.finalists if row.full else budget.peer_finalists,
        playoff_splits=budget.playoff_splits if row.full else budget.peer_playoff_splits,
        fixed=fixed,
    )
