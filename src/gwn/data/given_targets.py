"""What an estimator is given as `y`: the classes or numbers of some nodes, and the column of the table they become."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from gwn.data.in_memory import TablePair, as_array, free_name, with_column
from gwn.errors import GWNError
from gwn.graph import Graph


def graph_argument(graph: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Nodes, edges and how to read them, from what the constructor was given."""
    if isinstance(graph, Mapping):
        rest = dict(graph)
        return rest.pop("nodes", None), rest.pop("edges", None), rest
    if isinstance(graph, (tuple, list)) and len(graph) == 2:
        return graph[0], graph[1], {}
    return graph, None, {}


def is_column(X: Any) -> bool:
    """Whether these are single values, such as ids, and not rows."""
    if isinstance(X, (str, Path, Mapping)) or hasattr(X, "columns") or hasattr(X, "tocsr"):
        return False
    return as_array(X).ndim == 1


def positions(graph: Graph, ids: Any) -> NDArray[np.int64]:
    """Where these ids are among the nodes."""
    known = {name: number for number, name in enumerate(graph.node_ids or map(str, range(graph.num_nodes)))}
    wanted = [as_text(value) for value in as_array(ids).reshape(-1)]
    missing = [name for name in wanted if name not in known]
    if missing:
        raise GWNError(
            f"the graph has no node {missing[0]!r}; its ids are such as {next(iter(known))!r}. "
            "Reshape your data to one row a node if these are features"
        )
    return np.array([known[name] for name in wanted], dtype=np.int64)


def spread(graph: Graph, ids: Any, y: Any) -> NDArray[Any]:
    """The classes or numbers of some nodes as those of all, None for the others."""
    values, at = values_of(y), positions(graph, ids)
    if len(values) != len(at):
        raise GWNError(f"{len(at)} node ids but {len(values)} values of y were given")
    found = np.full(graph.num_nodes, None, dtype=object)
    found[at] = values
    return found


def values_of(y: Any) -> NDArray[Any]:
    """`y` as a one-dimensional array."""
    if y is None:
        raise GWNError("requires y to be passed, but the target y is None; give y, or name the column with label=...")
    values = y.to_numpy(zero_copy_only=False) if isinstance(y, (pa.Array, pa.ChunkedArray)) else as_array(y)
    if values.ndim == 2 and values.shape[1] == 1:
        expected = "A column-vector y was passed when a 1d array was expected; its only column is taken"
        warnings.warn(expected, DataConversionWarning, stacklevel=3)
        values = values[:, 0]
    if values.ndim != 1:
        raise GWNError(
            f"y has the shape {values.shape}; several classes a node are not supported, give one; "
            "edges are given as fit(nodes, edges, label=...) or fit(X, y, edges=...)"
        )
    return values


def classes_of(y: Any) -> NDArray[Any]:
    """Classes as a one-dimensional array; whole numbers that a missing one made floating are whole again."""
    values = values_of(y)
    if values.dtype.kind == "f":
        finite = values[np.isfinite(values)]
        if np.isinf(values).any() or (finite != np.floor(finite)).any():
            raise GWNError(
                "Unknown label type: continuous; y holds numbers that are no classes. "
                "To predict numbers, use WaveRegressor"
            )
        if finite.size < values.size:
            whole = np.full(values.size, None, dtype=object)
            whole[np.isfinite(values)] = finite.astype(np.int64)
            return whole
    return values


def numbers_of_nodes(y: Any) -> NDArray[np.float64]:
    """Numbers as a one-dimensional array, NaN where they are not known."""
    values = values_of(y)
    try:
        numbers = np.asarray(pd.to_numeric(pd.Series(values).replace("", None)), dtype=np.float64)
    except (TypeError, ValueError):
        held = next(value for value in values.tolist() if isinstance(value, str))
        raise GWNError(f"y holds {held!r}, which is no number; use WaveClassifier to predict classes") from None
    if np.isinf(numbers).any():
        raise GWNError("Input y contains infinity; give a finite number, or NaN for a node to predict")
    return numbers


def is_unknown(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a class is not known: -1, NaN, None or an empty text."""
    if values.dtype.kind in "iu":
        return np.asarray(values == -1, dtype=bool)
    unknown = np.asarray(pd.isna(values), dtype=bool)
    if values.dtype.kind in "OUT":
        unknown |= np.array([isinstance(value, str) and not value.strip() for value in values], dtype=bool)
        numbers = np.array([isinstance(value, (int, float, np.number)) for value in values], dtype=bool)
        unknown[numbers] |= np.array([value == -1 for value in values[numbers]], dtype=bool)
    return unknown


def as_text(value: Any) -> str:
    """A class or an id as it stands in a table."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        value = int(value)
    return str(value).strip()


def with_classes(pair: TablePair, values: NDArray[Any], label: str | None) -> tuple[NDArray[Any], TablePair]:
    """The different classes in order, and the tables with a column of them, empty where they are not known."""
    _require_one_each(pair, values)
    known = ~is_unknown(values)
    try:
        classes = np.unique(values[known] if values.dtype != object else np.array(values[known].tolist()))
    except TypeError:
        raise GWNError("the classes are of several types, such as text and numbers; make them one") from None
    if len(classes) < 2:
        held = f"only one class, {as_text(classes[0])!r}" if len(classes) else "no class that is known"
        raise GWNError(f"y has {held}; the classifier needs at least two classes")
    texts = [as_text(value) if is_known else None for value, is_known in zip(values, known, strict=True)]
    if len({as_text(kind) for kind in classes}) < len(classes):
        raise GWNError("two classes look the same in a table, apart from blanks; rename one")
    for name, column in pair.nodes.columns.items():
        if name == label or name == pair.label_column or not pa.types.is_string(column.type):
            continue
        cells = pair.nodes.text(name).to_pylist()
        if all(cell == text for cell, text in zip(cells, texts, strict=True) if text is not None):
            raise GWNError(f"column {name!r} of the nodes holds the very classes to be learnt; leave it out with drop")
    name = label or pair.label_column or free_name(pair.nodes, "label")
    nodes = with_column(pair.nodes, name, pa.array(texts, pa.string()))
    return classes, replace(pair, nodes=nodes, label_column=name)


def with_numbers(pair: TablePair, numbers: NDArray[np.float64], label: str | None) -> TablePair:
    """The tables with a column of the numbers to learn, empty where they are not known."""
    _require_one_each(pair, numbers)
    name = label or pair.label_column or free_name(pair.nodes, "label")
    nodes = with_column(pair.nodes, name, pa.array(numbers, mask=np.isnan(numbers)))
    return replace(pair, nodes=nodes, label_column=name)


def _require_one_each(pair: TablePair, values: NDArray[Any]) -> None:
    if len(values) != pair.nodes.rows:
        raise GWNError(
            f"{pair.nodes.rows} nodes but {len(values)} values of y were given: inconsistent numbers of samples"
        )
