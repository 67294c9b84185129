"""Cells that a spreadsheet would run, and all others as they are."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from gwn.spreadsheet import csv_text, write_columns, write_csv

RISKY = ["=1+1", "+SUM(A1)", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", '=HYPERLINK("x","y")']
HARMLESS = ["-5", "+3.25", "-1e-3", "-", "=", "a=b", "", "x-1", "'=1", "28", "p_=1"]


@pytest.mark.parametrize("cell", RISKY)
def test_a_formula_gets_an_apostrophe_unless_raw_is_asked_for(cell: str, tmp_path: Path) -> None:
    written = write_csv(tmp_path / "a.csv", ["node", cell], [[cell, 0.5], ["b", 0.25]])
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["node", f"'{cell}"], [f"'{cell}", "0.5"], ["b", "0.25"]]
    assert written == (2, 2)
    assert "--raw-cells" in written.note
    raw = write_csv(tmp_path / "b.csv", ["node", "p"], [[cell, 0.5]], raw=True)
    with (tmp_path / "b.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file))[1] == [cell, "0.5"]
    assert raw == (1, 0)
    assert raw.note == ""


def test_numbers_and_harmless_text_stay_as_they_are() -> None:
    rows = [[cell, -0.5, math.nan, None] for cell in HARMLESS]
    read = list(csv.reader(csv_text(["a", "b", "c", "d"], rows).splitlines()))
    assert read[1:] == [[cell, "-0.5", "", ""] for cell in HARMLESS]


@pytest.mark.parametrize("raw", [False, True])
def test_columns_are_written_as_rows_are(tmp_path: Path, raw: bool) -> None:
    """Batch by batch, formulas, empty cells, quotation marks and all."""
    columns: list[list[Any]] = [["a", "=1+1", "-3", "b,c"], ["x", None, "y", 'he said "so"'], [0.5, 0.25, 1.0, 0.0]]
    batches = [[pa.array(column[part]) for column in columns] for part in (slice(0, 3), slice(3, 4))]
    headings = ["node", "@known", "p"]
    written = write_columns(tmp_path / "columns.csv", headings, batches, raw=raw)
    expected = write_csv(tmp_path / "rows.csv", headings, zip(*columns, strict=True), raw=raw)
    rows, same = (list(csv.reader((tmp_path / f"{name}.csv").open())) for name in ("rows", "columns"))
    assert [row[:2] for row in same] == [row[:2] for row in rows]
    assert [float(row[2]) for row in same[1:]] == [float(row[2]) for row in rows[1:]]
    assert written == expected
    assert written.rows == 4
    assert (tmp_path / "columns.csv").read_text().splitlines()[1].startswith("a,x,0.5")
