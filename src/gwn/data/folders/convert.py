"""A user's tables into a graph folder: nodes once in memory, edges as a stream of any length."""

from __future__ import annotations

import gzip
import re
import shutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
import pyarrow.parquet as pq
import scipy.sparse as sp
from numpy.typing import NDArray

from gwn.data.files import endpoint_names
from gwn.data.folders.csr_builder import CSRBuilder
from gwn.data.folders.folder import FolderWriter, GraphFolder, new_folder
from gwn.data.headers import require_edge_header, require_node_header
from gwn.data.node_ids import different_ids
from gwn.data.schema import FeatureSchema
from gwn.data.tables import (
    INDEX_NAMES,
    SUFFIXES,
    WHOLE,
    Table,
    csv_layout,
    read_head,
    read_table,
    require_parquet,
    require_text,
    suffix_of,
    what_is_wrong,
)
from gwn.errors import GWNError
from gwn.graph import UNLABELLED
from gwn.io import require_space
from gwn.registry import require_known

BLOCK_BYTES = 1 << 23
"""Of CSV text parsed at a time."""

WRONG_ROW = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)
"""How Arrow says it; its own handler of wrong rows cannot be given text that is not UTF-8."""

ROWS = 1 << 18
"""Of Parquet read at a time."""


@dataclass(frozen=True, kw_only=True)
class EdgeBatch:
    """Some edges: the two ends as Arrow arrays, the number of the first row, and the share of the file so far."""

    source: Any
    target: Any
    first_row: int
    done: float


@dataclass(frozen=True, kw_only=True)
class EdgeFile:
    """A file of edges and the names of its two columns.

    columns   all names, where the file does not have them itself
    """

    path: Path
    source: str
    target: str
    separator: str = ","
    columns: tuple[str, ...] | None = None

    @property
    def is_parquet(self) -> bool:
        return self.path.suffix.lower() in (".parquet", ".pq")

    @property
    def is_compressed(self) -> bool:
        return self.path.suffix.lower() == ".gz"

    def line(self, row: int) -> str:
        """Where row `row` (from 0) stands, for messages; most CSV files have a line of column names above it."""
        above = 1 if self.columns is None else 0
        return f"{self.path.name}, row {row + 1}" if self.is_parquet else f"{self.path.name}, line {row + 1 + above}"

    def batches(self) -> Iterator[EdgeBatch]:
        """All edges, in the order of the file."""
        row = 0
        reader = self._parquet() if self.is_parquet else self._csv()
        try:
            for batch, done in reader:
                source, target = batch.column(self.source), batch.column(self.target)
                yield EdgeBatch(source=source, target=target, first_row=row, done=min(1.0, done))
                row += batch.num_rows
        except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
            said = what_is_wrong(self.path, error)
            raise GWNError(f"{said} (behind row {row})" if "cannot be read" in said else said) from None

    def _parquet(self) -> Iterator[tuple[Any, float]]:
        with pa.parquet.ParquetFile(self.path) as file:
            total, seen = max(1, file.metadata.num_rows), 0
            for batch in file.iter_batches(batch_size=ROWS, columns=[self.source, self.target]):
                seen += batch.num_rows
                yield batch, seen / total

    def _csv(self) -> Iterator[tuple[Any, float]]:
        size = max(1, self.path.stat().st_size)
        parse = pa.csv.ParseOptions(delimiter=self.separator)
        names = (self.source, self.target)
        convert = pa.csv.ConvertOptions(include_columns=names, column_types=dict.fromkeys(names, pa.string()))
        options = pa.csv.ReadOptions(  # threads would lose the line numbers
            block_size=BLOCK_BYTES, use_threads=False, column_names=self.columns
        )
        with self.path.open("rb") as file, ExitStack() as stack:
            plain = stack.enter_context(gzip.open(file)) if self.is_compressed else file
            try:
                reader = pa.csv.open_csv(plain, read_options=options, parse_options=parse, convert_options=convert)
                for batch in reader:
                    yield batch, file.tell() / size
            except pa.ArrowInvalid as error:
                wrong = WRONG_ROW.search(str(error))
                if wrong is None:
                    raise
                line, expected, found, text = wrong.groups()
                where = f"line {line}" if line else "a line"
                raise GWNError(
                    f"{self.path.name}, {where}: {found} columns where {expected} are expected: {text[:60]!r}"
                ) from error


def open_edges(path: Path, source: str | None = None, target: str | None = None, *, header: bool = True) -> EdgeFile:
    """The file with its columns found: those named, else source and target or the like, else the first two."""
    path = Path(path)
    suffix, separator = suffix_of(path), ","
    if suffix not in SUFFIXES:
        raise GWNError(f"{path} is neither CSV nor Parquet; the file name must end in {', '.join(SUFFIXES)}")
    head = read_head(path)
    try:
        if suffix in (".parquet", ".pq"):
            require_parquet(path, head, header)
            names = list(pa.parquet.read_schema(path).names)
        else:
            require_text(path, head)
            separator, names = csv_layout(path, header)
    except (pa.ArrowException, OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise GWNError(what_is_wrong(path, error)) from None
    ends = endpoint_names(path.name, [name for name in names if name not in INDEX_NAMES], source, target)
    columns = None if header else tuple(names)
    return EdgeFile(path=path, source=ends[0], target=ends[1], separator=separator, columns=columns)


NODE_ROWS = 1 << 14
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
    memory: int = 1 << 30,
    force: bool = False,
    on_done: OnDone = lambda what, share: None,
) -> GraphFolder:
    """Write the graph of an edge table and a node table as a folder: undirected, each edge once, no self-loops.

    The node table is read as a whole, its columns encoded as `gwn train --nodes` does; the edges are not.
    """
    for which in no_header:
        require_known("table without a header", which, ("edges", "nodes"))
    file = open_edges(Path(edges), source_column, target_column, header="edges" not in no_header)
    table = read_table(Path(nodes), header="nodes" not in no_header)
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
    if "edges" not in no_header:
        require_edge_header(file.path.name, schema.ids(table), (file.source, file.target))
    require_space(Path(out), 4 * table.rows * (len(schema.feature_names) + 3))
    with new_folder(Path(out), force=force) as folder:
        ids = _write_nodes(table, schema, folder, on_done)
        _write_edges(file, NodeNumbers(ids, table.rows, table.path.name), folder, memory, on_done)
        folder.facts = {
            "name": Path(out).name,
            "classes": len(schema.class_names),
            "class_names": list(schema.class_names),
            "ids": ids is not None,
            "schema": schema.to_json(),
            "made": {"by": "convert", "edges": file.path.name, "nodes": table.path.name},
        }
    return GraphFolder.open(out)


def as_ids(column: Any) -> Any:
    """A column of the edge table as trimmed text; 3.0 reads as 3 where all cells are written so."""
    if pa.types.is_floating(column.type):
        column = pc.cast(column, pa.int64(), safe=False)
    text = pc.utf8_trim_whitespace(pc.cast(column, pa.string()))
    whole = pc.all(pc.match_substring_regex(text, WHOLE)).as_py()
    return pc.replace_substring_regex(text, r"\.0+$", "") if whole else text


class NodeNumbers:
    """From the ids of the edge table to node numbers."""

    def __init__(self, ids: Any | None, nodes: int, table: str) -> None:
        self.ids, self.nodes, self.table = ids, nodes, table

    def of(self, column: Any, file: EdgeFile, first_row: int) -> NDArray[np.int64]:
        """The numbers of these ids; one that no node has is refused with its line."""
        if self.ids is None:
            return self._rows(column, file, first_row)
        found = pc.index_in(as_ids(column), value_set=self.ids)
        if found.null_count:
            row = int(np.flatnonzero(np.asarray(found.is_null()))[0])
            self._refuse(column[row].as_py(), file, first_row + row)
        return np.asarray(found, dtype=np.int64)

    def _rows(self, column: Any, file: EdgeFile, first_row: int) -> NDArray[np.int64]:
        """Ids that are row numbers of the node table."""
        try:
            numbers = pc.cast(column, pa.int64())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            numbers = pa.array([_whole(cell) for cell in column.to_pylist()], pa.int64())
        values = np.asarray(pc.fill_null(numbers, -1))
        bad = np.flatnonzero((values < 0) | (values >= self.nodes))
        if bad.size:
            self._refuse(column[int(bad[0])].as_py(), file, first_row + int(bad[0]))
        return values

    def _refuse(self, given: Any, file: EdgeFile, row: int) -> None:
        allowed = f"the row numbers 0 ... {self.nodes - 1}" if self.ids is None else "those of its id column"
        what = "an empty id" if given in (None, "") else f"the node {given!r}"
        raise GWNError(f"{file.line(row)}: {what}, which {self.table} does not have; ids are {allowed}")


def _write_nodes(table: Table, schema: FeatureSchema, folder: FolderWriter, on_done: OnDone) -> Any | None:
    ids = None if schema.id_column is None else schema.ids(table)
    if ids is not None:
        pq.write_table(pa.table({"id": ids}), folder.path / "ids.parquet")
        folder.add_file("ids.parquet")
    x, y = folder.array("x", (len(schema.feature_names),)), folder.array("y")
    for start in range(0, table.rows, NODE_ROWS):
        cells = {name: column.slice(start, NODE_ROWS) for name, column in table.columns.items()}
        part = replace(table, columns=cells, rows=min(NODE_ROWS, table.rows - start))
        block = schema.encode(part)
        x.append(block.toarray() if sp.issparse(block) else block)
        labels = schema.labels(part)
        y.append(np.full(part.rows, UNLABELLED) if labels is None else labels.numpy())
        on_done("nodes", min(1.0, (start + NODE_ROWS) / table.rows))
    folder.finish("x", x)
    folder.finish("y", y)
    return ids


def _write_edges(file: EdgeFile, numbers: NodeNumbers, folder: FolderWriter, memory: int, on_done: OnDone) -> None:
    scratch = folder.path / "buckets"
    size = file.path.stat().st_size
    size *= COMPRESSION if file.is_compressed else 1
    guess = pq.read_metadata(file.path).num_rows if file.is_parquet else size // BYTES_OF_A_LINE
    builder = CSRBuilder(scratch, numbers.nodes, 2 * guess, memory)
    try:
        for batch in file.batches():
            builder.add(*_ends(batch, file, numbers))
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


def _ends(batch: EdgeBatch, file: EdgeFile, numbers: NodeNumbers) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return (
        numbers.of(batch.source, file, batch.first_row),
        numbers.of(batch.target, file, batch.first_row),
    )


def _whole(cell: Any) -> int:
    """A cell as a row number; -1, which no node has, where it is none."""
    try:
        return int(str(cell).strip())
    except ValueError:
        return -1
