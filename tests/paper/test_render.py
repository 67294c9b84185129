"""Tables as Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from gwn.paper.table import FORMATS, SUFFIXES, TableCell, TableData, to_csv, to_latex, to_markdown, words

TABLE = TableData(
    name="some-table",
    title="Scores & more",
    caption="100 % honest.",
    columns=("model", "cora"),
    rows=((words("GWN_x"), TableCell(lines=("1.00 ± 0.10", "paper 2.00"), value=1.0)), (words("none"), words(""))),
    command="gwn reproduce some-table",
    records=({"row": "x", "mean": 1.0}, {"row": "y", "mean": None, "note": "a, b"}),
)


def test_markdown_keeps_the_lines_of_a_cell_apart() -> None:
    text = to_markdown(TABLE)
    assert "| GWN_x | 1.00 ± 0.10<br>paper 2.00 |" in text
    assert "|---|---|" in text
    assert "`gwn reproduce some-table`" in text


def test_notes_of_a_column_are_told_after_the_caption() -> None:
    noted = TableData(**{**TABLE.__dict__, "notes": {"cora": "Not the file of others.", "elsewhere": "Not in it."}})
    assert "100 % honest. cora: Not the file of others. Printed by" in to_markdown(noted)
    assert "cora: Not the file of others." in to_latex(noted)
    assert "Not in it" not in to_markdown(noted)


def test_a_note_that_names_its_subject_is_not_named_again() -> None:
    """It said "cora: Cora: ..."; the name of what has no note of its own stays before it."""
    columns = ("model", "Texas geom", "Texas per-class")
    rows = ((words("GWN"), words("1"), words("2")),)
    own = dict.fromkeys(columns[1:], "Texas: Its nodes are Cornell's.")
    said = to_markdown(replace(TABLE, columns=columns, rows=rows, notes=own))
    assert "100 % honest. Texas: Its nodes are Cornell's. Printed by" in said
    other = dict.fromkeys(columns[1:], "Budget: small.")
    assert "Texas geom, Texas per-class: Budget: small." in to_markdown(
        replace(TABLE, columns=columns, rows=rows, notes=other)
    )


def test_csv_is_the_long_form() -> None:
    rows = list(csv.reader(io.StringIO(to_csv(TABLE))))
    assert rows == [["row", "mean", "note"], ["x", "1.0", ""], ["y", "", "a, b"]]


def test_csv_without_records_is_the_table_as_seen() -> None:
    plain = TableData(**{**TABLE.__dict__, "records": ()})
    assert list(csv.reader(io.StringIO(to_csv(plain))))[1] == ["GWN_x", "1.00 ± 0.10; paper 2.00"]


def test_latex_is_escaped_and_stacked() -> None:
    text = to_latex(TABLE)
    assert r"GWN\_x & \shortstack{1.00 $\pm$ 0.10 \\ paper 2.00} \\" in text
    assert r"Scores \& more. 100 \% honest." in text
    assert text.count("{") == text.count("}")


def test_latex_marks_the_best_and_the_second_best() -> None:
    rows = tuple((words(str(value)), words(f"{value:.2f}", value)) for value in (2.0, 3.0, 1.0))
    text = to_latex(replace(TABLE, rows=rows, best="highest"))
    assert r"\textbf{3.00}" in text
    assert r"\underline{2.00}" in text
    assert text.count(r"\textbf") == text.count(r"\underline") == 1


def test_every_format_has_a_suffix() -> None:
    assert {*FORMATS} == {*SUFFIXES}
