"""What an estimator is given as `y`: the classes or numbers of some nodes, and the column of the table they become."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from gwn.data.cells import short
from gwn.data.columns import FEW, MANY
from gwn.data.in_memory import TablePair, as_array, free_name, with_column
from gwn.data.schema import WHOLE_OR_INTEGER
from gwn.data.tables import MISSING, Table
from gwn.errors import GWNError
from gwn.graph import Graph

CLASSES = (str, int, float, np.bool_, np.integer, np.floating)
"""What a class may be."""


def graph_argument(graph: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Nodes, edges and how to read them, from what the constructor was given."""
    if isinstance(graph, Mapping):
        rest = dict(graph)
        if rest.get("label") is not None:  # it would be learnt in the place of y, the nodes to be scored included
            name = rest["label"]
            raise GWNError(f"graph has label={name!r}, and y says what is to be learnt; give drop=[{name!r}] instead")
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
    given = as_array(ids)
    if given.size != len(given):
        raise GWNError(f"ids of nodes are one column; got {given.shape[1:]} values a row: give the column of the ids")
    wanted = [as_text(value) for value in given.reshape(-1)]
    missing = [name for name in wanted if name not in known]
    if missing:
        raise GWNError(
            f"the graph has no node {short(missing[0])}; its ids are such as {short(next(iter(known)))}. "
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
    for name, *both in zip(as_array(ids).reshape(-1), values, found[at], strict=True):
        given, kept = map(as_text, both)
        if given != kept:
            raise GWNError(f"node {as_text(name)!r} has two values of y, {given!r} and {kept!r}; give one of them")
    return found


def values_of(y: Any) -> NDArray[Any]:
    """`y` as a one-dimensional array."""
    if y is None:
        raise GWNError("requires y to be passed, but the target y is None; give y, or name the column with label=...")
    values = y.to_numpy(zero_copy_only=False) if isinstance(y, (pa.Array, pa.ChunkedArray)) else as_array(y)
    if values.dtype.kind == "U" and values.ndim == 1 and isinstance(y, (list, tuple)):
        values = np.array(y, dtype=object)  # beside texts NumPy writes NaN as 'nan' and None as 'None'
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


def classes_of(y: Any, *, whole: bool = True, minus_one: bool = False) -> NDArray[Any]:
    """Classes as a one-dimensional array; whole numbers that a missing one made floating are whole again.

    whole       also those that are written as text, as in a table: then "1.0" is "1", and "-1" is what -1 is
    minus_one   whether -1 is a class, as it is in a column of a table
    """
    values = values_of(y)
    held = {"M": "dates", "m": "durations", "S": "bytes"}.get(values.dtype.kind, str(values.dtype))
    if values.dtype.kind == "O":  # what is none of these has no place in a file of JSON
        known = values[~is_unknown(values, minus_one=True)]
        held = next((type(value).__name__ for value in known if not isinstance(value, CLASSES)), "")
    if held and values.dtype.kind not in "biufUT":
        raise GWNError(f"Unknown label type: y holds {held}; give classes as text, for example y.astype(str)")
    if values.dtype.kind == "f":
        finite = values[np.isfinite(values)]
        if np.isinf(values).any() or (finite != np.floor(finite)).any():
            raise GWNError(
                "Unknown label type: continuous; y holds numbers that are no classes. "
                "To predict numbers, use WaveRegressor"
            )
        if finite.size < values.size:
            found = np.full(values.size, None, dtype=object)
            found[np.isfinite(values)] = finite.astype(np.int64)
            return found
    return _written(values, whole, minus_one) if any(isinstance(value, str) for value in values) else values


def _written(values: NDArray[Any], whole: bool, minus_one: bool) -> NDArray[Any]:
    """Classes some of which are text, all as a table has them; None where they are not known."""
    unknown = is_unknown(values, minus_one=minus_one)
    texts = [as_text(value) for value in values[~unknown]]
    if whole and all(re.match(WHOLE_OR_INTEGER, text) for text in texts):
        plain = [re.sub(r"\.0+$", "", text) for text in texts]
        found: list[str | None] = [None if text == "-1" and not minus_one else text for text in plain]
    elif all(isinstance(value, str) for value in values[~unknown]):
        return values
    else:
        found = list(texts)
    written = np.full(values.size, None, dtype=object)
    written[~unknown] = found
    return written


def numbers_of_nodes(y: Any) -> NDArray[np.float64]:
    """Numbers as a one-dimensional array, NaN where they are not known."""
    values = values_of(y)
    if values.dtype.kind in "Mm" or any(isinstance(value, (date, timedelta)) for value in values):
        raise GWNError("y holds dates or durations, which are no numbers; give numbers, for example of days since one")
    try:
        numbers = np.asarray(pd.to_numeric(pd.Series(values).replace("", None)), dtype=np.float64)
    except (TypeError, ValueError):
        held = next(value for value in values.tolist() if isinstance(value, str))
        raise GWNError(f"y holds {held!r}, which is no number; use WaveClassifier to predict classes") from None
    if np.isinf(numbers).any():
        raise GWNError("Input y contains infinity; give a finite number, or NaN for a node to predict")
    return numbers


def is_unknown(values: NDArray[Any], *, minus_one: bool = False) -> NDArray[np.bool_]:
    """Where a class is not known: -1, NaN, None, an empty text, or a word such as NA that stands for one in a table.

    minus_one   whether -1 is a class all the same
    """
    if values.dtype.kind in "iuf":
        return np.asarray(((values == -1) & (not minus_one)) | pd.isna(values), dtype=bool)
    unknown = np.asarray(pd.isna(values), dtype=bool)
    if values.dtype.kind in "OUT":
        unknown |= np.array([isinstance(value, str) and value.strip() in MISSING for value in values], dtype=bool)
        numbers = np.array([isinstance(value, (int, float, np.number)) for value in values], dtype=bool)
        unknown[numbers] |= np.array([value == -1 and not minus_one for value in values[numbers]], dtype=bool)
    return unknown


def words_for_nothing(y: Any, *, minus_one: bool = False) -> str:
    """Words such as NA among classes, which are read as unknown, and how often, in one line; one may be a class."""
    words = Counter(value.strip() for value in values_of(y) if isinstance(value, str) and value.strip() in MISSING[1:])
    with_it, without = (
        int(is_unknown(classes_of(y, minus_one=is_class), minus_one=is_class).sum()) for is_class in (minus_one, True)
    )
    if with_it > without:
        words["-1"] = with_it - without
    named = ", ".join(f"{word!r} ({count:,})" for word, count in words.items())
    return f"Read as not known, so to be predicted: {named}. Where it is a class, call it differently." if words else ""


def as_text(value: Any) -> str:
    """A class or an id as it stands in a table."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        value = int(value)
    return str(value).strip()


def classes_in(table: Table, name: str) -> Any:
    """A column of classes, without blanks around its texts, as the commands read it."""
    column = table.columns[name]
    return pc.utf8_trim_whitespace(column) if pa.types.is_string(column.type) else column


def with_classes(
    pair: TablePair, values: NDArray[Any], label: str | None, drop: Sequence[str] = (), *, minus_one: bool = False
) -> tuple[NDArray[Any], TablePair]:
    """The different classes in order, and the tables with a column of them, empty where they are not known.

    drop        columns that are no features, and may hold the classes themselves
    minus_one   whether -1 is a class
    """
    _require_one_each(pair, values)
    known = ~is_unknown(values, minus_one=minus_one)
    try:
        classes = np.unique(values[known] if values.dtype != object else np.array(values[known].tolist()))
    except TypeError:
        raise GWNError("the classes are of several types, such as text and numbers; make them one") from None
    if len(classes) < 2:
        held = f"only one class, {as_text(classes[0])!r}" if len(classes) else "no class that is known"
        raise GWNError(
            f"y has {held}; the classifier needs at least two classes, and -1, NaN, None and '' are none: give others"
        )
    texts = [as_text(value) if is_known else None for value, is_known in zip(values, known, strict=True)]
    called: dict[str, Any] = {}
    for kind in classes.tolist():
        if (one := called.setdefault(as_text(kind), kind)) is not kind:
            raise GWNError(f"the classes {one!r} and {kind!r} of y look the same in a table; write them alike")
    for name in () if pair.matrix else pair.nodes.columns:
        if name in (label, pair.label_column, *drop) or not _may_be_classes(pair.nodes, name, len(classes)):
            continue
        cells = [as_text(cell) for cell in pair.nodes.text(name).to_pylist()]
        if all(cell.lower() == text.lower() for cell, text in zip(cells, texts, strict=True) if text is not None):
            raise GWNError(
                f"column {name!r} of the nodes holds the very classes to be learnt; leave it out with drop=[{name!r}]"
            )
    name = label or pair.label_column or free_name(pair.nodes, "label")
    nodes = with_column(pair.nodes, name, pa.array(texts, pa.string()))
    return classes, replace(pair, nodes=nodes, label_column=name)


def _may_be_classes(table: Table, name: str, classes: int) -> bool:
    """Whether a column is text, or numbers of which there are about as many as classes."""
    column = table.columns[name]
    if not table.is_readable(name) or pa.types.is_string(column.type):
        return table.is_readable(name)
    return len(pc.unique(column.slice(0, MANY))) <= classes + FEW


def require_same_order(X: Any, y: Any) -> None:
    """Refuse a series whose index is that of the nodes in another order: it would be taken row by row."""
    if not isinstance(X, pd.DataFrame) or not isinstance(y, pd.Series) or len(X) != len(y) or X.index.equals(y.index):
        return
    if X.index.is_unique and y.index.is_unique and X.index.isin(y.index).all():
        raise GWNError("y has the index of the nodes in another order; give y.loc[nodes.index], or y.to_numpy()")


def with_numbers(
    pair: TablePair, numbers: NDArray[np.float64], label: str | None, drop: Sequence[str] = ()
) -> TablePair:
    """The tables with a column of the numbers to learn, empty where they are not known.

    drop   columns that are no features, and may hold the numbers themselves
    """
    _require_one_each(pair, numbers)
    known = ~np.isnan(numbers)
    if np.unique(numbers[known]).size < 2:
        raise GWNError("y has no two different numbers to learn from, and NaN and None are none; give others")
    for name in () if pair.matrix else pair.nodes.columns:
        if name in (label, pair.label_column, *drop) or not pair.nodes.is_readable(name):
            continue
        cells = pd.to_numeric(pair.nodes.columns[name].to_pandas(), errors="coerce").to_numpy(np.float64)
        if np.allclose(cells[known], numbers[known], rtol=1e-6, atol=0):  # a copy may have single precision
            raise GWNError(
                f"column {name!r} of the nodes holds the very numbers to be learnt; leave it out with drop=[{name!r}]"
            )
    name = label or pair.label_column or free_name(pair.nodes, "label")
    nodes = with_column(pair.nodes, name, pa.array(numbers, mask=np.isnan(numbers)))
    return replace(pair, nodes=nodes, label_column=name)


def _require_one_each(pair: TablePair, values: NDArray[Any]) -> None:
    if len(values) != pair.nodes.rows:
        raise GWNError(
            f"{pair.nodes.rows} nodes but {len(values)} values of y were given: inconsistent numbers of samples"
        )
