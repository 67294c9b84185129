"""A table of edges of any length, read as a stream, and its ids as node numbers."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from gwn.data.node_ids import leading_zeros
from gwn.data.tables import (
    INDEX_NAMES,
    SUFFIXES,
    WRONG_ROW,
    Table,
    csv_layout,
    named_columns,
    read_head,
    require_parquet,
    require_text,
    suffix_of,
    what_is_wrong,
    whole,
)
from gwn.errors import GWNError

BLOCK_BYTES = 1 << 23
"""Of CSV text parsed at a time."""

"""How Arrow says it; its own handler of wrong rows cannot be given text that is not UTF-8."""

ROWS = 1 << 18
"""Of Parquet read at a time."""


@dataclass(frozen=True)
class Version:
    """A file as it was at one moment, by what the system says of it."""

    path: Path
    state: tuple[int, ...]

    @classmethod
    def of(cls, path: Path) -> Version:
        found = path.stat()
        return cls(path, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))

    def require_unchanged(self) -> None:
        """Refuse a file that somebody wrote to, exchanged or removed since."""
        try:
            same = Version.of(self.path) == self
        except OSError:
            same = False
        if not same:
            raise GWNError(f"{self.path} changed while it was read; convert it again when nobody writes to it")


@dataclass(frozen=True, kw_only=True)
class EdgeBatch:
    """Some edges: the two ends as Arrow arrays, the number of the first row, and the share of the file so far."""

    source: Any
    target: Any
    first_row: int
    done: float


@dataclass(frozen=True, kw_only=True)
class EdgeFile:
    """A file of edges.

    names            of all its columns; a CSV file without a header does not have them itself
    source, target   the columns of the two ends, once they are chosen
    """

    path: Path
    names: tuple[str, ...]
    source: str = ""
    target: str = ""
    separator: str = ","
    header: bool = True

    @property
    def is_parquet(self) -> bool:
        return self.path.suffix.lower() in (".parquet", ".pq")

    @property
    def is_compressed(self) -> bool:
        return self.path.suffix.lower() == ".gz"

    def line(self, row: int) -> str:
        """Where row `row` (from 0) stands, for messages; most CSV files have a line of column names above it."""
        above = 1 if self.header else 0
        return f"{self.path.name}, row {row + 1}" if self.is_parquet else f"{self.path.name}, line {row + 1 + above}"

    @property
    def columns(self) -> Mapping[str, str]:
        """Columns by their names without blanks, as the file writes them; those without a name are left out."""
        named = [name for name in self.names if name.strip() not in INDEX_NAMES]
        return {name: named[place] for name, place in named_columns(self.path, named, lambda _: None)[0].items()}

    @property
    def decimal_comma(self) -> bool:
        return not self.is_parquet and self.separator != ","

    def head(self) -> Table:
        """The first edges with all columns, by which the ends are chosen."""
        columns = self.columns
        batch = next((batch for batch, _ in self._read(list(columns.values()))), None)
        cells = {
            name: pa.array([], pa.string()) if batch is None else batch.column(written)
            for name, written in columns.items()
        }
        rows = 0 if batch is None else batch.num_rows
        return Table(self.path, cells, rows, decimal_comma=self.decimal_comma)

    def batches(self) -> Iterator[EdgeBatch]:
        """All edges, in the order of the file."""
        row, ends = 0, [self.columns[name] for name in (self.source, self.target)]
        for batch, done in self._read(ends):
            source, target = (batch.column(name) for name in ends)
            yield EdgeBatch(source=source, target=target, first_row=row, done=min(1.0, done))
            row += batch.num_rows

    def _read(self, names: Sequence[str]) -> Iterator[tuple[Any, float]]:
        """These columns in batches, and the share of the file so far; the file must stay as it is meanwhile."""
        row, before = 0, Version.of(self.path)
        try:
            for batch, done in self._parquet(names) if self.is_parquet else self._csv(names):
                before.require_unchanged()
                yield batch, done
                row += batch.num_rows
            before.require_unchanged()
        except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
            before.require_unchanged()
            said = what_is_wrong(self.path, error)
            raise GWNError(f"{said} (behind row {row})" if "cannot be read" in said else said) from None

    def _parquet(self, names: Sequence[str]) -> Iterator[tuple[Any, float]]:
        with pa.parquet.ParquetFile(self.path) as file:
            total, seen = max(1, file.metadata.num_rows), 0
            for batch in file.iter_batches(batch_size=ROWS, columns=list(names)):
                seen += batch.num_rows
                yield whole(self.path, batch), seen / total

    def _csv(self, names: Sequence[str]) -> Iterator[tuple[Any, float]]:
        size = max(1, self.path.stat().st_size)
        parse = pa.csv.ParseOptions(delimiter=self.separator)
        convert = pa.csv.ConvertOptions(include_columns=names, column_types=dict.fromkeys(names, pa.string()))
        options = pa.csv.ReadOptions(  # threads would lose the line numbers
            block_size=BLOCK_BYTES, use_threads=False, column_names=None if self.header else self.names
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


def open_edges(path: Path, *, header: bool = True) -> EdgeFile:
    """The file with the names of its columns; which of them are the ends is for `choose_ends` to say."""
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
    return EdgeFile(path=path, names=tuple(names), separator=separator, header=header)


INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"


def whole_numbers(column: Any) -> NDArray[np.int64] | None:
    """A column of ids as whole numbers; None where one is anything else, or a number in another spelling, as 007."""
    if column.null_count:
        return None
    spelt = pa.types.is_string(column.type) and pc.all(pc.match_substring_regex(column, INTEGER)).as_py()
    if not spelt and not pa.types.is_signed_integer(column.type):
        return None
    return np.asarray(pc.cast(column, pa.int64()))


class WholeIds:
    """From ids that are whole numbers to their places: by a table where they are dense, else by bisection."""

    def __init__(self, ids: NDArray[np.int64]) -> None:
        self.table = self.order = None
        largest = int(ids.max(initial=0))
        if ids.min(initial=0) >= 0 and largest < 8 * ids.size + 1000:
            self.table = np.full(largest + 1, -1, dtype=np.int32)
            self.table[ids] = np.arange(ids.size, dtype=np.int32)
        else:
            self.order = np.argsort(ids, kind="stable")
            self.sorted = ids[self.order]

    def of(self, asked: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places, -1 for an id that there is not."""
        if self.table is not None:
            inside = (asked >= 0) & (asked < self.table.size)
            return np.where(inside, self.table[np.where(inside, asked, 0)], -1).astype(np.int64)
        assert self.order is not None
        near = np.searchsorted(self.sorted, asked).clip(max=self.sorted.size - 1)
        return np.where(self.sorted[near] == asked, self.order[near], -1)


class NodeNumbers:
    """From the ids of the edge table to node numbers.

    ids   of the nodes, as text; None for their row numbers from 0
    """

    def __init__(self, ids: Any | None, nodes: int, table: str) -> None:
        self.ids, self.nodes, self.table = ids, nodes, table

    def of(self, column: Any, file: EdgeFile, first_row: int) -> NDArray[np.int64]:
        """The numbers of these ids; one that no node has is refused with its line."""
        places = self._by_number(column)
        if places is None or places.min(initial=0) < 0:
            places = self._by_text(Table(file.path, {"": column}, len(column)).text("", missing=()), file)
        bad = np.flatnonzero(places < 0)
        if bad.size:
            self._refuse(column[int(bad[0])].as_py(), file, first_row + int(bad[0]))
        return places

    def _by_number(self, column: Any) -> NDArray[np.int64] | None:
        """The fast way, where ids and cells are all whole numbers; None where they are not."""
        if self.ids is not None and self._whole is None:
            return None
        asked = whole_numbers(column)
        if asked is None:
            return None
        return (
            np.where((asked >= 0) & (asked < self.nodes), asked, -1) if self._whole is None else self._whole.of(asked)
        )

    def _by_text(self, text: Any, file: EdgeFile) -> NDArray[np.int64]:
        """By the id as it is written, else 28.0, or 28,0 beside semicolons, as 28; 007 is not 7."""
        plain = pc.replace_substring_regex(text, r"^(-?\d+)[.,]0+$" if file.decimal_comma else r"^(-?\d+)\.0+$", r"\1")
        if self.ids is None:
            numbers = pc.if_else(pc.match_substring_regex(plain, INTEGER), plain, "-1")
            values = np.asarray(pc.cast(numbers, pa.int64()))
            return np.where(values < self.nodes, values, -1)
        found = pc.coalesce(*(pc.index_in(each, value_set=self.ids) for each in (text, plain)))
        return np.asarray(pc.fill_null(found, -1), dtype=np.int64)

    @cached_property
    def _whole(self) -> WholeIds | None:
        """Ids that are whole numbers, which most are: Arrow would hash all of them again for every batch of edges."""
        ids = None if self.ids is None else whole_numbers(self.ids)
        return None if ids is None else WholeIds(ids)

    def _refuse(self, given: Any, file: EdgeFile, row: int) -> None:
        allowed = f"the row numbers 0 ... {self.nodes - 1}" if self.ids is None else "those of its id column"
        what = "an empty id" if given in (None, "") else f"the node {given!r}"
        spelling = "" if self.ids is None or given is None else leading_zeros(pa.array([str(given)]), self.ids)
        raise GWNError(
            f"{file.line(row)}: {what}, which {self.table} does not have; {spelling}ids are {allowed}, choose another "
            f"with --id-column; edges go from column {file.source!r} to {file.target!r}, choose others with "
            f"--source-column and --target-column"
        )
