"""The table that every page shows: escaped, the best marked, what is missing in one style, notes with letters."""

from __future__ import annotations

import re
from dataclasses import replace

from gwn.pages.table import NOT_MEASURED, TableCell, TableData, marks, table_html, words

SCORES = {"gwn-fa": (81.0, 3.0), "gcn": (82.5, None), "gat": (82.504, 1.0), "sgc": (80.0, 2.0)}
TABLE = TableData(
    name="toy",
    title="T<1>",
    caption="a & b",
    columns=("model", "Texas geom", "Cornell geom"),
    rows=tuple(
        (words(name), *(NOT_MEASURED if value is None else words(f"{value:.2f}", value) for value in values))
        for name, values in SCORES.items()
    ),
    command="gwn reproduce toy",
    lead=1,
    best="highest",
    across="dataset",
    notes={"Texas geom": "a twin", "gat": "a <note>", "nobody": "not in this table"},
)


def test_everything_is_escaped() -> None:
    html = table_html(replace(TABLE, rows=((words("<script>"), *(TableCell(lines=("1.50", "<i>"), value=1.5),) * 2),)))
    assert "<script>" not in html
    assert 'aria-label="T&lt;1&gt;"' in html
    assert 'data-value="1.5"><span class="first">1.50</span><span class="line">&lt;i&gt;</span></td>' in html


def test_the_best_and_the_second_best_as_printed() -> None:
    first = {row: mark for (row, column), mark in marks(TABLE).items() if column == 1}
    assert first == {1: "best", 2: "best", 0: "second"}, "82.50 twice is the same figure"
    lowest = {row: mark for (row, column), mark in marks(replace(TABLE, best="lowest")).items() if column == 2}
    assert lowest == {2: "best", 3: "second"}
    assert marks(replace(TABLE, best="")) == {}
    assert marks(replace(TABLE, rows=TABLE.rows[:1])) == {}, "one model is not the best of anything"
    assert table_html(TABLE).count("number best") == 3


def test_what_is_missing_looks_the_same_everywhere() -> None:
    html = table_html(replace(TABLE, rows=((words("a"), NOT_MEASURED, replace(NOT_MEASURED, lines=("–", "paper 1"))),)))
    assert html.count('<span aria-hidden="true">–</span><span class="unseen">not measured</span>') == 2
    assert '<span class="line"><span>paper 1</span></span>' in html


def test_notes_stand_where_they_belong() -> None:
    html = table_html(TABLE)
    assert 'Texas <span class="line">geom</span><sup>a</sup>' in html
    assert '<span class="first">gat</span><sup>b</sup>' in html
    assert "<sup>b</sup> a &lt;note&gt;</li>" in html
    assert "not in this table" not in html


def test_what_the_table_is_about_leads_and_filters_find_names() -> None:
    html = table_html(TABLE)
    assert html.count('<tr class="lead">') == 1
    assert html.count('data-across="dataset"') == 2
    assert 'data-of="model"' in html


def test_the_head_of_the_first_column_stands_on_the_left_as_its_rows_do() -> None:
    """Nodes have numbers for names: their heading stood on the right of them."""
    numbers = TableData(
        name="t", title="t", caption="", columns=("node", "sure"), rows=((words("436"), words("99.9")),), command=""
    )
    html = table_html(numbers)
    assert re.findall(r'<th scope="col" class="(\w+)"', html) == ["figures", "number"]
