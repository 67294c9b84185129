"""How a node table becomes features and labels, learnt once and applied unchanged to every later table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from gwn.data.node_ids import choose_id_column, row_numbers
from gwn.data.structural import structural_kinds, structural_names
from gwn.data.tables import Table
from gwn.errors import GWNError
from gwn.graph import UNLABELLED, Graph

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

    def learn(self, table: Table, rows: NDArray[np.int64]) -> Column:
        """The same column with its numbers learnt on these rows alone; how many features it gives stays the same."""
        if self.kind != "number" or (self.mean, self.std) == (0.0, 1.0):
            return self
        values = _numbers(table, self.name)[rows]
        return replace(self, mean=float(values.mean()), std=float(values.std()) or 1.0)

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


@dataclass(frozen=True, kw_only=True)
class FeatureSchema:
    """Columns and what they encode to, names of the special columns, classes, and structural features if any.

    Everything that decides how the two tables are read is in it, so that another graph is read in the same way.

    id_column                      None where nodes are numbered by their row, from 0
    source_column, target_column   of the edges; None where a run of version 0.1.0 did not say
    endpoints_given                whether a person named them: then another table must have them too
    bound_to                       hash of the graph on which alone the structural features mean something, or ""
    """

    columns: tuple[Column, ...]
    label_column: str | None = None
    class_names: tuple[str, ...] = ()
    id_column: str | None = None
    weight_column: str | None = None
    structural: str | None = None
    source_column: str | None = None
    target_column: str | None = None
    endpoints_given: bool = False
    bound_to: str = ""

    @classmethod
    def fit(
        cls,
        table: Table,
        *,
        label_column: str | None = None,
        id_column: str | None = None,
        weight_column: str | None = None,
        drop_columns: Sequence[str] = (),
        structural: str | None = None,
        standardise: bool = True,
        named: Any = None,
    ) -> FeatureSchema:
        """Learn the encoding of every column that is not the id, the label or dropped.

        named   the different ids that the edges name: what decides which column holds the ids, unless one is given
        """
        if structural is not None:
            structural_kinds(structural)
        for what, names in (("label column", [label_column]), ("id column", [id_column]), ("column", drop_columns)):
            for name in names:
                if name is not None:
                    table.require(what, name)
        if table.rows == 0:
            raise GWNError(f"{table.path} has column names but no rows")
        if id_column is None:
            free = [name for name in table.columns if name != label_column and name not in drop_columns]
            id_column = choose_id_column(table, pa.array([], pa.string()) if named is None else named, free)
        special = {label_column, id_column, *drop_columns}
        features = [name for name in table.columns if name not in special]
        if not features and structural is None:
            raise GWNError(
                f"{table.path.name} has no feature columns; choose features made from the edges: --features spectral "
                "(where a node lies in this graph), or --features structure, which also suits other graphs later"
            )
        return cls(
            columns=tuple(Column.infer(table, name, standardise=standardise) for name in features),
            label_column=label_column,
            class_names=() if label_column is None else _class_names(table, label_column),
            id_column=id_column,
            weight_column=weight_column,
            structural=structural,
        )

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name a feature, in the order of the columns of `features`."""
        names = tuple(name for column in self.columns for name in column.feature_names)
        return names if self.structural is None else names + structural_names(self.structural)

    def learn(self, table: Table, rows: NDArray[np.int64]) -> FeatureSchema:
        """The same schema with its numbers learnt on these rows alone, the training nodes of a run."""
        return replace(self, columns=tuple(column.learn(table, rows) for column in self.columns))

    def features(self, table: Table, structural: Any = None) -> Tensor:
        """Features [N, f] as a sparse CSR tensor; a table without these columns is refused.

        structural   the features from the edges, which stand behind those of the table
        """
        missing = [repr(column.name) for column in self.columns if column.name not in table.columns]
        if missing:
            more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
            raise GWNError(
                f"{table.path.name} lacks {len(missing)} of the {len(self.columns)} columns that the model was trained "
                f"on: {', '.join(missing[:5])}{more}; give a table with the same columns"
            )
        blocks = [column.encode(table) for column in self.columns]
        if structural is not None:
            blocks.append(sp.csr_matrix(structural))
        x = sp.hstack(blocks, format="csr", dtype=np.float32)
        x.sort_indices()
        return torch.sparse_csr_tensor(
            torch.from_numpy(x.indptr.astype(np.int64)),
            torch.from_numpy(x.indices.astype(np.int64)),
            torch.from_numpy(x.data),
            x.shape,
            check_invariants=True,
        )

    def labels(self, table: Table) -> Tensor | None:
        """Class numbers, -1 where the cell is empty; None where the table has no label column."""
        if self.label_column is None or self.label_column not in table.columns:
            return None
        text = table.text(self.label_column)
        found = pc.index_in(text, value_set=pa.array(self.class_names, pa.string()))
        strange = pc.unique(text.filter(pc.and_(pc.is_null(found), pc.not_equal(text, "")))).to_pylist()
        if strange:
            raise GWNError(
                f"{table.path.name}: label column {self.label_column!r} names the class {strange[0]!r}, which the "
                f"model does not know (known: {', '.join(self.class_names)}); empty the cell to predict it"
            )
        return torch.from_numpy(np.array(pc.fill_null(found, UNLABELLED), dtype=np.int64))

    def ids(self, table: Table) -> Any:
        """Node ids as Arrow text, each of them once."""
        if self.id_column is None:
            return row_numbers(table)
        table.require("id column", self.id_column)
        ids = table.ids(self.id_column)
        counts = pc.value_counts(ids)
        for entry in counts.filter(pc.greater(counts.field("counts"), 1)).slice(0, 1).to_pylist():
            raise GWNError(
                f"{table.path.name}: id {entry['values']!r} is given to {entry['counts']} rows of column "
                f"{self.id_column!r}; every node needs an id of its own"
            )
        if pc.any(pc.equal(ids, "")).as_py():
            row = pc.index(ids, "").as_py() + 1
            raise GWNError(f"{table.path.name}: column {self.id_column!r} has no id in row {row}")
        return ids

    def to_json(self) -> dict[str, Any]:
        """As a plain dictionary for JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FeatureSchema:
        """From what `to_json` gave, possibly by way of a file."""
        try:
            fields = dict(data)
            columns = tuple(
                Column(**{**column, "categories": tuple(column["categories"])}) for column in fields.pop("columns")
            )
            if any(column.kind not in ("number", "boolean", "category") for column in columns):
                raise ValueError("unknown kind of column")
            return cls(columns=columns, class_names=tuple(fields.pop("class_names")), **fields)
        except (KeyError, TypeError, ValueError) as error:
            raise GWNError(f"the description of the features is damaged ({error!r}); train the model again") from error


def _class_names(table: Table, name: str) -> tuple[str, ...]:
    """The different labels: in the order of numbers where all are whole numbers, of text otherwise."""
    text = table.text(name)
    names = [cell for cell in pc.unique(text).to_pylist() if cell]
    labelled = pc.sum(pc.not_equal(text, "")).as_py() or 0
    if len(names) < 2:
        held = f"only the class {names[0]!r}" if names else "no label at all"
        raise GWNError(f"{table.path.name}: label column {name!r} has {held}; at least two classes are needed")
    if len(names) > max(20, labelled // 2):
        raise GWNError(
            f"{table.path.name}: label column {name!r} has {len(names)} different values in {labelled} labelled rows; "
            "it looks like a number or an identifier, classes are needed"
        )
    return tuple(sorted(names, key=int) if all(_is_integer(cell) for cell in names) else sorted(names))


def _is_integer(cell: str) -> bool:
    return cell.lstrip("-").isdecimal()


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeTable:
    """A node table with the schema of the whole of it, from which every run learns its own.

    structural   [N, f] features from the edges, None without; they are learnt from no node
    """

    table: Table
    schema: FeatureSchema
    structural: Any = None

    def learn(self, nodes: Tensor) -> FeatureSchema:
        """The schema that these nodes teach."""
        return self.schema.learn(self.table, nodes.cpu().numpy())

    def encode(self, graph: Graph, schema: FeatureSchema) -> Graph:
        """The graph with its features encoded by this schema."""
        return replace(graph, x=schema.features(self.table, self.structural)).compact()


def column_summary(schema: FeatureSchema, table: Table) -> list[dict[str, Any]]:
    """What every column of a node table became, one dictionary a column, in the order of the table:

    column     its name
    role       id, label, number, category, date, text, boolean or dropped
    missing    how many of its cells are empty
    features   how many features of the graph it became
    note       why it was dropped, or what else was decided about it; "" where there is nothing to say
    """
    known = {column.name: column for column in schema.columns}
    special = {schema.id_column: "id", schema.label_column: "label"}
    rows = []
    for name in table.columns:
        column = known.get(name)
        role = special.get(name) or ("dropped" if column is None else column.kind)
        rows.append(
            {
                "column": name,
                "role": role,
                "missing": table.missing(name),
                "features": 0 if column is None else len(column.feature_names),
                "note": "not among the columns of the schema" if role == "dropped" else "",
            }
        )
    return rows
