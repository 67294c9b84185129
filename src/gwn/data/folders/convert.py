"""A user's tables into a graph folder: nodes column by column, edges as a stream of any length."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from gwn.data.folders.csr_builder import CSRBuilder, sorting_memory
from gwn.data.folders.edges import EdgeFile, NodeNumbers, as_ids, open_edges
from gwn.data.folders.folder import FolderWriter, GraphFolder, new_folder
from gwn.data.folders.nodes import open_nodes, parts
from gwn.data.headers import require_edge_header, require_node_header
from gwn.data.node_ids import different_ids
from gwn.data.schema import FeatureSchema
from gwn.data.tables import Table
from gwn.errors import GWNError
from gwn.graph import UNLABELLED
from gwn.io import require_space
from gwn.memory import budget
from gwn.registry import require_known

BYTES_OF_A_LINE = 6
"""The shortest line of a CSV file of edges worth the name: what the number of edges is guessed from."""

COMPRESSION = 8
"""How many times longer a compressed file is taken to be; ids of edges rarely shrink more."""

OnDone = Callable[[str, float], None]


def convert(
    edges: Path,
    nodes: Path,
    out: Path,
    *,
    label_column: str,
    id_column: str | None = None,
    source_column: str | None = None,
    target_column: str | None = None,
    drop_columns: Sequence[str] = (),
    no_header: Sequence[str] = (),
    memory: int | None = None,
    force: bool = False,
    on_done: OnDone = lambda what, share: None,
) -> GraphFolder:
    """Write the graph of an edge table and a node table as a folder: undirected, each edge once, no self-loops.

    The columns of the node table are encoded as `gwn train --nodes` does.

    memory   bytes this process may hold: one column of a Parquet file of nodes, or a whole CSV file of them, must fit;
             None: a gibibyte more than it holds already
    """
    memory = budget(memory)
    for which in no_header:
        require_known("table without a header", which, ("edges", "nodes"))
    file = open_edges(Path(edges), source_column, target_column, header="edges" not in no_header)
    table = open_nodes(Path(nodes), header="nodes" not in no_header, memory=memory)
    first = next(file.batches(), None)
    named = None if first is None else different_ids(*(as_ids(column) for column in (first.source, first.target)))
    if named is not None and "nodes" not in no_header:
        require_node_header(table, named)
    try:
        schema = FeatureSchema.fit(
            table, label_column=label_column, id_column=id_column, drop_columns=drop_columns, named=named
        )
    except GWNError as error:  # a folder holds classes
        there = "train on the tables with `gwn train --task regression`"
        raise GWNError(str(error).replace("say --task regression", there)) from None
    schema = replace(schema, source_column=file.source, target_column=file.target, no_header=tuple(no_header))
    known = schema.ids(table)
    if "edges" not in no_header:
        require_edge_header(file.path.name, known, (file.source, file.target))
    ids = None if schema.id_column is None else known
    arcs = 2 * edge_guess(file)
    require_space(Path(out), table.rows * (4 * len(schema.feature_names) + 28) + 12 * arcs)
    with new_folder(Path(out), force=force) as folder:
        _write_nodes(table, schema, ids, folder, on_done)
        _write_edges(file, arcs, NodeNumbers(ids, table.rows, table.path.name), folder, memory, on_done)
        folder.facts = {
            "name": Path(out).name,
            "classes": len(schema.class_names),
            "class_names": list(schema.class_names),
            "ids": ids is not None,
            "schema": schema.to_json(),
            "made": {"by": "convert", "edges": file.path.name, "nodes": table.path.name},
        }
    return GraphFolder.open(out)


def edge_guess(file: EdgeFile) -> int:
    """How many edges a file has: what a Parquet file says, or what its size allows."""
    if file.is_parquet:
        return int(pq.read_metadata(file.path).num_rows)
    return file.path.stat().st_size * (COMPRESSION if file.is_compressed else 1) // BYTES_OF_A_LINE


def _write_nodes(table: Table, schema: FeatureSchema, ids: Any | None, folder: FolderWriter, on_done: OnDone) -> None:
    if ids is not None:
        pq.write_table(pa.table({"id": ids}), folder.path / "ids.parquet")
        folder.add_file("ids.parquet")
    x, y = folder.array("x", (len(schema.feature_names),)), folder.array("y")
    for part in parts(table):
        block = schema.encode(part)
        x.append(block.toarray() if sp.issparse(block) else block)
        labels = schema.labels(part)
        y.append(np.full(part.rows, UNLABELLED) if labels is None else labels.numpy())
        on_done("nodes", min(1.0, x.rows / table.rows))
    folder.finish("x", x)
    folder.finish("y", y)


def _write_edges(
    file: EdgeFile, arcs: int, numbers: NodeNumbers, folder: FolderWriter, memory: int, on_done: OnDone
) -> None:
    scratch = folder.path / "buckets"
    builder = CSRBuilder(scratch, numbers.nodes, arcs, sorting_memory(memory))
    try:
        for batch in file.batches():
            ends = (numbers.of(column, file, batch.first_row) for column in (batch.source, batch.target))
            builder.add(*ends)
            on_done("edges", 0.8 * batch.done)
        builder.compact(lambda done, total: on_done("edges", 0.8 + 0.1 * done / total))
        indptr, indices = folder.array("indptr"), folder.array("indices")
        builder.write(indptr, indices)
    finally:
        builder.close()
    folder.finish("indptr", indptr)
    folder.finish("indices", indices)
    shutil.rmtree(scratch)
    on_done("edges", 1.0)
