"""CSV for people: what a spreadsheet would run as a formula is written as text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from gwn.errors import GWNError
from gwn.io import being_written

FORMULA_STARTS = tuple("=+-@\t\r\n＝＋－＠")
"""What the cell of a formula begins with in Excel, LibreOffice and Google Sheets, in half and in full width."""

RAW_CELLS_HELP = "Write cells that look like formulas as they are, without an apostrophe before them."


class Written(NamedTuple):
    """How many rows were written below the headings, and how many cells got an apostrophe."""

    rows: int
    guarded: int

    @property
    def note(self) -> str:
        """What a person must know about the cells, in one line; nothing where none was changed."""
        if not self.guarded:
            return ""
        cells = "1 cell" if self.guarded == 1 else f"{self.guarded:,} cells"
        return (
            f"{cells} that a spreadsheet would run as a formula got an apostrophe in front; "
            "--raw-cells writes them as they are"
        )


def require_csv_name(path: Path) -> None:
    """Refuse a name that promises another format than CSV."""
    if path.suffix.lower() not in ("", ".csv", ".txt"):
        raise GWNError(f"{path} would be written as CSV; let the name that --out gives end in .csv")


def write_csv(path: Path, headings: Sequence[str], rows: Iterable[Sequence[Any]], *, raw: bool = False) -> Written:
    """Write a table, row by row, whole or not at all; see `add_rows` for `raw`."""
    with being_written(path) as private, private.open("w", newline="", encoding="utf-8") as file:
        return add_rows(file, headings, rows, raw=raw)


def write_columns(
    path: Path, headings: Sequence[str], batches: Iterable[Sequence[Any]], *, raw: bool = False
) -> Written:
    """As `write_csv`, for tables of millions of rows: some rows at a time, a batch being an Arrow array a column."""
    import pyarrow as pa
    import pyarrow.csv

    head = io.StringIO()
    count, guarded = add_rows(head, headings, (), raw=raw)
    with being_written(path) as private, private.open("wb") as file:
        file.write(head.getvalue().encode())
        for batch in batches:
            cells, risky = zip(*((column, 0) if raw else _guarded(column) for column in batch), strict=True)
            table = pa.table(list(cells), names=[str(place) for place in range(len(cells))])
            style = "needed" if any(map(_needs_quotes, cells)) else "none"  # "needed" quotes every text
            pa.csv.write_csv(table, file, pa.csv.WriteOptions(include_header=False, quoting_style=style))
            count += table.num_rows
            guarded += sum(risky)
    return Written(count, guarded)


def _needs_quotes(column: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pa.types.is_string(column.type)
    return bool(text and pc.any(pc.match_substring_regex(column, '[",\\r\\n]')).as_py())


def _guarded(column: Any) -> tuple[Any, int]:
    """A column in which no text is a formula, and how many of its cells were changed."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type):
        return column, 0
    suspect = pc.fill_null(pc.is_in(pc.utf8_slice_codeunits(column, 0, 1), pa.array(FORMULA_STARTS)), False)
    if not pc.any(suspect).as_py():
        return column, 0
    cells = column.to_pylist()
    risky = [place for place, cell in enumerate(cells) if cell is not None and is_formula(cell)]
    for place in risky:
        cells[place] = f"'{cells[place]}"
    return pa.array(cells, pa.string()), len(risky)


def csv_text(headings: Sequence[str], rows: Iterable[Sequence[Any]], *, raw: bool = False) -> str:
    """The same as a text."""
    out = io.StringIO()
    add_rows(out, headings, rows, raw=raw)
    return out.getvalue()


def add_rows(file: TextIO, headings: Sequence[str], rows: Iterable[Sequence[Any]], *, raw: bool = False) -> Written:
    """Headings and rows into an open file; None and NaN are empty cells.

    raw   keep texts that look like formulas as they are: for programs, which compare them with other tables
    """
    lines = csv.writer(file, lineterminator="\n")
    quoted = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)  # before 3.13, \r went out bare
    count, guarded = -1, 0
    for row in chain([headings], rows):
        cells = ["" if cell is None or cell != cell else cell for cell in row]
        if not raw:
            risky = [place for place, cell in enumerate(cells) if isinstance(cell, str) and is_formula(cell)]
            for place in risky:
                cells[place] = f"'{cells[place]}"
            guarded += len(risky)
        (quoted if any("\r" in cell for cell in cells if isinstance(cell, str)) else lines).writerow(cells)
        count += 1
    return Written(count, guarded)


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet could run this text; a number with a sign is a number, and a lone sign is nothing."""
    if len(cell) < 2 or not cell.startswith(FORMULA_STARTS):
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False
