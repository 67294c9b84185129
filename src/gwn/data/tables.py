"""Tables from CSV and Parquet files, with one line of explanation for everything that can be wrong with them."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from gwn.errors import GWNError
from gwn.io import file_sha256, open_regular
from gwn.registry import require_known

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "<NA>")
"""Cells that hold nothing. "None" is not among them: it is a good name for a class."""

INDEX_NAMES = ("", "__index_level_0__")
"""Columns without a name are row numbers that pandas wrote, not data."""

CSV_BLOCK_BYTES = 1 << 24
"""No row may be longer than this."""


WHOLE = r"^-?\d+\.0+$"
"""A whole number as a spreadsheet or pandas writes it where other cells of the column were empty."""

DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?")


@dataclass(frozen=True, eq=False)
class Table:
    """Columns as Arrow arrays and the file they came from; rows are counted from 1, without the header.

    path            the file, or the word that messages use for a table that was never in one
    decimal_comma   whether 1,5 is a number: so where something else than a comma stands between the columns
    content_hash    SHA-256 of a table that was never in a file; the file's own is taken otherwise
    """

    path: Path
    columns: Mapping[str, Any]
    rows: int
    decimal_comma: bool = False
    content_hash: str = ""

    @classmethod
    def from_arrow(cls, path: Path, table: Any, *, decimal_comma: bool = False, content_hash: str = "") -> Table:
        """From an Arrow table: row numbers that pandas wrote are left out, two columns of one name are refused."""
        names = [name for name in table.column_names if name not in INDEX_NAMES]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise GWNError(f"{path} has two columns named {twice!r}; rename one")
        cells = {name: table[name].combine_chunks() for name in names}
        return cls(path, cells, table.num_rows, decimal_comma=decimal_comma, content_hash=content_hash)

    def sha256(self) -> str:
        """Of what was read."""
        return self.content_hash or file_sha256(self.path)

    def require(self, what: str, name: str) -> None:
        """Refuse a column that is not there, suggesting the nearest."""
        try:
            require_known(what, name, self.columns)
        except GWNError as error:
            raise GWNError(f"{self.path.name}: {error}") from None

    def text(self, name: str, missing: Sequence[str] = MISSING) -> Any:
        """A column as trimmed text, "" where it is missing; 3.0 reads as 3, so that ids survive a missing value."""
        column = self.columns[name]
        if pa.types.is_floating(column.type):
            column = _whole_numbers(column)
        try:
            text = pc.utf8_trim_whitespace(pc.fill_null(pc.cast(column, pa.string()), ""))
        except (pa.ArrowException, ValueError, NotImplementedError):
            raise GWNError(
                f"{self.path.name}: column {name!r} holds {column.type}, which is neither text nor numbers; "
                f"drop it with --drop-column {name}"
            ) from None
        return pc.if_else(pc.is_in(text, value_set=pa.array(missing, pa.string())), "", text)

    def ids(self, name: str) -> Any:
        """A column as ids: text in which nothing is missing, and 28.0 is 28 where all cells are written so."""
        text = self.text(name, missing=())
        filled = pc.not_equal(text, "")
        if pc.any(filled).as_py() and pc.all(pc.match_substring_regex(text.filter(filled), WHOLE)).as_py():
            text = pc.replace_substring_regex(text, r"\.0+$", "")
        return text

    def numbers(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """A column as numbers, NaN where it is missing, and which cells hold something that is not a number."""
        column = self.columns[name]
        if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
            values = pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
            return values, np.zeros(self.rows, dtype=bool)
        text = self.text(name)
        try:  # in one go; only a column with text in it needs a look at its cells
            values = pc.cast(pc.if_else(pc.equal(text, ""), "nan", text), pa.float64()).to_numpy()
            return values, np.zeros(self.rows, dtype=bool)
        except pa.ArrowInvalid:
            pass
        encoded = pc.dictionary_encode(text)
        parsed = [_number(cell, self.decimal_comma) for cell in encoded.dictionary.to_pylist()]
        at = np.asarray(encoded.indices)
        numbers = np.array([np.nan if value is None else value for value in parsed] or [np.nan])
        return numbers[at], np.array([value is None for value in parsed] or [False])[at]

    def missing(self, name: str) -> int:
        """How many cells of a column are empty."""
        column = self.columns[name]
        if pa.types.is_nested(column.type):
            return int(column.null_count)
        return int(pc.sum(pc.equal(self.text(name), "")).as_py() or 0)

    def cell(self, name: str, row: int) -> str:
        """One cell as it was written, for messages."""
        return str(self.columns[name][row].as_py())


def read_table(path: Path) -> Table:
    """Read a CSV, TSV or Parquet file, chosen by its suffix; its content must be what the suffix says.

    CSV may be compressed: .csv.gz.
    """
    path = Path(path)
    suffix = suffix_of(path)
    if suffix not in SUFFIXES:
        raise GWNError(f"{path} is neither CSV nor Parquet; the file name must end in {', '.join(SUFFIXES)}")
    head = read_head(path)
    try:
        table, separator = SUFFIXES[suffix](path, head)
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        if "invalid UTF8" in str(error):
            raise GWNError(
                f"{path} is not in UTF-8; save it as UTF-8, for example with "
                f"iconv -f latin1 -t utf-8 {path.name} > utf8-{path.name}"
            ) from None
        raise GWNError(f"{path} cannot be read: {first_line(error)}") from error
    return Table.from_arrow(path, table, decimal_comma=separator in (";", "\t"))


def suffix_of(path: Path) -> str:
    """What a table's name ends in, without the .gz of a compressed one."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def read_head(path: Path) -> bytes:
    """The first bytes of a file that exists, can be read and is not empty."""
    if path.is_dir():
        raise GWNError(f"{path} is a folder; a file is needed")
    try:
        with open_regular(path) as file:
            head = file.read(1 << 16)
    except FileNotFoundError:
        raise GWNError(f"{path} does not exist") from None
    except OSError as error:
        raise GWNError(f"{path} cannot be read: {error.strerror}") from error
    if not head.strip():
        raise GWNError(f"{path} is empty")
    return head


def first_line(error: Exception) -> str:
    """The first line of somebody else's error message, short enough to read."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


def _read_parquet(path: Path, head: bytes) -> tuple[Any, str]:
    if not head.startswith(b"PAR1"):
        raise GWNError(f"{path} is named as Parquet but is not; rename it if it is CSV, or write it again")
    return pa.parquet.read_table(path), ""


def _read_csv(path: Path, head: bytes) -> tuple[Any, str]:
    compressed = path.suffix.lower() == ".gz"
    if head.startswith(b"PAR1"):
        raise GWNError(f"{path} is a Parquet file; rename it to {path.with_suffix('.parquet').name}")
    if b"\0" in head and not compressed:
        raise GWNError(f"{path} is not text, so it is not a CSV file; save the table as CSV in UTF-8, or as Parquet")
    with (gzip.open if compressed else open)(path, "rt", encoding="utf-8-sig", errors="replace") as file:
        header = next((line for line in file if line.strip()), "").rstrip("\n")
    if not header:
        raise GWNError(f"{path} is empty")
    separator = "\t" if suffix_of(path) == ".tsv" else max(",;\t", key=header.count)
    names = next(csv.reader([header], delimiter=separator))
    table = pa.csv.read_csv(
        path,
        read_options=pa.csv.ReadOptions(block_size=CSV_BLOCK_BYTES),
        parse_options=pa.csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        convert_options=pa.csv.ConvertOptions(column_types={name: pa.string() for name in names}),
    )
    return table, separator


SUFFIXES = {".csv": _read_csv, ".tsv": _read_csv, ".parquet": _read_parquet, ".pq": _read_parquet}


def _whole_numbers(column: Any) -> Any:
    """As integers where every value is one."""
    try:
        return pc.cast(column, pa.int64())
    except pa.ArrowInvalid:
        return column


def _number(cell: str, decimal_comma: bool) -> float | None:
    """A cell as a number: NaN for an empty one, None for what is not a number."""
    if not cell:
        return float("nan")
    if decimal_comma and DECIMAL_COMMA.fullmatch(cell):
        cell = cell.replace(",", ".")
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None
