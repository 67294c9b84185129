"""Columns that tell the answer by themselves: were they made from it, scores on them would mean nothing."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gwn.data.columns import Number
from gwn.data.schema import NodeTable
from gwn.graph import Graph

OF_A_VALUE = 5
"""Labelled nodes a value, on average, from which it is no accident that every value has one class."""


def telling_columns(tables: NodeTable, graph: Graph) -> list[str]:
    """Columns that alone tell the label of every labelled node: each of a few values has one class, or r² is one.

    Empty cells may be apart, as long as they are the fewer: a column that was made from the labels has some, too.
    """
    if graph.y is None:
        return []
    known = np.flatnonzero(np.asarray(graph.labelled))
    labels = np.asarray(graph.y)[known]
    used = [column for column in tables.schema.columns if column.feature_names and column.kind not in ("text", "date")]
    if graph.task == "regression":
        numbers = {each.name: each.values(tables.table)[known] for each in used if isinstance(each, Number)}
        return [name for name, values in numbers.items() if _is_line(values, labels)]
    rows, table = pa.array(known), tables.table
    few = [
        name for column in used if not (table.holds_numbers(name := column.name) and _many(table.columns[name], rows))
    ]
    texts = {name: table.text(name).take(rows) for name in few}
    return [name for name, cells in texts.items() if _tells(cells, labels, graph.num_classes)]


def _many(column: Any, rows: Any) -> bool:
    """Whether numbers have too many values to tell: decided without writing all of them as text."""
    return bool(OF_A_VALUE * pc.count_distinct(column.take(rows)).as_py() > len(rows) + OF_A_VALUE)  # one is for NaN


def _tells(cells: Any, labels: NDArray[np.int64], classes: int) -> bool:
    filled = np.asarray(pc.not_equal(cells, ""))
    parts = [np.full_like(filled, True), *([filled] if filled.mean() > 0.5 else [])]
    return any(_has_one_class_each(cells.filter(pa.array(part)), labels[part], classes) for part in parts)


def _has_one_class_each(cells: Any, labels: NDArray[np.int64], classes: int) -> bool:
    codes = np.asarray(cells.dictionary_encode().indices).astype(np.int64)
    values, pairs = len(np.unique(codes)), len(np.unique(codes * classes + labels))
    return 1 < values == pairs and OF_A_VALUE * values <= len(labels)


def _is_line(values: NDArray[np.float64], labels: NDArray[np.float64]) -> bool:
    filled = ~np.isnan(values)
    if 2 * filled.sum() <= filled.size:
        return False
    values, labels = values[filled], labels[filled]
    if len(values) < OF_A_VALUE or np.ptp(values) == 0 or np.ptp(labels) == 0:
        return False
    return bool(np.corrcoef(values, labels)[0, 1] ** 2 > 1 - 1e-9)


def suspicious_column(name: str, task: str) -> str:
    """What to do about one of the `telling_columns`."""
    what = "number" if task == "regression" else "class"
    return (
        f"Column {name!r} alone tells the {what} of every labelled node with a cell in it; leave it out with "
        f"--drop-column {shlex.quote(name)} if it was made from that: scores would mean nothing."
    )
