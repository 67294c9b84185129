"""A cell of a table: one row's model on one dataset and split, perhaps at one fixed tau."""

from __future__ import annotations

from dataclasses import dataclass

from gwn.data import DATASETS, SPLITS
from gwn.errors import GWNError
from gwn.models import MODELS
from gwn.registry import require_known

OURS = ("gwn-sym", "gwn-fa", "gwn-plus")
"""The rows that every other one is compared with."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of a table.

    model   the model's name on the shelf
    group   rows of one group stand together: "floor", "mainstream", "differential equation", "wave"
    full    whether it has the wave networks' own search budget; the other peers have a smaller one, all the same
    """

    name: str
    title: str
    model: str
    group: str
    full: bool = False


def _rows() -> dict[str, Row]:
    full = ("mlp", "gcn", *OURS)
    floor = ("majority", "mlp")
    rows = {
        name: Row(
            name=name,
            title=spec.title,
            model=name,
            group="floor" if name in floor else spec.kind,
            full=name in full,
        )
        for name, spec in MODELS.items()
    }
    order = ("floor", "mainstream", "differential equation", "wave")
    return dict(sorted(rows.items(), key=lambda item: order.index(item[1].group)))


ROWS: dict[str, Row] = _rows()


TAUS = (0.2, 0.5, 1.0, 2.0, 5.0)
"""The step lengths that the paper's tables and search have."""


@dataclass(frozen=True, kw_only=True, order=True)
class Cell:
    """What is measured: the settings come from a search, see `gwn.paper.recipe`.

    tau   the best settings among those with this step length; None for the best of all
    """

    dataset: str
    split: str
    row: str
    tau: float | None = None

    @property
    def column(self) -> str:
        """As the paper's figures and the tables name it."""
        return f"{self.dataset}.{self.split}"

    @property
    def name(self) -> str:
        """`DATASET/SPLIT/ROW`, for a fixed tau `DATASET/SPLIT/ROW-TAU`: also its place among the results."""
        return f"{self.dataset}/{self.split}/{self.line}"

    @property
    def line(self) -> str:
        """The row's name in a table that has a row for every tau."""
        return self.row if self.tau is None else f"{self.row}-{self.tau:.1f}"

    @classmethod
    def parse(cls, name: str) -> Cell:
        """Back from `name`."""
        parts = name.split("/")
        if len(parts) != 3:
            raise GWNError(f"a cell is DATASET/SPLIT/ROW, such as texas/geom/gwn-fa; got {name!r}")
        dataset, split, line = parts
        require_known("dataset", dataset, DATASETS)
        require_known("split", split, {**SPLITS, "geom": None, "time": None})
        for tau in TAUS:
            row = line.removesuffix(f"-{tau:.1f}")
            if row != line and row in ROWS:
                return cls(dataset=dataset, split=split, row=row, tau=tau)
        require_known("row", line, ROWS)
        return cls(dataset=dataset, split=split, row=line)
