"""How one column of a node table becomes features: a standardised number, a 0/1 flag, or one flag a category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from gwn.data.tables import Table
from gwn.errors import GWNError

MOSTLY = 0.9
"""A column with more numbers than this is meant to be numeric, and its other cells are mistakes."""

FEW = 10
"""A text column of more different values than this, and than half the rows, is prose or an identifier."""

FLAGS = pa.array(["true", "false"])


@dataclass(frozen=True, kw_only=True)
class Column:
    """What was learnt about a column: its kind, and the numbers or categories that encode it the same way again."""

    name: str
    kind: Literal["number", "boolean", "category"]
    mean: float = 0.0
    std: float = 1.0
    categories: tuple[str, ...] = ()

    @classmethod
    def infer(cls, table: Table, name: str, *, standardise: bool) -> Column:
        """The kind of a column from its cells."""
        if _is_boolean(table, name):
            return cls(name=name, kind="boolean")
        values, wrong = table.numbers(name)
        filled = int((~np.isnan(values) | wrong).sum())
        if filled == 0:
            raise GWNError(f"{table.path.name}: column {name!r} is empty; drop it with --drop-column {name}")
        if wrong.sum() <= (1 - MOSTLY) * filled:
            values = _numbers(table, name)
            spread = float(values.std()) if standardise else 1.0
            return cls(name=name, kind="number", mean=float(values.mean()) if standardise else 0.0, std=spread or 1.0)
        categories = tuple(sorted(cell for cell in pc.unique(table.text(name)).to_pylist() if cell))
        if len(categories) > max(FEW, table.rows // 2):
            raise GWNError(
                f"{table.path.name}: text column {name!r} has {len(categories)} different values in {table.rows} rows, "
                f"which looks like free text or an identifier; drop it with --drop-column {name}"
            )
        return cls(name=name, kind="category", categories=categories)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name a feature."""
        return tuple(f"{self.name}={c}" for c in self.categories) if self.kind == "category" else (self.name,)

    def encode(self, table: Table) -> Any:
        """The features of this column, as a SciPy CSR matrix; a category never seen before is all zeros."""
        if self.kind == "number":
            return sp.csr_matrix(((_numbers(table, self.name) - self.mean) / self.std)[:, None])
        if self.kind == "boolean":
            return sp.csr_matrix(_flags(table, self.name)[:, None])
        found = pc.index_in(table.text(self.name), value_set=pa.array(self.categories, pa.string()))
        at = np.asarray(pc.fill_null(found, -1))
        rows = np.flatnonzero(at >= 0)
        return sp.csr_matrix((np.ones(rows.size), (rows, at[rows])), shape=(table.rows, len(self.categories)))


def _numbers(table: Table, name: str) -> NDArray[np.float64]:
    """A column in which every cell must be a finite number."""
    values, wrong = table.numbers(name)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size == 0:
        return values
    row = int(np.flatnonzero(wrong)[0]) if wrong.any() else int(bad[0])
    held = repr(table.cell(name, row)) if wrong[row] else ("infinity" if np.isinf(values[row]) else "no value (NaN)")
    also = f" and {bad.size - 1} more" if bad.size > 1 else ""
    raise GWNError(
        f"{table.path.name}: numeric column {name!r} has {held} in row {row + 1}{also}; "
        f"every node needs a finite number there: fill it, or drop the column with --drop-column {name}"
    )


def _is_boolean(table: Table, name: str) -> bool:
    if pa.types.is_floating(table.columns[name].type) or pa.types.is_integer(table.columns[name].type):
        return False
    lower = pc.utf8_lower(table.text(name))
    return bool(pc.all(pc.is_in(lower, value_set=FLAGS)).as_py())


def _flags(table: Table, name: str) -> NDArray[np.float64]:
    lower = pc.utf8_lower(table.text(name))
    wrong = np.flatnonzero(~np.asarray(pc.is_in(lower, value_set=FLAGS)))
    if wrong.size:
        row = int(wrong[0])
        raise GWNError(
            f"{table.path.name}: column {name!r} has {table.cell(name, row)!r} in row {row + 1}; "
            "true or false is needed"
        )
    return np.asarray(pc.equal(lower, "true"), dtype=np.float64)
