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

from gwn.data.edge_columns import choose_ends, named_ends
from gwn.data.folders.csr_builder import CSRBuilder, sorting_memory
from gwn.data.folders.edges import EdgeFile, NodeNumbers, open_edges
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

NOT_HERE = {
    "say --task regression": "train on the tables with `gwn train --task regression`",
    "choose features made from the edges: --features": "train on the tables with `gwn train` and --features",
}
"""Advice that a folder, which holds classes and the table's own features, has no option for."""

OnDone = Callable[[str, float], None]


def convert(
    edges: Path,
    nodes: Path,
    out: Path,
    *,
    label_column: str | None = None,
    like: Path | None = None,
    id_column: str | None = None,
    source_column: str | None = None,
    target_column: str | None = None,
    drop_columns: Sequence[str] = (),
    text_columns: Sequence[str] = (),
    no_header: Sequence[str] = (),
    memory: int | None = None,
    force: bool = False,
    on_done: OnDone = lambda what, share: None,
    on_warning: Callable[[str], None] = lambda line: None,
) -> GraphFolder:
    """Write the graph of an edge table and a node table as a folder: undirected, each edge once, no self-loops.

    The columns of the node table are encoded as `gwn train --nodes` does, and the ends of the edges are found as there,
    by the first edges.

    like     a folder that was made from tables: these are read and encoded as they were, for a model that knows it
    memory   bytes this process may hold: one column of a Parquet file of nodes, or a whole CSV file of them, must fit;
             None: a gibibyte more than it holds already

    on_warning   hears what of the table is so unlike that of `like` that it may mean something else
    """
    memory = budget(memory)
    known = None if like is None else _schema_of(GraphFolder.open(like))
    if known is not None:
        no_header, id_column = known.no_header, known.id_column
    for which in no_header:
        require_known("table without a header", which, ("edges", "nodes"))
    file = open_edges(Path(edges), header="edges" not in no_header)
    table = open_nodes(Path(nodes), header="nodes" not in no_header, memory=memory)
    head = file.head()
    given = source_column is not None
    if known is not None and source_column is None and target_column is None:
        given = known.endpoints_given
        source_column, target_column = known.ends_in(head.columns)
    ends = choose_ends(head, table, source_column, target_column, id_column=id_column)
    file = replace(file, source=ends[0], target=ends[1])
    named = different_ids(*named_ends(head, table, ends))
    if "nodes" not in no_header:
        require_node_header(table, named, (label_column, id_column, *drop_columns, *text_columns))
    special = {"label_column": label_column, "id_column": id_column}
    schema = known or _fitted(table, drop_columns=drop_columns, text_columns=text_columns, named=named, **special)
    if known is not None:
        schema = replace(known, label_column=known.label_column if known.label_column in table.columns else None)
        for line in schema.unlike(table):
            on_warning(line)
    schema = replace(
        schema,
        source_column=file.source,
        target_column=file.target,
        endpoints_given=given,
        unused_of_edges=tuple(name for name in head.columns if name not in ends),
        no_header=tuple(no_header),
    )
    named_nodes = schema.ids(table)
    if "edges" not in no_header:
        require_edge_header(file.path.name, named_nodes, ends, ends if given else ())
    ids = None if schema.id_column is None else named_nodes
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


def _fitted(table: Table, **reading: Any) -> FeatureSchema:
    try:
        return FeatureSchema.fit(table, **reading)
    except GWNError as error:
        said = str(error)
        for advice, instead in NOT_HERE.items():
            said = said.replace(advice, instead)
        raise GWNError(said) from None


def _schema_of(folder: GraphFolder) -> FeatureSchema:
    if "schema" not in folder.meta:
        raise GWNError(f"{folder.path} was not made from tables, so it does not say how to read any; leave --like out")
    return FeatureSchema.from_json(folder.meta["schema"])


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
