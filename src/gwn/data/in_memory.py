"""Whatever holds a graph in memory, as the two tables that the command line reads from files.

A data frame, a matrix, a networkx graph or a PyG `Data` becomes a `Table` of nodes and one of edges, and from there on
everything is decided by the code that reads CSV files: which column holds the ids, what a column is, what is refused.
"""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import torch
from numpy.typing import NDArray

from gwn.data.dataset import Dataset
from gwn.data.edge_columns import choose_ends
from gwn.data.files import as_trained, load_files
from gwn.data.node_ids import choose_id_column, different_ids, row_numbers
from gwn.data.schema import FeatureSchema
from gwn.data.tables import DECIMAL_COMMA_MARK, Table, read_table
from gwn.errors import GWNError
from gwn.graph import Graph, entries_once

NODES, EDGES = Path("nodes"), Path("edges")
SOURCE, TARGET, WEIGHT = "source", "target", "weight"
NO_NAME = "index"
"""What an index without a name is called, as pandas does."""

IN_PYTHON = {
    "--id-column": "id",
    "--label-column": "label",
    "--weight-column": "weight",
    "--source-column": "source",
    "--target-column": "target",
    "--drop-column": "drop",
    "--text-column": "text",
    "--features": "features",
    "--task": "task",
    "--directed": "directed",
    "--skip-unknown": "skip_unknown",
    "--runs": "runs",
    "--prior": "prior",
    "--class-weights": "settings",
}
"""Option of the command line -> the argument that says the same in Python."""

SEVERAL = ("drop", "text")
"""Arguments that take a list."""

SWITCHES = ("directed", "skip_unknown")
"""Arguments that are true or false."""

NUMBERS = ("runs",)
"""Arguments that are whole numbers."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TablePair:
    """Nodes and edges as tables, and the special columns that were settled by what they came from, if any.

    index_column   the index of a data frame: it may hold the ids, but is never a feature
    matrix         whether the nodes were a matrix, whose columns have no names
    named          whether the edges were a table, whose columns have names that a person gave
    ones           whether every edge weighs one and has no weight for that: those of a SciPy matrix, or no edges at all
    """

    nodes: Table
    edges: Table
    id_column: str | None = None
    index_column: str | None = None
    label_column: str | None = None
    weight_column: str | None = None
    matrix: bool = False
    named: bool = False
    ones: bool = False


def load_pair(
    pair: TablePair,
    *,
    label: str | None = None,
    id: str | None = None,
    weight: str | None = None,
    source: str | None = None,
    target: str | None = None,
    drop: Sequence[str] = (),
    text: Sequence[str] = (),
    features: str | None = None,
    task: str = "classification",
    directed: bool = False,
    skip_unknown: bool = False,
    schema: FeatureSchema | None = None,
) -> tuple[Dataset, FeatureSchema]:
    """`load_files` for a pair of tables; see `Graph.from_tables` for the arguments.

    schema   read them as an earlier pair was
    """
    dropped = [drop] if isinstance(drop, str) else list(drop)
    label = label or pair.label_column
    if schema is not None and not pair.named:
        source, target = SOURCE, TARGET
    weighed = None if schema is None else schema.weight_column
    if pair.ones and weighed is not None and weighed not in pair.edges.columns:
        pair = replace(pair, edges=with_column(pair.edges, weighed, np.ones(pair.edges.rows)))
    with said_in_python(), nullcontext() if schema is None else as_trained(schema):
        id_column = id or pair.id_column
        undecided = id is None and (schema is None or schema.id_column not in pair.nodes.columns)
        if pair.index_column is not None and pair.index_column not in (id, *dropped):
            if undecided and _goes_by_index(pair, label, source, target, dropped, known=schema is not None):
                id_column = pair.index_column
            else:  # an index that no edge goes by is not a feature either
                dropped.append(pair.index_column)
        return load_files(
            edges=pair.edges,
            nodes=pair.nodes,
            label_column=label,
            id_column=id_column,
            weight_column=weight or pair.weight_column,
            source_column=source,
            target_column=target,
            drop_columns=dropped,
            text_columns=[text] if isinstance(text, str) else list(text),
            structural=features,
            task=task,
            directed=directed,
            skip_unknown=skip_unknown,
            schema=schema,
        )


def _goes_by_index(
    pair: TablePair, label: str | None, source: str | None, target: str | None, dropped: Sequence[str], *, known: bool
) -> bool:
    """Whether the ids that the edges name are those of the data frame's index.

    An index without a name may also be what sorting or sampling left of the row numbers: then both readings are
    possible, of other nodes, and a person has to say which is meant.

    known   whether a model says how the tables are read
    """
    ends = choose_ends(pair.edges, pair.nodes, source, target, weight_column=pair.weight_column)
    named = different_ids(*(pair.edges.ids(name) for name in ends))
    free = [name for name in pair.nodes.columns if name != label and name not in dropped]
    by_index = choose_id_column(pair.nodes, named, free) == pair.index_column
    if not by_index or pair.index_column != NO_NAME or len(named) == 0:
        return by_index
    rows = row_numbers(pair.nodes)
    if pair.nodes.ids(NO_NAME) != rows and pc.all(pc.is_in(named, value_set=rows)).as_py():
        index = "name the index, nodes.rename_axis('node')," if known else f"say id={NO_NAME!r}"
        raise GWNError(
            f"the edges name nodes by the index of the data frame or by row number, which are different nodes here; "
            f"{index} to go by the index, or call nodes.reset_index(drop=True) to go by row number"
        )
    return True


def load_tables(nodes: Any, edges: Any, **reading: Any) -> tuple[Dataset, FeatureSchema]:
    """`load_pair` of whatever `table_pair` understands."""
    return load_pair(table_pair(nodes, edges, reading.get("task", "classification")), **reading)


def graph_from_tables(nodes: Any, edges: Any, **reading: Any) -> Graph:
    """`Graph.from_tables`, which the core asks for by name because it knows no tables."""
    return load_tables(nodes, edges, **reading)[0].graph


@contextmanager
def said_in_python() -> Iterator[None]:
    """Advice that names an option of the command line names the argument of the same meaning instead."""
    try:
        yield
    except GWNError as error:
        raise type(error)(in_python(str(error))) from None


def in_python(said: str) -> str:
    """What is said for the command line, with arguments in the place of options."""
    return _OPTION.sub(_argument, _HEADER.sub(r"\1", said))


_HEADER = re.compile(r"(; )say --no-header (?:edges|nodes) \(.*\), or |, or say --no-header .*")
"""Advice for tables in files; whoever holds a table in memory has named its columns."""

_OPTION = re.compile(rf"({'|'.join(IN_PYTHON)})(?![\w-])(?: ('[^']*'|[^\s,;)'\"`]*[^\s,;)'\"`.]))?(?=[ ,;)`.]|$)")


def _argument(found: re.Match[str]) -> str:
    name, value = IN_PYTHON[found[1]], found[2]
    if name in SWITCHES:
        return f"{name}=True{'' if value is None else f' {value}'}"
    if value is None or value in ("and", "or"):
        return f"{name}={'[...]' if name in SEVERAL else '...'}{'' if value is None else f' {value}'}"
    value = value if name in NUMBERS else repr(value.strip("'"))
    if name == "settings":  # of the training, which have no argument of their own
        return f"settings={{{found[1][2:].replace('-', '_')!r}: {value}}}"
    return f"{name}=[{value}]" if name in SEVERAL else f"{name}={value}"


def table_pair(nodes: Any, edges: Any, task: str = "classification") -> TablePair:
    """Nodes and edges as tables.

    nodes   a pandas, polars or other Arrow table, a dictionary of columns, a path to CSV or Parquet, a matrix (NumPy,
            PyTorch or SciPy); or a networkx graph or PyG `Data`, which have edges of their own
    edges   a table or path likewise, node pairs [2, E] or [E, 2], a SciPy adjacency matrix (`A[i, j]` is the edge
            j -> i), a networkx graph; None for no edges at all
    task    what the labels of a PyG `Data` are
    """
    if _is_networkx(nodes):
        if edges is not None:
            raise GWNError("a networkx graph has its edges in it; leave edges out")
        between = _networkx_edges(nodes)
        weight = WEIGHT if WEIGHT in between.columns else None
        return TablePair(nodes=_networkx_nodes(nodes), edges=between, id_column="node", weight_column=weight)
    if hasattr(nodes, "edge_index") and hasattr(nodes, "num_nodes"):
        if edges is not None:
            raise GWNError("the PyG data object has its edges in it; leave edges out")
        return _pyg_pair(nodes, task)
    node_table, by_row = _node_table(nodes)
    edge_table, weighted, numbers, named = _edge_table(edges, node_table.rows)
    if by_row or numbers:  # nothing to find out: these edges can only name rows
        node_table, id_column = _with_row_numbers(node_table)
    else:
        id_column = None
    return TablePair(
        nodes=node_table,
        edges=edge_table,
        id_column=id_column,
        index_column=index_name(nodes),
        weight_column=WEIGHT if weighted else None,
        matrix=by_row,
        named=named,
        ones=not edge_table.rows or (numbers and not weighted),
    )


def parquet_bytes(table: Table) -> bytes:
    """A table as the content of a Parquet file, which says how its cells are read: they are as they were written."""
    buffer, content = io.BytesIO(), pa.table(dict(table.columns))
    pq.write_table(content.replace_schema_metadata(DECIMAL_COMMA_MARK) if table.decimal_comma else content, buffer)
    return buffer.getvalue()


def with_column(table: Table, name: str, values: Any) -> Table:
    """The table with one more column, or with another content in it."""
    made = _with_columns(table, {**table.columns, name: pa.array(values)})
    return replace(made, declared=table.declared - {name})


def _with_columns(table: Table, columns: Mapping[str, Any]) -> Table:
    return _in_memory(table.path, pa.table(columns), table.row_names, decimal_comma=table.decimal_comma)


def free_name(table: Table, name: str) -> str:
    """`name`, or the first of name_2, name_3, ... that no column has."""
    number, free = 1, name
    while free in table.columns:
        number += 1
        free = f"{name}_{number}"
    return free


def as_array(data: Any) -> NDArray[Any]:
    """A tensor, list or array as NumPy, from whatever device it is on; one with masked cells would lose its mask."""
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        raise GWNError(
            f"a masked array of shape {data.shape} was given; fill it first: NaN for a number that is not known, None "
            "for anything else"
        )
    if hasattr(data, "detach"):
        data = data.detach().cpu().to_dense()
        data = data.float() if data.dtype == torch.bfloat16 else data
    return np.asarray(data)


def _in_memory(path: Path, table: pa.Table, row_names: str | None = None, *, decimal_comma: bool = False) -> Table:
    plain = pa.Table.from_arrays([_plain(column) for column in table.columns], names=table.column_names)
    made = Table.from_arrow(path, plain, decimal_comma=decimal_comma)
    sha256 = hashlib.sha256(parquet_bytes(made)).hexdigest()
    declared = (name for name, column in zip(table.column_names, table.columns, strict=True) if _is_dictionary(column))
    return replace(made, content_hash=sha256, row_names=row_names or made.row_names, declared=frozenset(declared))


def _is_dictionary(column: Any) -> bool:
    return bool(pa.types.is_dictionary(column.type))


def _plain(column: Any) -> Any:
    """A column of the types that tables in files have: no dictionaries, no views, no half floats, no extensions."""
    if isinstance(column.type, pa.BaseExtensionType):
        column = pa.chunked_array([_cells(column.to_pandas())])
    if _is_dictionary(column):
        parts = [_plain(part.dictionary).take(part.indices) for part in column.chunks]
        column = pa.chunked_array(parts) if parts else pa.chunked_array([], pa.string())
    kind = column.type
    if pa.types.is_null(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.string())
    return column.cast(pa.float32()) if pa.types.is_float16(kind) else column


def _node_table(nodes: Any) -> tuple[Table, bool]:
    """The table, and whether its rows have no other name than their number."""
    if hasattr(nodes, "tocsr"):
        nodes = nodes.toarray()
    found = _table(NODES, nodes)
    if found is not None:
        return found, False
    matrix = as_array(nodes)
    if matrix.ndim != 2:
        shape = "a single number" if matrix.ndim == 0 else f"an array of {matrix.ndim} dimension(s)"
        raise GWNError(
            f"nodes are a table or a matrix with one row a node; got {shape}. "
            "Reshape your data either using array.reshape(-1, 1) if it has a single feature "
            "or array.reshape(1, -1) if it contains a single sample"
        )
    if np.iscomplexobj(matrix):
        raise GWNError("Complex data not supported: features are real numbers, categories or dates")
    if matrix.shape[0] == 0 or matrix.shape[1] == 0:
        what = "sample" if matrix.shape[0] == 0 else "feature"
        raise GWNError(f"0 {what}(s) (shape={matrix.shape}) while a minimum of 1 is required.")
    columns = {f"x{number}": _cells(matrix[:, number]) for number in range(matrix.shape[1])}
    return _in_memory(NODES, pa.table(columns)), True


def _edge_table(edges: Any, nodes: int) -> tuple[Table, bool, bool, bool]:
    """The table; whether its column `weight` holds weights, whether it can only name rows by their numbers, and whether
    a person gave its columns their names."""
    if edges is None:
        return _pairs([], [], None), False, False, False
    if _is_networkx(edges):
        table = _networkx_edges(edges)
        return table, WEIGHT in table.columns, False, False
    if hasattr(edges, "tocoo"):
        coo = entries_once(edges, nodes)
        weights = None if np.all(coo.data == 1) else coo.data.astype(np.float64)
        return _pairs(coo.col, coo.row, weights), weights is not None, True, False
    found = _table(EDGES, edges)
    if found is not None:
        return found, False, False, True
    listed = isinstance(edges, (list, tuple))
    if listed and not edges:
        return _pairs([], [], None), False, False, False
    try:
        array = as_array(edges)
    except (TypeError, ValueError):
        array = np.empty(())
    pairs = listed and isinstance(edges[0], tuple) and array.shape[1:] == (2,)
    if array.ndim != 2 or 2 not in array.shape:
        raise GWNError(
            f"edges of type {type(edges).__name__} and shape {array.shape} cannot be read; give a table with columns "
            "source and target, an array [2, E] or [E, 2], or a SciPy sparse adjacency matrix"
        )
    if array.shape == (2, 2) and not pairs:
        raise GWNError("a 2 x 2 array of edges can be read in two ways; give a table with columns source and target")
    source, target = array.T if pairs or array.shape[0] != 2 else array
    return _pairs(source, target, None), False, False, False


def _pairs(source: Any, target: Any, weights: Any) -> Table:
    columns = {SOURCE: _cells(np.asarray(source)), TARGET: _cells(np.asarray(target))}
    if weights is not None:
        columns[WEIGHT] = pa.array(np.asarray(weights, dtype=np.float64))
    return _in_memory(EDGES, pa.table(columns))


def _table(path: Path, data: Any) -> Table | None:
    """A table from a file, a data frame, an Arrow table or a dictionary of columns; None for anything else."""
    if isinstance(data, Table):
        return data
    if isinstance(data, (str, Path)):
        read = read_table(Path(data))
        return replace(_with_columns(read, dict(read.columns)), declared=read.declared)
    if isinstance(data, pd.DataFrame):
        return _in_memory(path, _from_pandas(data, None if path == EDGES else index_name(data)))
    try:
        if isinstance(data, pa.Table):
            return _in_memory(path, data)
        if isinstance(data, Mapping):
            return _in_memory(path, pa.table({str(name): _cells(as_array(cells)) for name, cells in data.items()}))
        if hasattr(data, "__arrow_c_stream__"):
            return _in_memory(path, pa.table(data))
        if hasattr(data, "collect") and hasattr(data, "lazy"):
            return _table(path, data.collect())  # a polars LazyFrame
        if hasattr(data, "__dataframe__"):
            return _in_memory(path, pa.interchange.from_dataframe(data))
    except (pa.ArrowException, ValueError, TypeError) as error:
        if isinstance(error, GWNError):
            raise
        raise GWNError(f"{path}: a {type(data).__name__} that is not a table ({str(error).splitlines()[0]})") from None
    return None


def index_name(frame: Any) -> str | None:
    """What the index of a data frame is called, where it says more than the row number."""
    if not isinstance(frame, pd.DataFrame) or (isinstance(frame.index, pd.RangeIndex) and frame.index.name is None):
        return None
    if isinstance(frame.index, pd.MultiIndex):
        raise GWNError("nodes with an index of several levels have no single id; call reset_index() first")
    name = NO_NAME if frame.index.name is None else str(frame.index.name)
    if name in map(str, frame.columns):
        raise GWNError(f"the index and a column are both named {name!r}; rename one, or call reset_index(drop=True)")
    return name


def _from_pandas(frame: pd.DataFrame, index: str | None) -> pa.Table:
    """The columns, after the index where it has a name."""
    names = [str(name) for name in frame.columns]
    arrays = [_cells(frame.iloc[:, at]) for at in range(frame.shape[1])]
    if index is not None:
        names, arrays = [index, *names], [_cells(frame.index.to_series()), *arrays]
    return pa.Table.from_arrays(arrays, names=names)


def _cells(values: Any) -> Any:
    """One column; cells of several types become text, periods the date they begin; what is missing stays missing."""
    series: Any = values if isinstance(values, pd.Series) else pd.Series(values)
    if series.dtype == object:
        series = series.infer_objects()
    if isinstance(series.dtype, pd.PeriodDtype):
        series = series.dt.to_timestamp()
    try:
        cells = pa.Array.from_pandas(series)
    except (pa.ArrowException, ValueError, TypeError, OverflowError, NotImplementedError):
        cells = None
    if cells is None or isinstance(cells.type, pa.BaseExtensionType):  # an interval, say: Arrow cannot compare them
        return pa.array([None if cell is None or cell is pd.NA or cell != cell else str(cell) for cell in series])
    return cells


def _with_row_numbers(table: Table) -> tuple[Table, str]:
    name = free_name(table, "node")
    return with_column(table, name, np.arange(table.rows)), name


def _is_networkx(data: Any) -> bool:
    return hasattr(data, "adjacency") and hasattr(data, "is_multigraph") and hasattr(data, "nodes")


def _networkx_nodes(graph: Any) -> Table:
    nodes = list(graph.nodes)
    names = list(dict.fromkeys(str(name) for node in nodes for name in graph.nodes[node]))
    if "node" in names:
        raise GWNError("a node attribute is called 'node', which is the name for the nodes themselves; rename it")
    columns = {"node": pa.array([str(node) for node in nodes], pa.string())}
    for name in names:
        columns[name] = _cells(pd.Series([graph.nodes[node].get(name) for node in nodes], dtype=object))
    return _in_memory(NODES, pa.table(columns))


def _networkx_edges(graph: Any) -> Table:
    """Source, target and every attribute of the edges; where there are weights, an edge without one weighs one."""
    found = list(graph.edges(data=True))
    names = list(dict.fromkeys(str(name) for _, _, about in found for name in about))
    columns = {SOURCE: [str(a) for a, _, _ in found], TARGET: [str(b) for _, b, _ in found]}
    taken = [name for name in names if name in columns]
    if taken:
        raise GWNError(f"an edge attribute is called {taken[0]!r}, which is the name for an end of the edge; rename it")
    arrays = {name: pa.array(cells, pa.string()) for name, cells in columns.items()}
    for name in names:
        arrays[name] = _cells(
            pd.Series([about.get(name, 1 if name == WEIGHT else None) for _, _, about in found], dtype=object)
        )
    return _in_memory(EDGES, pa.table(arrays))


def _pyg_pair(data: Any, task: str) -> TablePair:
    """From the checked graph of a PyG `Data`; the class or number is in column `y`, empty where it is not known.

    Labels outside of `train_mask` and `val_mask` are left out where there are such masks: they are what a test is for.
    Masks of several splits leave nothing out, with a warning.
    """
    graph = Graph.from_pyg(data, task=task)
    nodes, _ = _node_table(graph.x.to_dense())
    weight = None if graph.edge_weight is None else graph.edge_weight.numpy()
    source, target = graph.edge_index.numpy()
    edges = _pairs(source, target, weight)
    nodes, id_column = _with_row_numbers(nodes)
    label_column = None
    if graph.y is not None:
        label_column = "y"
        known = as_array(graph.labelled)
        if getattr(data, "train_mask", None) is not None:
            masks = [as_array(mask) for mask in (data.train_mask, getattr(data, "val_mask", None)) if mask is not None]
            if all(mask.size == len(known) for mask in masks):
                known &= np.logical_or.reduce([mask.reshape(-1) for mask in masks])
            else:
                warnings.warn(
                    f"train_mask is of several splits, {masks[0].shape}, so the labels of all nodes are learnt, those "
                    "of tests among them; data.train_mask[:, 0] and data.val_mask[:, 0] choose the first",
                    stacklevel=4,
                )
        nodes = with_column(nodes, "y", pa.array(as_array(graph.y), mask=~known))
    return TablePair(
        nodes=nodes,
        edges=edges,
        id_column=id_column,
        label_column=label_column,
        weight_column=None if weight is None else WEIGHT,
        matrix=True,
    )
