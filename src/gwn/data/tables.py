"""Tables from CSV and Parquet files, with one line of explanation for everything that can be wrong with them."""

from __future__ import annotations

import csv
import gzip
import re
import shlex
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from gwn.data.cells import Floats, Mask, choose_notation, days_of, days_of_type, how_read, numbers_of
from gwn.errors import GWNError
from gwn.io import CHUNK_BYTES, file_sha256, open_regular
from gwn.memory import free_bytes, say_memory
from gwn.registry import require_known

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "<NA>")
"""Cells that hold nothing. "None" is not among them: it is a good name for a class."""

INDEX_NAMES = ("", "__index_level_0__")
LARGEST_INDEX = 1 << 53
"""What columns without a name are called: row numbers or row names that a program wrote, or somebody's data."""

CSV_BLOCK_BYTES = 1 << 24
"""No row may be longer than this."""


TEXT = 4
"""How many times its size a CSV file takes as a table in memory, where every cell is text."""

PACKED = 1032
"""How many times smaller gzip makes a file, at most."""

WIDTHS = {"BOOLEAN": 1 / 8, "INT32": 4, "FLOAT": 4, "BYTE_ARRAY": 4, "INT64": 8, "DOUBLE": 8, "INT96": 8}
"""Bytes of a cell in memory, at least: Parquet stores a million equal ones in a few."""

CLOSE = "close it, or write two of them for one in the text"

DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
"""Beside semicolons: in a line of data there may be more of them than of the sign between the columns."""

DECIMAL_COMMA_MARK = {b"gwn": b"decimal comma"}
"""In a copy, as Parquet, of a table that had something else than commas between its columns."""

SEPARATORS = ",;\t|"
FIRST_LINES = 20
"""Lines after the first that tell what stands between the columns."""

QUOTED = re.compile(rf'(?:(?<=[{SEPARATORS}])|^)"[^"]*(?:""[^"]*)*"', re.MULTILINE)
OPEN_QUOTE = re.compile(rf'(?:(?<=[{SEPARATORS}])|^)"', re.MULTILINE)
LINE_END = re.compile(r"\r\n|\r|\n")

WRONG_ROW = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)

NUMERAL = re.compile(r"[+-]?[\d.,]+$")

WHOLE = r"^-?\d+\.0+$"
"""A whole number as a spreadsheet or pandas writes it where other cells of the column were empty."""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns as Arrow arrays and the file they came from; rows are counted from 1, without the header.

    path            the file, or the word that messages use for a table that was never in one
    decimal_comma   whether 1,5 is a number: so where something else than a comma stands between the columns
    content_hash    SHA-256 of a table that was never in a file; the file's own is taken otherwise
    row_names       a first column without a name: it may hold the ids, but is never a feature
    declared        columns that were categories by their type before they got here
    """

    path: Path
    columns: Mapping[str, Any]
    rows: int
    decimal_comma: bool = False
    content_hash: str = ""
    row_names: str | None = None
    declared: frozenset[str] = frozenset()
    parsed: dict[tuple[str, str], tuple[Floats, Mask]] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def from_arrow(cls, path: Path, table: Any, *, decimal_comma: bool = False, content_hash: str = "") -> Table:
        """From an Arrow table: row numbers that pandas wrote are left out, two columns of one name are refused.

        Other columns without a name are called column-1, column-2, ... by their place, unless they are empty.
        """
        places, row_names = named_columns(path, table.column_names, lambda place: table.column(place).combine_chunks())
        return cls(
            path,
            {name: table.column(place).combine_chunks() for name, place in places.items()},
            table.num_rows,
            decimal_comma=decimal_comma,
            content_hash=content_hash,
            row_names=row_names,
        )

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
        column = _whole_numbers(self.columns[name])
        try:
            text = pc.utf8_trim_whitespace(pc.fill_null(pc.cast(column, pa.string()), ""))
        except (pa.ArrowException, ValueError, NotImplementedError):
            raise GWNError(
                f"{self.path.name}: column {name!r} holds {column.type}, which is neither text nor numbers; "
                "name another column"
            ) from None
        return pc.if_else(pc.is_in(text, value_set=pa.array(missing, pa.string())), "", text)

    def ids(self, name: str, *, merge: bool = False) -> Any:
        """A column as ids: text, nothing missing; 28.0, or 28,0 beside semicolons, is 28 among whole numbers.

        merge   also where 28 and 28.0 are both there, which are two ids otherwise
        """
        text = self.text(name, missing=())
        marks = r"[.,]" if self.decimal_comma else r"\."
        whole = pc.all(pc.match_substring_regex(text, rf"^(-?\d+({marks}0+)?)?$")).as_py()
        plain = pc.replace_substring_regex(text, rf"{marks}0+$", "") if whole else text
        return plain if merge or len(pc.unique(plain)) == len(pc.unique(text)) else text

    def numbers(self, name: str, notation: str = "") -> tuple[Floats, Mask]:
        """A column as numbers, NaN where it is missing, and which cells hold something that is no number."""
        column = self.columns[name]
        if self.holds_numbers(name):
            values = pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
            return values, np.zeros(self.rows, dtype=bool)
        return self._parsed(name, notation, lambda: numbers_of(self.text(name), notation, self.decimal_comma))

    def days(self, name: str, written: str) -> tuple[Floats, Mask]:
        """A column of dates as days since 1970, NaN where it is missing, and which cells hold no date."""
        column = self.columns[name]
        if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
            return days_of_type(column), np.zeros(self.rows, dtype=bool)
        return self._parsed(name, written, lambda: days_of(self.text(name), written))

    def _parsed(self, name: str, how: str, parse: Callable[[], tuple[Floats, Mask]]) -> tuple[Floats, Mask]:
        """Text is parsed once: every run asks for the same columns again. Columns that are not kept are parsed anew."""
        if not isinstance(self.columns, dict):
            return parse()
        if (name, how) not in self.parsed:
            self.parsed[name, how] = parse()
        return self.parsed[name, how]

    def notation(self, name: str) -> tuple[str | None, str]:
        """How a column writes its numbers, None where most of its cells are none, and what to know about that."""
        if self.holds_numbers(name):
            return "", ""
        text = self.text(name)
        notation = choose_notation(text, self.decimal_comma)
        return notation, "" if notation is None else how_read(text, notation, self.decimal_comma)

    def holds_numbers(self, name: str) -> bool:
        """Whether the cells are numbers by their type, and no texts."""
        kind = self.columns[name].type
        return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))

    def is_category(self, name: str) -> bool:
        """Whether the cells are categories by their type: then digits are names."""
        return name in self.declared or bool(pa.types.is_dictionary(self.columns[name].type))

    def is_readable(self, name: str) -> bool:
        """Whether a column holds single values that can be written as text."""
        if self.holds_numbers(name):
            return True
        try:
            self.text(name)
        except GWNError:
            return False
        return True

    def may_be_ids(self, name: str) -> bool:
        """Whether a column holds single values and no fractions, which nobody takes for ids."""
        column = self.columns[name]
        return self.is_readable(name) and not pa.types.is_floating(_whole_numbers(column).type)

    def missing(self, name: str) -> int:
        """How many cells of a column are empty."""
        if not self.is_readable(name):
            return int(self.columns[name].null_count)
        return int(pc.sum(pc.equal(self.text(name), "")).as_py() or 0)

    def cell(self, name: str, row: int) -> str:
        """One cell as it was written, for messages."""
        return str(self.columns[name][row].as_py())


def named_columns(
    path: Path, written: Sequence[str], column_at: Callable[[int], Any]
) -> tuple[dict[str, int], str | None]:
    """The places of columns by their names, and the one that holds row names; see `Table.from_arrow`."""
    places: dict[str, int] = {}
    row_names = None
    for place, name in enumerate(str(name).strip() for name in written):
        if name in INDEX_NAMES:
            column = column_at(place)
            if _holds_nothing(column) or (_are_row_numbers(column) and not places):
                continue
            name = f"column-{place + 1}"
            row_names = row_names if places else name
        if name in places:
            data = ", or say --no-header edges or nodes where the first line is data" if NUMERAL.match(name) else ""
            raise GWNError(f"{path} has two columns named {name!r}; rename one{data}")
        places[name] = place
    return places, row_names


def read_table(path: Path, *, header: bool = True) -> Table:
    """Read a CSV, TSV or Parquet file, chosen by its suffix; its content must be what the suffix says.

    CSV may be compressed: .csv.gz. Without a header its columns are called column-1, column-2, ...
    """
    path = Path(path)
    if path.is_dir():
        inside = sorted(file.name for file in path.iterdir() if suffix_of(file) in SUFFIXES)
        such = f"in it, such as {path / inside[0]}" if inside else f"that ends in {', '.join(SUFFIXES)}"
        raise GWNError(f"{path} is a folder, and a table is a file; name one {such}")
    suffix = suffix_of(path)
    if suffix not in SUFFIXES:
        raise GWNError(f"{path} is neither CSV nor Parquet; the file name must end in {', '.join(SUFFIXES)}")
    head = read_head(path)
    try:
        table, separator = SUFFIXES[suffix](path, head, header)
    except (pa.ArrowException, OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise GWNError(what_is_wrong(path, error)) from None
    declared = declared_categories(table.schema)
    table, index = _with_range_index(table)
    made = Table.from_arrow(path, table, decimal_comma=separator not in ("", ","))
    return replace(made, row_names=index or made.row_names, declared=declared)


def declared_categories(schema: Any) -> frozenset[str]:
    """Columns that were categories in the data frame that pandas wrote: of numbers, Parquet itself keeps no type."""
    about = (schema.pandas_metadata or {}).get("columns") or []
    return frozenset(str(each["name"]) for each in about if each.get("pandas_type") == "categorical")


def range_index(schema: Any, rows: int) -> tuple[str, range] | None:
    """Name and cells of the index of a data frame that pandas wrote as start, stop and step and no column.

    None where there is none, or one that counts from 0 and has no name: it says no more than the place of a row.
    """
    about = ((schema.pandas_metadata or {}).get("index_columns") or [None])[0]
    if not isinstance(about, dict) or about.get("kind") != "range":
        return None
    name, start, step = about.get("name"), about.get("start"), about.get("step")
    if not (isinstance(start, int) and isinstance(step, int) and max(abs(start), abs(step)) < LARGEST_INDEX):
        return None
    cells = range(start, start + rows * step, step or 1)
    says_nothing = name is None and (start, step) == (0, 1)
    if says_nothing or about.get("stop") != cells.stop or len(cells) != rows or name in schema.names:
        return None
    return name or "", cells


def _with_range_index(table: Any) -> tuple[Any, str]:
    """The table with such an index as its first column, and the index's name, or ""."""
    if (index := range_index(table.schema, table.num_rows)) is None:
        return table, ""
    name, cells = index
    return table.add_column(0, name or INDEX_NAMES[1], pa.array(cells)), name


def what_is_wrong(path: Path, error: Exception) -> str:
    """What a reader's error means for somebody who has the file, in one line."""
    said = first_line(error)
    if "UTF8" in said or isinstance(error, UnicodeDecodeError):
        name, plain = shlex.quote(path.name), shlex.quote("utf8-" + path.name.removesuffix(".gz"))
        recode = "iconv -f latin1 -t utf-8"
        read = f"gunzip -c {name} | {recode}" if path.suffix == ".gz" else f"{recode} {name}"
        return f"{path} is not in UTF-8; save it as UTF-8, for example with {read} > {plain}"
    if "straddling" in said or "quoted" in said:
        return (
            f"{path} has a row of more than {CSV_BLOCK_BYTES:,} bytes; shorten the cell or, if a quotation mark in it "
            f"is never closed, {CLOSE}"
        )
    if ragged := WRONG_ROW.search(said):
        row, names, cells, start = ragged.groups()
        return (
            f"{path}: {f'row {row}' if row else 'a row'} has {cells} cells and the first line {names}: {start[:60]}; "
            f"delete lines above the column names, and quote cells that hold the sign between the columns"
        )
    return f"{path} cannot be read: {said}"


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


def require_parquet(path: Path, head: bytes, header: bool) -> None:
    """Refuse a file that is named as Parquet and is not, or whose columns are said to have no names."""
    if not head.startswith(b"PAR1"):
        raise GWNError(f"{path} is named as Parquet but is not; rename it if it is CSV, or write it again")
    if not header:
        raise GWNError(f"{path} is a Parquet file, whose columns have names; leave --no-header out for it")


def require_text(path: Path, head: bytes) -> None:
    """Refuse a file that is named as CSV and is not text."""
    if head.startswith(b"PAR1"):
        raise GWNError(f"{path} is a Parquet file; rename it to {path.with_suffix('.parquet').name}")
    if b"\0" in head and path.suffix.lower() != ".gz":
        raise GWNError(f"{path} is not text, so it is not a CSV file; save the table as CSV in UTF-8, or as Parquet")


def _read_parquet(path: Path, head: bytes, header: bool) -> tuple[Any, str]:
    require_parquet(path, head, header)
    about = pa.parquet.read_metadata(path)
    widths = (WIDTHS.get(about.schema.column(place).physical_type, 1) for place in range(about.num_columns))
    _require_room(path, int(about.num_rows * sum(widths)))
    table = whole(path, pa.parquet.read_table(path))
    return table, ";" if DECIMAL_COMMA_MARK.items() <= (table.schema.metadata or {}).items() else ""


def whole(path: Path, table: Any) -> Any:
    """The table or batch of a Parquet file, refused where its values are not what their types promise."""
    try:
        table.validate(full=True)
    except pa.ArrowInvalid as error:
        raise GWNError(f"{path} is damaged: {first_line(error)}; write it again") from None
    return table


def _read_csv(path: Path, head: bytes, header: bool) -> tuple[Any, str]:
    compressed = path.suffix.lower() == ".gz"
    require_text(path, head)
    if compressed:
        _require_room(path, TEXT * _unpacked(path, free_bytes() // TEXT))
    separator, names = csv_layout(path, header)
    if len(names) == 1:
        _require_no_gap(path)
    table = _all_text(path, separator, names, header)
    if not set(names) >= set(table.column_names):  # a name goes over several lines, and its column was guessed at
        table = _all_text(path, separator, table.column_names, header)
    if table.num_rows and any("\n" in str(table[at][-1]) for at in range(table.num_columns)):
        with (gzip.open if compressed else open)(path, "rb") as file:
            if sum(line.count(b'"') for line in file) % 2:
                raise GWNError(f"{path} has a quotation mark that is never closed and swallows what follows; {CLOSE}")
    return table, separator


def _require_room(path: Path, needed: int) -> None:
    """Refuse a table that does not fit into memory: a file of a megabyte may unpack to more than any machine has."""
    if needed > (free := free_bytes()):
        raise GWNError(
            f"{path} takes {say_memory(needed)} of memory or more, and {say_memory(free)} are free; make a graph "
            f"folder with `gwn data convert`, which reads edges, and nodes in Parquet, by parts"
        )


def _unpacked(path: Path, enough: int) -> int:
    """Bytes of a compressed file, or a few more than `enough`; where it cannot have so many, they are not counted."""
    if PACKED * path.stat().st_size <= enough:
        return 0
    with gzip.open(path, "rb") as file:
        count = 0
        while count <= enough and (part := file.read(CHUNK_BYTES)):
            count += len(part)
    return count


def _all_text(path: Path, separator: str, names: Sequence[str], header: bool) -> Any:
    """Every cell as it is written: 01583 is no number yet."""
    return pa.csv.read_csv(
        path,
        read_options=pa.csv.ReadOptions(block_size=CSV_BLOCK_BYTES, column_names=None if header else names),
        parse_options=pa.csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        convert_options=pa.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    )


def csv_layout(path: Path, header: bool) -> tuple[str, list[str]]:
    """What stands between the columns of a CSV file, and their names: the first line, or numbers without a header."""
    with (gzip.open if path.suffix.lower() == ".gz" else open)(path, "rt", encoding="utf-8-sig", newline="") as file:
        lines = [*islice((line for line in file if line.strip()), 1)]
        first = lines[0].rstrip("\r\n") if lines else ""
        if not first:
            raise GWNError(f"{path} is empty")
        is_tabs = suffix_of(path) == ".tsv"
        separator = "\t" if is_tabs else _separator("".join([*lines, *islice(file, FIRST_LINES)]))
    names = next(csv.reader([first], delimiter=separator))
    return separator, names if header else [f"column-{number}" for number in range(1, len(names) + 1)]


def _require_no_gap(path: Path) -> None:
    """Refuse an empty line between the rows of a table of one column: its reader would leave out the row."""
    gap, begun, within = 0, False, False
    with (gzip.open if path.suffix.lower() == ".gz" else open)(path, "rt", encoding="utf-8-sig", newline="") as file:
        for number, line in enumerate(file, start=1):
            if not within and not line.rstrip("\r\n"):
                gap = gap or (number if begun else 0)
            elif gap:
                raise GWNError(
                    f'{path} has one column, and line {gap} is empty: write "" there where it is a row with an empty '
                    f"cell, or delete the line"
                )
            else:
                begun, within = True, within ^ (line.count('"') % 2 == 1)


def _separator(text: str) -> str:
    """The sign between the columns of these lines: as often in each of them, else the most frequent of the first.

    Signs in quoted cells do not count, nor do decimal commas beside semicolons.
    """
    plain = QUOTED.sub("", text)
    if (open_cell := OPEN_QUOTE.search(plain)) is not None:  # it goes on beyond these lines
        whole_lines = plain[: open_cell.start()].rpartition("\n")[0]
        plain = whole_lines or plain
    lines = [line for line in LINE_END.split(plain) if line.strip()] or [plain]
    if all(";" in line for line in lines):
        lines = [DECIMAL_COMMA.sub("", line) for line in lines]

    def fitness(sign: str) -> tuple[bool, int]:
        counts = [line.count(sign) for line in lines]
        return counts[0] > 0 and len(set(counts)) == 1, counts[0]

    return max(SEPARATORS, key=fitness)


SUFFIXES = {".csv": _read_csv, ".tsv": _read_csv, ".parquet": _read_parquet, ".pq": _read_parquet}


def _holds_nothing(column: Any) -> bool:
    """Whether every cell is empty."""
    if column.null_count == len(column):
        return True
    return pa.types.is_string(column.type) and not pc.any(pc.not_equal(pc.utf8_trim_whitespace(column), "")).as_py()


def _are_row_numbers(column: Any) -> bool:
    """Whether the cells are 0, 1, 2, ..., which say no more than the place of a row."""
    if not (pa.types.is_string(column.type) or pa.types.is_integer(column.type)):
        return False
    return bool(pc.cast(column, pa.string()).equals(pc.cast(pa.array(np.arange(len(column))), pa.string())))


def _whole_numbers(column: Any) -> Any:
    """A column of fractions as integers where every value is one."""
    if not pa.types.is_floating(column.type):
        return column
    try:
        return pc.cast(column, pa.int64())
    except pa.ArrowInvalid:
        return column
