"""How a node table becomes features and labels, learnt once and applied unchanged to every later table."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from gwn.data.cells import NOTATIONS, numbers_of, short
from gwn.data.columns import Column, LeftOut, column_from_json, infer_column
from gwn.data.headers import MADE_UP
from gwn.data.node_ids import ID_NAMES, choose_id_column, holds_ids, row_numbers
from gwn.data.structural import structural_kinds, structural_names
from gwn.data.tables import WHOLE, Table
from gwn.errors import GWNError
from gwn.graph import UNLABELLED, Graph
from gwn.io import require_fields
from gwn.registry import require_known
from gwn.sparse import SPARSE_DENSITY

ASKED = "left out, as asked"
ROW_NAMES = "the first column, without a name, is taken for row names: left out"
INDEX = "it is the index of a data frame: left out"
ROW_COUNTER = re.compile(r"(?i)unnamed: \d+|index|level_0|row|row[ _-]?(?:id|no|nr|num|number)|#|no\.?|nr\.?")
"""What programs and people call a column that counts the rows."""

TASKS = ("classification", "regression")
WHOLE_NUMBER = re.compile(WHOLE)
INTEGER = re.compile(r"-?\d{1,18}")
WHOLE_OR_INTEGER = r"^-?\d+(\.0+)?$"


@dataclass(frozen=True, kw_only=True)
class FeatureSchema:
    """Columns and what they encode to, names of the special columns, classes, and structural features if any.

    Everything that decides how the two tables are read is in it, so that another graph is read in the same way.

    id_column                      None where nodes are numbered by their row, from 0
    source_column, target_column   of the edges; None where a run of version 0.1.0 did not say
    endpoints_given                whether a person named them: then another table must have them too
    bound_to                       hash of the graph on which alone the structural features mean something, or ""
    task                           classification, or regression: then the label is a number and there are no classes
    label_notation                 how the numbers of a regression are written, see `gwn.data.cells.NOTATIONS`
    weight_notation                how the weights are written, in the same way
    label_note, weight_note        what a person should know about how these numbers were read
    no_header                      which of the two tables, edges and nodes, begin with data
    skip_unknown                   whether edges that name unknown nodes are left out
    unused_of_edges                columns of the edges that are neither an end nor the weight
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
    task: str = "classification"
    label_notation: str = ""
    label_note: str = ""
    weight_notation: str = ""
    weight_note: str = ""
    no_header: tuple[str, ...] = ()
    skip_unknown: bool = False
    unused_of_edges: tuple[str, ...] = ()

    @classmethod
    def fit(
        cls,
        table: Table,
        *,
        label_column: str | None = None,
        id_column: str | None = None,
        weight_column: str | None = None,
        drop_columns: Sequence[str] = (),
        text_columns: Sequence[str] = (),
        structural: str | None = None,
        standardise: bool = True,
        named: Any = None,
        task: str = "classification",
    ) -> FeatureSchema:
        """Learn the encoding of every column that is not the id, the label or dropped.

        named   the different ids that the edges name: what decides which column holds the ids, unless one is given
        """
        if structural is not None:
            structural_kinds(structural)
        require_known("task", task, TASKS)
        if table.rows == 0:
            raise GWNError(f"{table.path} has column names but no rows")
        roles: dict[str, Sequence[str]] = {
            "label column": [] if label_column is None else [label_column],
            "id column": [] if id_column is None else [id_column],
            "column": drop_columns,
            "text column": text_columns,
        }
        for what, names in roles.items():
            for name in names:
                table.require(what, name)
        _require_one_role(roles)
        if id_column is None:
            if label_column is not None and task == "classification" and named is not None:
                _require_no_id(table, label_column, named)
            free = [name for name in table.columns if name != label_column and name not in drop_columns]
            id_column = choose_id_column(table, pa.array([], pa.string()) if named is None else named, free)
        named_rows = {name: _names_rows(table, name) for name in table.columns if name not in text_columns}
        left_out = {name: why for name, why in named_rows.items() if why}
        if table.row_names is not None:
            left_out[table.row_names] = ROW_NAMES if MADE_UP.fullmatch(table.row_names) else INDEX
        left_out |= dict.fromkeys(drop_columns, ASKED)
        columns = tuple(
            LeftOut(name=name, note=left_out[name])
            if name in left_out
            else infer_column(table, name, standardise=standardise, text=name in text_columns)
            for name in table.columns
            if name not in (label_column, id_column)
        )
        if structural is None and not any(column.feature_names for column in columns):
            why = "; ".join(f"{column.name!r}: {column.note}" for column in columns[:3])
            raise GWNError(
                f"{table.path.name} has no feature columns{f' ({why})' if why else ''}; choose features made from the "
                "edges: --features spectral (where a node lies in this graph), or --features structure, which also "
                "suits other graphs later"
            )
        schema = cls(
            columns=columns,
            label_column=label_column,
            id_column=id_column,
            weight_column=weight_column,
            structural=structural,
            task=task,
        )
        if label_column is None:
            return schema
        if task == "regression":
            notation, note = _target_notation(table, label_column)
            return replace(schema, label_notation=notation, label_note=note)
        return replace(schema, class_names=_class_names(table, label_column))

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
        block = self.encode(table)
        if structural is not None:
            block = (
                sp.hstack([block, sp.csr_matrix(structural)], format="csr")
                if sp.issparse(block)
                else np.hstack([block, structural])
            )
        if not sp.issparse(block):
            return torch.from_numpy(block.astype(np.float32, copy=False))
        block = block.astype(np.float32)
        block.sort_indices()
        return torch.sparse_csr_tensor(
            torch.from_numpy(block.indptr.astype(np.int64)),
            torch.from_numpy(block.indices.astype(np.int64)),
            torch.from_numpy(block.data),
            block.shape,
            check_invariants=True,
        )

    def encode(self, table: Table) -> Any:
        """The features of the columns, [N, f]: a SciPy CSR matrix where few are not zero, an array otherwise."""
        used = [column for column in self.columns if column.feature_names]
        missing = [repr(column.name) for column in used if column.name not in table.columns]
        if missing:
            more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
            raise GWNError(
                f"{table.path.name} lacks {len(missing)} of the {len(used)} columns that the model was trained "
                f"on: {', '.join(missing[:5])}{more}; give a table with the same columns"
            )
        blocks = [column.encode(table) for column in used]
        width = sum(block.shape[1] for block in blocks)
        stored = sum(block.nnz if sp.issparse(block) else block.size for block in blocks)
        if stored < SPARSE_DENSITY * table.rows * width:
            return sp.hstack([sp.csr_matrix(block) for block in blocks], format="csr")
        x = np.zeros((table.rows, width), dtype=np.float32)
        start = 0
        for block in blocks:
            x[:, start : start + block.shape[1]] = block.toarray() if sp.issparse(block) else block
            start += block.shape[1]
        return x

    def labels(self, table: Table) -> Tensor | None:
        """Class numbers, -1 where the cell is empty; numbers, NaN where it is, of a regression.

        None where the table has no label column.
        """
        if self.label_column is None or self.label_column not in table.columns:
            return None
        if self.task == "regression":
            return torch.from_numpy(_target(table, self.label_column, self.label_notation).astype(np.float64))
        text = _label_text(table, self.label_column, whole=not any(map(WHOLE_NUMBER.match, self.class_names)))
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
        nameless = np.flatnonzero(np.asarray(pc.equal(ids, "")))
        if nameless.size:
            also = f" and {nameless.size - 1:,} more" if nameless.size > 1 else ""
            raise GWNError(
                f"{table.path.name}: column {self.id_column!r} has no id in row {nameless[0] + 1}{also}; write one "
                f"there, or delete the row where it is empty"
            )
        counts = pc.value_counts(ids)
        for entry in counts.filter(pc.greater(counts.field("counts"), 1)).slice(0, 1).to_pylist():
            raise GWNError(
                f"{table.path.name}: id {short(entry['values'])} is given to {entry['counts']} rows of column "
                f"{self.id_column!r}; every node needs an id of its own"
            )
        return ids

    def ends_in(self, columns: Container[str]) -> tuple[str | None, str | None]:
        """The columns of the edges' ends as they are stored, for a table that has them or must have them."""
        ends = self.source_column, self.target_column
        there = all(name is not None and name in columns for name in ends)
        return ends if self.endpoints_given or there else (None, None)

    @property
    def special(self) -> dict[str, str | None]:
        """The columns of ids and of weights by the names of the arguments that choose them."""
        return {"id_column": self.id_column, "weight_column": self.weight_column}

    def decisions(self) -> list[str]:
        """What a person should know about how columns were read, a line each."""
        noted = [column for column in self.columns if column.note not in ("", ASKED)]
        return [f"column {column.name!r}: {column.note}" for column in noted]

    def unlike(self, table: Table) -> list[str]:
        """Columns of another table that may not mean what they meant where the model was trained, a line each."""
        found = {column.name: column.unlike(table) for column in self.columns if column.feature_names}
        return [f"{table.path.name}: column {name!r}: {said}" for name, said in found.items() if said]

    def lost_cells(self, table: Table) -> list[str]:
        """Cells of another table that hold no number or date and count as missing, a line a column."""
        found = {column.name: column.lost_cells(table) for column in self.columns if column.feature_names}
        return [f"column {name!r}: {said}" for name, said in found.items() if said]

    def to_json(self) -> dict[str, Any]:
        """As a plain dictionary for JSON."""
        plain = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        plain["columns"] = [column.to_json() for column in self.columns]
        return plain

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FeatureSchema:
        """From what `to_json` gave, possibly by way of a file."""
        try:
            require_fields(data, cls, "the description of the features")
            given: dict[str, Any] = {key: tuple(held) if isinstance(held, list) else held for key, held in data.items()}
            columns = tuple(column_from_json(column) for column in given.pop("columns"))
            if len({column.name for column in columns}) < len(columns):
                raise ValueError("a column is there twice")
            require_known("task", given.get("task", TASKS[0]), TASKS)
            for name in ("label_notation", "weight_notation"):
                require_known(name, given.get(name, ""), ("", *NOTATIONS))
            return cls(columns=columns, **given)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, GWNError):
                raise
            raise GWNError(f"the description of the features is damaged ({error!r}); train the model again") from error


def _require_one_role(roles: Mapping[str, Sequence[str]]) -> None:
    """Refuse a column that two options name: one of them would be passed over."""
    for (one, names), (other, others) in combinations(roles.items(), 2):
        for name in set(names) & set(others):
            options = (f"--{('drop column' if what == 'column' else what).replace(' ', '-')}" for what in (one, other))
            raise GWNError(f"{' and '.join(options)} both name {name!r}; leave one of them out")


def _names_rows(table: Table, name: str) -> str:
    """Why a column that is no id of the edges only names the rows all the same: a network would learn their order."""
    called_id = name.lower() in ID_NAMES
    if not (called_id or ROW_COUNTER.fullmatch(name)) or not table.is_readable(name):
        return ""
    cells, numbers = table.ids(name), row_numbers(table)
    if cells in (numbers, pc.cast(pc.add(pc.cast(numbers, pa.int64()), 1), pa.string())):
        return "it counts the rows: left out; rename it to use it"
    if called_id and len(pc.unique(cells)) == table.rows:
        return "its name and its cells, all different, are those of an id: left out; rename it to use it"
    return ""


def _require_no_id(table: Table, label: str, named: Any) -> None:
    """Refuse a label column that alone holds the ids of the nodes, naming columns that may hold classes."""
    if len(named) == 0 or [name for name in table.columns if holds_ids(table, name, named)] != [label]:
        return
    others = [name for name in table.columns if name != label and _may_be_classes(table, name)]
    such = f", for example {' or '.join(map(repr, others[:3]))}" if others else ""
    raise GWNError(
        f"{table.path.name}: label column {label!r} holds the ids that the edges name, a different one in every row; "
        f"name the column of the classes with --label-column{such}"
    )


def _may_be_classes(table: Table, name: str) -> bool:
    """Whether a column has several different cells, each of them a few times."""
    if not table.is_readable(name):
        return False
    text = _label_text(table, name)
    filled = text.filter(pc.not_equal(text, ""))
    return 2 <= len(pc.unique(filled)) <= max(2, min(20, len(filled) // 3))


def _label_text(table: Table, name: str, whole: bool = True) -> Any:
    """Labels as text, 1.0 as 1 among whole numbers."""
    text = table.text(name)
    filled = text.filter(pc.not_equal(text, ""))
    if whole and len(filled) and pc.all(pc.match_substring_regex(filled, WHOLE_OR_INTEGER)).as_py():
        return pc.replace_substring_regex(text, r"\.0+$", "")
    return text


def _class_names(table: Table, name: str) -> tuple[str, ...]:
    """The different labels: in the order of numbers where all are whole numbers, of text otherwise."""
    text = _label_text(table, name)
    names = [cell for cell in pc.unique(text).to_pylist() if cell]
    labelled = pc.sum(pc.not_equal(text, "")).as_py() or 0
    where = f"{table.path.name}: label column {name!r}"
    if len(names) < 2:
        held = f"only the class {names[0]!r}" if names else "no label at all"
        raise GWNError(f"{where} has {held}; at least two classes are needed: name another with --label-column")
    several = _cell_of_several(names)
    if several is not None:
        raise GWNError(
            f"{where} has several classes in one cell, {several!r} for example; one class a node is needed: "
            "keep one of them in each cell"
        )
    if len(names) > max(20, labelled // 2):
        numbers = not numbers_of(pa.array(names))[1].any()
        advice = "say --task regression to predict a number, or name" if numbers else "name"
        raise GWNError(
            f"{where} has {len(names)} different values in {labelled} labelled rows; it looks like "
            f"{'a number' if numbers else 'an identifier or free text'}, classes are needed: {advice} another column "
            "with --label-column"
        )
    return tuple(sorted(names, key=int) if all(map(INTEGER.fullmatch, names)) else sorted(names))


def _cell_of_several(names: Sequence[str]) -> str | None:
    """A cell such as "a;b", where most different cells are lists of the same few words."""
    for sign in ";|":
        lists = [name for name in names if sign in name]
        words = {word.strip() for name in names for word in name.split(sign)}
        if len(lists) > len(names) / 2 and len(words) < len(names) + len(lists):
            return lists[0]
    return None


def _target_notation(table: Table, name: str) -> tuple[str, str]:
    notation, note = table.notation(name)
    if notation is None:
        word = next(cell for cell in table.text(name).to_pylist() if cell) if table.missing(name) < table.rows else ""
        raise GWNError(
            f"{table.path.name}: label column {name!r} holds words, {word!r} for example, and a "
            "regression predicts numbers; name another column with --label-column, or leave out --task regression"
        )
    known = _target(table, name, notation)
    if np.unique(known[~np.isnan(known)]).size < 2:
        raise GWNError(
            f"{table.path.name}: label column {name!r} has no two different numbers to learn from; "
            "name another column with --label-column"
        )
    return notation, note


def _target(table: Table, name: str, notation: str) -> Any:
    """Numbers to predict, NaN where the cell is empty."""
    values, wrong = table.numbers(name, notation)
    bad = np.flatnonzero(wrong | (np.abs(values) > np.finfo(np.float32).max))
    if bad.size:
        row = int(bad[0])
        raise GWNError(
            f"{table.path.name}: label column {name!r} has {table.cell(name, row)!r} in row {row + 1}; "
            "finite numbers are needed, or an empty cell for a node to predict"
        )
    return values


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
                "note": column.note if column is not None else "not among the model's columns" * (role == "dropped"),
            }
        )
    return rows
