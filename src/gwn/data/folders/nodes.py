"""A table of nodes that need not fit into memory: a Parquet file is read column by column, and some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from gwn.data.folders.edges import Version
from gwn.data.tables import (
    INDEX_NAMES,
    TEXT,
    Table,
    declared_categories,
    named_columns,
    range_index,
    read_head,
    read_table,
    require_parquet,
    suffix_of,
    what_is_wrong,
    whole,
)
from gwn.errors import GWNError
from gwn.memory import require_left

NODE_ROWS = 1 << 14
WORK = 8
"""Numbers of eight bytes a row that it takes to learn one column, measured: the column, its sorted copy, masks."""


class ParquetColumns(Mapping[str, Any]):
    """The columns of a Parquet file by name; the one asked for last stays in memory."""

    def __init__(self, path: Path) -> None:
        self.version = Version.of(path)
        self.file = pa.parquet.ParquetFile(path)
        self.rows = int(self.file.metadata.num_rows)
        schema = self.file.schema_arrow
        name, cells = range_index(schema, self.rows) or ("", None)
        self.index = () if cells is None else (cells,)  # the column before those of the file
        written = [*(name or INDEX_NAMES[1] for _ in self.index), *schema.names]
        self.places, self.row_names = named_columns(path, written, self._read)
        self.row_names = name or self.row_names
        self._last: tuple[str, Any] | None = None

    def __getitem__(self, name: str) -> Any:
        if self._last is None or self._last[0] != name:
            self._last = None
            self._last = name, self._read(self.places[name])
        return self._last[1]

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def _read(self, place: int) -> Any:
        if place < len(self.index):
            return pa.array(self.index[place])
        try:
            name = self.file.schema_arrow.names[place - len(self.index)]
            table = whole(self.version.path, self.file.read([name]))
            column = table.column(0).combine_chunks()
        except (pa.ArrowException, OSError) as error:
            self.version.require_unchanged()
            raise GWNError(what_is_wrong(self.version.path, error)) from None
        self.version.require_unchanged()
        return column

    def batches(self) -> Iterator[dict[str, Any]]:
        """All columns, some rows at a time."""
        self._last = None
        start = 0
        try:
            for batch in self.file.iter_batches(batch_size=NODE_ROWS):
                self.version.require_unchanged()
                whole(self.version.path, batch)
                end = start + batch.num_rows
                columns = [*(pa.array(cells[start:end]) for cells in self.index), *batch.columns]
                yield {name: columns[place] for name, place in self.places.items()}
                start = end
        except (pa.ArrowException, OSError) as error:
            self.version.require_unchanged()
            raise GWNError(what_is_wrong(self.version.path, error)) from None


def open_nodes(path: Path, *, header: bool, memory: int) -> Table:
    """The table, refused where the memory cannot hold it, or one column of it where it is Parquet."""
    if suffix_of(path) not in (".parquet", ".pq"):
        size = path.stat().st_size if path.is_file() else 0
        advice = "write it as Parquet, which is read column by column, or "
        require_left(f"{path} as a table of text", TEXT * size, memory, advice)
        return read_table(path, header=header)
    require_parquet(path, read_head(path), header)
    try:
        columns = ParquetColumns(path)
    except (pa.ArrowException, OSError) as error:
        raise GWNError(what_is_wrong(path, error)) from None
    require_left(f"{path}: one column of {columns.rows:,} rows", 8 * WORK * columns.rows, memory)
    declared = declared_categories(columns.file.schema_arrow)
    return Table(path, columns, columns.rows, row_names=columns.row_names, declared=declared)


def parts(table: Table) -> Iterator[Table]:
    """The table, some rows at a time."""
    columns = table.columns
    if isinstance(columns, ParquetColumns):
        for cells in columns.batches():
            yield replace(table, columns=cells, rows=len(next(iter(cells.values()))))
        return
    for start in range(0, table.rows, NODE_ROWS):
        cells = {name: column.slice(start, NODE_ROWS) for name, column in columns.items()}
        yield replace(table, columns=cells, rows=min(NODE_ROWS, table.rows - start))
