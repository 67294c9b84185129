"""A user's tables into a graph folder: nodes once in memory, edges as a stream of any length."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
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

from gwn.data.files import ENDPOINTS
from gwn.data.folders.csr_builder import CSRBuilder
from gwn.data.folders.folder import FolderWriter, GraphFolder, new_folder
from gwn.data.headers import require_edge_header, require_node_header
from gwn.data.node_ids import different_ids
from gwn.data.schema import FeatureSchema
from gwn.data.tables import SUFFIXES, WHOLE, Table, first_line, read_head, read_table
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
    """A file of edges and the names of its two columns."""

    path: Path
    source: str
    target: str
    separator: str = ","

    @property
    def is_parquet(self) -> bool:
        return self.path.suffix.lower() in (".parquet", ".pq")

    def line(self, row: int) -> str:
        """Where row `row` (from 0) stands, for messages; a CSV file has a line of column names above it."""
        return f"{self.path.name}, row {row + 1}" if self.is_parquet else f"{self.path.name}, line {row + 2}"

    def batches(self) -> Iterator[EdgeBatch]:
        """All edges, in the order of the file."""
        row = 0
        reader = self._parquet() if self.is_parquet else self._csv()
        try:
            for batch, done in reader:
                source, target = batch.column(self.source), batch.column(self.target)
                yield EdgeBatch(source=source, target=target, first_row=row, done=min(1.0, done))
                row += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            raise GWNError(f"{self.path} cannot be read behind row {row}: {first_line(error)}") from None

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
        options = pa.csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False)  # threads would lose the line numbers
        with self.path.open("rb") as file:
            try:
                reader = pa.csv.open_csv(file, read_options=options, parse_options=parse, convert_options=convert)
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


def open_edges(path: Path, source: str | None = None, target: str | None = None) -> EdgeFile:
    """The file with its columns found: those named, else source and target or the like, else the first two."""
    path = Path(path)
    if path.suffix.lower() == ".gz":
        raise GWNError(f"{path} is compressed, and edges are read in a stream here; unpack it first: gunzip -k {path}")
    if path.suffix.lower() not in SUFFIXES:
        raise GWNError(f"{path} is neither CSV nor Parquet; the file name must end in {', '.join(SUFFIXES)}")
    head, separator = read_head(path), ","
    if path.suffix.lower() in (".parquet", ".pq"):
        if not head.startswith(b"PAR1"):
            raise GWNError(f"{path} is named as Parquet but is not; rename it if it is CSV, or write it again")
        try:
            names = pa.parquet.read_schema(path).names
        except (pa.ArrowException, OSError) as error:
            raise GWNError(f"{path} cannot be read: {first_line(error)}") from None
    else:
        if head.startswith(b"PAR1") or b"\0" in head:
            raise GWNError(f"{path} is not text, so it is not a CSV file; save it as CSV in UTF-8, or as Parquet")
        header = head.decode("utf-8-sig", errors="replace").splitlines()[0]
        separator = "\t" if path.suffix.lower() == ".tsv" else max(",;\t", key=header.count)
        names = next(csv.reader([header], delimiter=separator))
    if len(names) < 2:
        raise GWNError(f"{path.name} has {len(names)} column; edges need two, for example source and target")
    lower = {name.lower(): name for name in names}
    found = next(((lower[a], lower[b]) for a, b in ENDPOINTS if a in lower and b in lower), (names[0], names[1]))
    ends = (source or found[0], target or found[1])
    for name in ends:
        require_known(f"column of {path.name}", name, names)
    return EdgeFile(path=path, source=ends[0], target=ends[1], separator=separator)


NODE_ROWS = 1 << 14
BYTES_OF_A_LINE = 6
"""The shortest line of a CSV file of edges worth the name: what the number of edges is guessed from."""

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
    memory: int = 1 << 30,
    force: bool = False,
    on_done: OnDone = lambda what, share: None,
) -> GraphFolder:
    """Write the graph of an edge table and a node table as a folder: undirected, each edge once, no self-loops.

    The node table is read as a whole, its columns encoded as `gwn train --nodes` does; the edges are not.
    """
    file = open_edges(Path(edges), source_column, target_column)
    table = read_table(Path(nodes))
    first = next(file.batches(), None)
    named = None if first is None else different_ids(*(as_ids(column) for column in (first.source, first.target)))
    if named is not None:
        require_node_header(table, named, option=False)
    schema = FeatureSchema.fit(
        table, label_column=label_column, id_column=id_column, drop_columns=drop_columns, named=named
    )
    schema = replace(schema, source_column=file.source, target_column=file.target)
    require_edge_header(file.path.name, schema.ids(table), (file.source, file.target), option=False)
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
