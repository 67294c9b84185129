"""A cell of a table, one row's model on one dataset and split, and its recipe: the search and the runs behind it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gwn.data import DATASETS, PUBLISHED, SPLITS
from gwn.errors import GWNError
from gwn.models import MODELS
from gwn.registry import lookup, require_known
from gwn.training import TrainConfig
from gwn.training.prior import PRIORS

OURS = ("gwn-sym", "gwn-fa", "gwn-plus", "gwn-bank-plus")
"""The rows that every other one is compared with."""
PAPERS_OWN = ("gwn-sym", "gwn-fa")
"""The rows of which the paper prints figures of its own."""
BEST = "gwn-bank-plus"
"""Our entry: the row that a verdict is about."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of a table: the model on the shelf that has this name.

    group   rows of one group stand together: "floor", "mainstream", "differential equation", "wave"
    full    whether it is measured everywhere; other rows are beyond what two cores allow on large graphs and on uniform
            splits. What it is measured with is the same for all, see `Budget`
    space   what is searched of it
    """

    name: str
    title: str
    group: str
    full: bool = False
    space: str = "peers"


def _rows() -> dict[str, Row]:
    full = ("mlp", "gwn-twin", "gcn", *OURS)
    spaces = {"gwn-plus": "waves", **dict.fromkeys(("mlp", "gcn", "gwn-sym", "gwn-fa"), "standard")}
    floor = ("majority", "mlp", "gwn-twin")
    rows = {
        name: Row(
            name=name,
            title=spec.title,
            group="floor" if name in floor else spec.kind,
            full=name in full,
            space=spaces.get(name, "peers"),
        )
        for name, spec in MODELS.items()
        if spec.kind != "baseline"
    }
    order = ("floor", "mainstream", "differential equation", "wave")
    return dict(sorted(rows.items(), key=lambda item: order.index(item[1].group)))


ROWS: dict[str, Row] = _rows()
WAVES_FIRST = tuple(sorted(ROWS, key=lambda row: ROWS[row].group != "wave"))
"""The rows as tables have them: those that the paper is about on top."""


TAUS = (0.2, 0.5, 1.0, 2.0, 5.0)
"""The step lengths that the paper's tables and search have."""


@dataclass(frozen=True, kw_only=True, order=True)
class Cell:
    """What is measured: the settings come from a search, see `recipe_of`.

    tau     the step length, with settings of a search of its own; None where tau is searched as well
    prior   what corrects the answers for label shift; "none", as everybody reports, is another cell
    """

    dataset: str
    split: str
    row: str
    tau: float | None = None
    prior: str = "none"

    @property
    def column(self) -> str:
        """As the paper's figures and the tables name it."""
        return f"{self.dataset}.{self.split}"

    @property
    def name(self) -> str:
        """`DATASET/SPLIT/ROW`, then `-TAU` for a fixed tau and `-PRIOR` for a correction: also its place among the
        results."""
        return f"{self.dataset}/{self.split}/{self.line}"

    @property
    def line(self) -> str:
        """The row's name in a table that has a row for every tau and every prior."""
        tau = "" if self.tau is None else f"-{self.tau:.1f}"
        return f"{self.row}{tau}" + ("" if self.prior == "none" else f"-{self.prior}")

    @classmethod
    def of(cls, column: str, row: str, tau: float | None = None, prior: str = "none") -> Cell:
        """The cell of a row in a column of a table."""
        dataset, split = column.split(".")
        return cls(dataset=dataset, split=split, row=row, tau=tau, prior=prior)

    @classmethod
    def parse(cls, name: str) -> Cell:
        """Back from `name`."""
        parts = name.split("/")
        if len(parts) != 3:
            raise GWNError(f"a cell is DATASET/SPLIT/ROW, such as texas/geom/gwn-fa; got {name!r}")
        dataset, split, line = parts
        require_known("dataset", dataset, DATASETS)
        require_known("split", split, (*SPLITS, *PUBLISHED))
        prior = next((prior for prior in PRIORS[1:] if line.endswith(f"-{prior}")), "none")
        line = line.removesuffix(f"-{prior}")
        for tau in TAUS:
            row = line.removesuffix(f"-{tau:.1f}")
            if row != line and row in ROWS:
                return cls(dataset=dataset, split=split, row=row, tau=tau, prior=prior)
        require_known("row", line, ROWS)
        return cls(dataset=dataset, split=split, row=line, prior=prior)


FINAL_RUNS = 10
TRIALS_OF_A_TAU = 6
"""Trials of the search that a cell of one tau has: the same for every tau and both networks."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The plan of a column: what every row in it is searched and measured with, ours and the peers alike.

    trials, splits     of a search
    on_rows            trials of a second search, on row-normalised features
    finalists          of each search; they play off on so many fresh splits: `playoff_splits`
    runs               behind the figure, with seeds of their own
    epochs, patience   of every training
    short              a large graph: waves of at most a quarter of the paper's time, and GWN-sym without propagating,
                       in mini-batches

    Cells that were measured before budgets were equal keep their own, and captions say so.
    """

    trials: int
    splits: int
    on_rows: int = 0
    finalists: int = 1
    playoff_splits: int = 0
    runs: int = FINAL_RUNS
    epochs: int = TrainConfig.epochs
    patience: int = TrainConfig.patience
    short: bool = False


# Small test sets need many splits to tell settings apart; large graphs have little noise and cost much.
_WEBKB = Budget(trials=8, splits=3, on_rows=5, finalists=2, playoff_splits=5)
_MEDIUM = Budget(trials=5, splits=1)
_FILTERED = Budget(trials=10, splits=2)
_LARGE = Budget(trials=12, splits=1, short=True)
# On the published splits of large graphs deep networks are trained for long: fewer trials and runs pay for that.
_LONG = Budget(trials=4, splits=1, runs=5, epochs=300, patience=100, short=True)
# With 512 channels, as the tuned classics have them there, one training takes ten minutes of a core.
_WIDE = replace(_LONG, trials=2, runs=3)
LARGE_UNIFORM_RUNS = 5
"""Of "uniform" splits of large graphs, which have a search of "per-class" ones: their test parts are large."""

BUDGETS: dict[str, Budget] = {
    **dict.fromkeys(("texas", "cornell", "wisconsin"), _WEBKB),
    **dict.fromkeys(("cora", "citeseer", "actor"), _MEDIUM),
    **dict.fromkeys(("chameleon-filtered", "squirrel-filtered"), _FILTERED),
    **dict.fromkeys(("pubmed", "photo", "computers", "cs", "deezer-europe", "ogbn-arxiv"), _LARGE),
    **dict.fromkeys(("minesweeper", "tolokers"), _LARGE),
}
GEOM_TRIALS = 8
"""On the published splits of WebKB and Actor, of which there are only ten: no fresh ones are left for a play-off."""


def budget_of(cell: Cell) -> Budget:
    """The plan of the cell's column."""
    found = lookup("dataset of the tables", cell.dataset, BUDGETS)
    if cell.split == "geom":
        return Budget(trials=GEOM_TRIALS, splits=found.splits)
    if cell.split == "published" and found is _LARGE:
        return _WIDE if cell.dataset in ("computers", "cs") else _LONG
    if cell.split == "uniform" and found is _LARGE:
        return replace(found, runs=LARGE_UNIFORM_RUNS)
    return found


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A search as `gwn tune` takes it, and the runs after it.

    split   that the search is scored on: settings for "uniform" are those found on "per-class"
    trials  0 for a model that has nothing to choose
    on_rows trials of a second search, on row-normalised features
    finalists, playoff_splits   of each search so many trials play off on so many fresh splits; 0: the best is taken
    prior   that corrects the answers for label shift, in the search as in the final runs
    settings_of   the cell whose settings were taken in the place of a search, in older records
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
    prior: str = "none"
    settings_of: str = ""


def recipe_of(cell: Cell) -> Recipe:
    """The recipe of a cell, from its row and its column alone.

    A corrected cell has a search of its own under its prior, as large as the uncorrected one has: settings that suit
    answers which nobody corrects need not suit the others. A cell of one tau has a smaller one, without a play-off.
    """
    row, budget = lookup("row", cell.row, ROWS), budget_of(cell)
    searched_on = "per-class" if cell.split == "uniform" else cell.split
    if row.name == "majority":
        return Recipe(
            model=row.name,
            split=searched_on,
            space="peers",
            trials=0,
            search_splits=1,
            runs=budget.runs,
            prior=cell.prior,
        )
    fixed: tuple[str, ...] = () if cell.prior == "none" else (f"prior={cell.prior}",)
    short = budget.short and row.name in ("gwn-sym", "gwn-fa", "gwn-plus")
    if row.name == "gwn-sym" and budget.short:
        # Whole-batch steps are too few for a linear map of features that the wave has scaled so differently.
        fixed += ("precompute=true", "batch_size=1024")
    if cell.tau is not None:
        fixed += (f"tau={cell.tau}",)
        budget = replace(budget, trials=TRIALS_OF_A_TAU, on_rows=0, finalists=1, playoff_splits=0)
    usual = TrainConfig()
    of_training = {"epochs": (budget.epochs, usual.epochs), "patience": (budget.patience, usual.patience)}
    fixed += tuple(f"{name}={value}" for name, (value, default) in of_training.items() if value != default)
    return Recipe(
        model=row.name,
        split=searched_on,
        space=f"{row.space}-short" if short else row.space,
        trials=budget.trials,
        search_splits=budget.splits,
        on_rows=budget.on_rows,
        finalists=budget.finalists,
        playoff_splits=budget.playoff_splits,
        fixed=fixed,
        runs=budget.runs,
        prior=cell.prior,
    )
