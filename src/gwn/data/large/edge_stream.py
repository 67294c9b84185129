"""Edges from a CSV or Parquet file, some at a time: two columns of ids, and where each line stood."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from gwn.data.files import ENDPOINTS
from gwn.data.tables import SUFFIXES, first_line, read_head
from gwn.errors import GWNError
from gwn.registry import require_known

BLOCK_BYTES = 1 << 23
"""Of CSV text parsed at a time."""

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
        wrong: list[Any] = []

        def refuse(row: Any) -> str:
            wrong.append(row)
            return "error"

        parse = pa.csv.ParseOptions(delimiter=self.separator, invalid_row_handler=refuse)
        names = (self.source, self.target)
        convert = pa.csv.ConvertOptions(include_columns=names, column_types=dict.fromkeys(names, pa.string()))
        options = pa.csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False)  # threads would lose the line numbers
        with self.path.open("rb") as file:
            try:
                reader = pa.csv.open_csv(file, read_options=options, parse_options=parse, convert_options=convert)
                for batch in reader:
                    yield batch, file.tell() / size
            except pa.ArrowInvalid as error:
                if not wrong:
                    raise
                bad, at = wrong[0], wrong[0].number
                where = f"line {at}" if at is not None else "a line"
                raise GWNError(
                    f"{self.path.name}, {where}: {bad.actual_columns} columns where {bad.expected_columns} are "
                    f"expected: {bad.text[:60]!r}"
                ) from error


def open_edges(path: Path, source: str | None = None, target: str | None = None) -> EdgeFile:
    """The file with its columns found: those named, else source and target or the like, else the first two."""
    path = Path(path)
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
