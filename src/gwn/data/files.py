"""Anyone's own graph from files: a table of edges and a table of nodes, or one file that holds both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import torch
from torch import Tensor

from gwn.data.dataset import Dataset
from gwn.data.edges import undirected_edges
from gwn.data.graph_file import load_graph_file
from gwn.data.schema import FeatureSchema
from gwn.data.store import sha256
from gwn.data.tables import Table, read_table
from gwn.errors import GWNError
from gwn.graph import Graph

ENDPOINTS = (("source", "target"), ("src", "dst"), ("from", "to"))


def load_files(
    *,
    edges: Path,
    nodes: Path,
    label_column: str | None,
    id_column: str | None = None,
    weight_column: str | None = None,
    source_column: str | None = None,
    target_column: str | None = None,
    drop_columns: Sequence[str] = (),
    structural: str | None = None,
    schema: FeatureSchema | None = None,
    directed: bool = False,
    standardise: bool = True,
) -> tuple[Dataset, FeatureSchema]:
    """A graph from an edge table and a node table, each CSV or Parquet, and the schema that encoded it.

    Every column of the node table that is not the id, the label or dropped becomes features; rows with an empty
    label are to be predicted. Ids are compared as text: column `id_column`, else one named id, node_id or node, else
    the row number from 0. With `schema`, the encoding of an earlier graph is applied to this one.
    """
    edge_table, node_table = read_table(Path(edges)), read_table(Path(nodes))
    if schema is None:
        schema = FeatureSchema.fit(
            node_table,
            label_column=label_column,
            id_column=id_column,
            weight_column=weight_column,
            drop_columns=drop_columns,
            structural=structural,
            standardise=standardise,
        )
    else:
        schema = replace(
            schema,
            label_column=label_column or schema.label_column,
            id_column=id_column or schema.id_column,
            weight_column=weight_column or schema.weight_column,
        )
    ids = schema.ids(node_table)
    edge_index = _endpoints(edge_table, node_table, ids, schema, source_column, target_column)
    edge_weight = _weights(edge_table, schema.weight_column)
    if not directed:
        edge_index, edge_weight = undirected_edges(edge_index, edge_weight, node_table.rows)
    graph = Graph(
        x=schema.features(node_table, edge_index, edge_weight),
        edge_index=edge_index,
        edge_weight=edge_weight,
        y=schema.labels(node_table),
        name=Path(nodes).stem,
        node_ids=tuple(ids.to_pylist()),
        class_names=schema.class_names or None,
        feature_names=schema.feature_names,
    )
    dataset = Dataset(
        name=graph.name,
        graph=graph.compact(),
        metric="accuracy",
        default_split="stratified",
        directed=directed,
        published={},
        files={table.path.name: sha256(table.path) for table in (edge_table, node_table)},
    )
    return dataset, schema


def _endpoints(
    table: Table, nodes: Table, ids: Any, schema: FeatureSchema, source: str | None, target: str | None
) -> Tensor:
    """Edges [2, E] as node numbers; an edge that names an unknown node is refused."""
    ends = _endpoint_names(table, ids, source, target)
    named_ends = [table.text(name, missing=()) for name in ends]
    found = [pc.index_in(text, value_set=ids) for text in named_ends]
    unknown = np.logical_or(*(np.asarray(column.is_null()) for column in found))
    if unknown.any():
        named = [name for text, at in zip(named_ends, found, strict=True) for name in _unknown(text, at)]
        named = list(dict.fromkeys(named))
        some = ", ".join(named[:3]) + (", …" if len(named) > 3 else "")
        where = "the row numbers" if schema.id_column is None else f"column {schema.id_column!r}"
        raise GWNError(
            f"{table.path.name}: {int(unknown.sum())} of {table.rows} edges name nodes that {nodes.path.name} does not "
            f"have: {some} (first in row {int(unknown.argmax()) + 1}); "
            f"node ids are {where} of {nodes.path.name}, choose another with --id-column"
        )
    return torch.from_numpy(np.stack([np.asarray(column, dtype=np.int64) for column in found]))


def _endpoint_names(table: Table, ids: Any, source: str | None, target: str | None) -> tuple[str, str]:
    if (source is None) != (target is None):
        raise GWNError("give both the source and the target column of the edges, or neither")
    if source is not None and target is not None:
        table.require("source column", source)
        table.require("target column", target)
        return source, target
    names = {name.lower(): name for name in table.columns}
    for a, b in ENDPOINTS:
        if a in names and b in names:
            return names[a], names[b]
    if len(names) < 2:
        raise GWNError(f"{table.path.name} has {len(names)} column; edges need two, for example source and target")
    first, second = list(table.columns)[:2]
    if pc.index(ids, first).as_py() >= 0 and pc.index(ids, second).as_py() >= 0:
        raise GWNError(
            f"{table.path.name}: the first line, {first},{second}, is an edge and not column names; "
            "add a first line such as source,target"
        )
    return first, second


def _unknown(text: Any, found: Any) -> list[str]:
    """The different names that were not found, quoted."""
    return [repr(name) for name in pc.unique(text.filter(pc.is_null(found))).to_pylist()]


def _weights(table: Table, name: str | None) -> Tensor | None:
    if name is None:
        return None
    table.require("weight column", name)
    values, wrong = table.numbers(name)
    bad = np.flatnonzero(~np.isfinite(values) | wrong | (values < 0))
    if bad.size:
        row = int(bad[0])
        raise GWNError(
            f"{table.path.name}: weight column {name!r} has {table.cell(name, row)!r} in row {row + 1}; "
            "weights are finite numbers and not negative"
        )
    return torch.from_numpy(values.astype(np.float32))


__all__ = ["load_files", "load_graph_file"]
