"""`gwn report`'s page in a real browser, opened from the disk: the verdict is on the first screen, tables sort by mouse
and key, nothing is missing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browser.conftest import UNNAMED, fits, violations
from gwn.paper import report as report_page
from gwn.paper.curve_data import Axis, CurveData, Panel, Series, write_figure
from gwn.paper.exhibit import Exhibit, figure_path
from gwn.paper.exhibits import EXHIBITS
from gwn.paper.exhibits.accuracy import COLUMNS
from gwn.paper.table import TableCell, TableData, words

Open = Callable[..., Any]
WICKED = "<script>alert(1)</script>"
LONG = ("spectrum", "stability", "runtime-rest")
"""Figures with the longest captions, below a picture that is wide, one that is tall and the one with most panels."""
CELLS = Path(__file__).parents[2] / "results" / "cells"


def table() -> TableData:
    scores = {"gcn": (81.5, "80.1 to 82.9"), WICKED: (None, "paper 70.10"), "gwn-fa": (9.25, "8.0 to 10.5")}
    return TableData(
        name="table-toy",
        title="Scores <b>here</b>",
        caption="Three models & one that was not measured.",
        columns=("model", "toy", "remark", *(f"more {k}" for k in range(8))),
        across="dataset",
        lead=1,
        notes={"toy": "It is small.", "more 1": "It is large."},
        rows=tuple(
            (
                words(name),
                TableCell(lines=("–" if value is None else f"{value:.2f}", below), value=value, missing=value is None),
                words(f"remark {10 - k}"),
                *(words("a cell") for _ in range(8)),
            )
            for k, (name, (value, below)) in enumerate(scores.items())
        ),
        command="gwn reproduce table-toy",
    )


def wide_table() -> TableData:
    """As many columns as the paper's largest table, with cells as long as they get."""
    cell = TableCell(lines=("82.00 ± 12.00", "76.5 to 86.4", "paper 70.00 (+12.00, within)"), value=82.0)
    remark = TableCell(lines=("82.00 ± 12.00", "setting with the best mean test score"), value=82.0)
    return TableData(
        name="table-wide",
        title="Wide",
        caption="Ten columns.",
        columns=("model", *(f"Dataset{k} per-class" for k in range(9))),
        across="dataset",
        rows=(
            (words("GCN"), *[TableCell(lines=("90.00 ± 12.00",), value=90.0)] * 9),
            *((words("GraphSAGE"), *[cell] * 6, *[remark] * 3) for _ in range(3)),
        ),
        best="highest",
        command="gwn reproduce table-toy",
    )


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the cells that are measured, a table with odd names, and a figure."""
    folder = tmp_path_factory.mktemp("report")
    shutil.copytree(CELLS, folder / "results" / "cells")
    line = Panel(
        title="one",
        kind="lines",
        x=Axis(label="time"),
        y=Axis(label="amplitude"),
        series=(Series(label="a", x=(0.0, 1.0), y=(1.0, 2.0)),),
    )
    figure = CurveData(name="roots", title="A figure", place="figure 0", caption="It rises.", panels=(line,))
    write_figure(figure, figure_path("figure-roots", folder / "results"))
    for name in (*LONG, "runtime"):
        shutil.copy(CELLS.parent / "figures" / f"{name}.json", folder / "results" / "figures")
    exhibit = Exhibit(
        name="table-toy", title="scores", place="table 0", compute=lambda context: (table(), wide_table())
    )
    with pytest.MonkeyPatch.context() as patch:
        figures = {name: each for name, each in EXHIBITS.items() if each.is_figure}
        patch.setattr(report_page, "EXHIBITS", {"table-toy": exhibit, **figures})
        return report_page.write_report(folder / "results", folder / "page")


def order(page: Any) -> list[str]:
    found: list[str] = page.locator("#table-toy tbody th").all_text_contents()
    return found


BOTTOM = "(id) => document.getElementById(id).getBoundingClientRect().bottom"


def test_the_first_screen_has_the_verdict(report: Path, visit: Open) -> None:
    page = visit(report)
    page.set_viewport_size({"width": 1440, "height": 900})
    found = page.inner_text("h1")
    counts = [int(page.inner_text(f".fact:first-child .{kind} b")) for kind in ("beaten", "met", "missed")]
    assert sum(counts) > 0
    assert all(f"{count} {kind}" in found for count, kind in zip(counts, ("beaten", "met", "missed"), strict=True))
    assert page.locator("#ranking svg").count() == sum(map(len, COLUMNS.values()))
    assert page.locator("#ranking svg text").count() > 28, "text stays text"
    assert page.evaluate(BOTTOM, "ranking") <= 900
    tops = "(charts) => charts.map((chart) => Math.round(chart.getBoundingClientRect().top))"
    rows = page.locator("#ranking svg").evaluate_all(tops)
    assert len({*rows}) == -(-len(rows) // 8), "eight in a row, and all of a row at one height"
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.querySelector('.fact').getBoundingClientRect().bottom") <= 844
    for width in (1440, 1024, 390, 360):
        page.set_viewport_size({"width": width, "height": 844})
        standings, card = (page.locator(each).bounding_box() for each in (".standings", ".fact:has(.standings)"))
        assert standings["x"] + standings["width"] <= card["x"] + card["width"] - 10, width
        assert fits(page)


def test_tables_sort_by_mouse_and_key(report: Path, visit: Open) -> None:
    page = visit(report)
    heads = page.locator("#table-toy thead th")
    assert order(page) == ["gcn", WICKED, "gwn-fa"]
    heads.nth(1).locator("button").click()
    assert heads.nth(1).get_attribute("aria-sort") == "descending"
    assert order(page) == ["gcn", "gwn-fa", WICKED], "by number, not by text; what was not measured comes last"
    page.keyboard.press("Enter")
    assert heads.nth(1).get_attribute("aria-sort") == "ascending"
    assert order(page) == ["gwn-fa", "gcn", WICKED]
    page.keyboard.press("Enter")
    assert heads.nth(1).get_attribute("aria-sort") == "none"
    assert order(page) == ["gcn", WICKED, "gwn-fa"], "as it was"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert heads.nth(1).get_attribute("aria-sort") == "none"
    assert order(page) == ["gwn-fa", WICKED, "gcn"], "remark 8, 9, 10"
    assert page.evaluate(UNNAMED) == []


def test_filters_keep_models_and_datasets(report: Path, visit: Open) -> None:
    page = visit(report)
    rows, heads = page.locator("#table-toy tbody tr"), page.locator("#table-toy thead th")
    page.fill("[data-filter=model]", "gwn, nobody")
    assert [row.is_visible() for row in rows.all()] == [False, False, True]
    page.fill("[data-filter=dataset]", "more 3,TOY")
    assert [head.text_content().strip() for head in heads.all() if head.is_visible()] == ["model", "toya", "more 3"]
    assert rows.nth(2).locator("td:visible").count() == 2
    notes = page.locator("#table-toy .notes li")
    assert [note.is_visible() for note in notes.all()] == [True, False], "those of what is in sight"
    assert page.inner_text("[data-found]").endswith("rows")
    page.fill("[data-filter=dataset]", "")
    page.locator("#settings summary").click()
    page.fill("[data-filter=model]", "GWN+ bank, structure")
    titles = page.locator("#settings tbody tr:visible th").all_inner_texts()
    assert titles
    assert all("GWN+ bank, structure" in title for title in titles), "a comma of a suggested name separates nothing"
    page.fill("[data-filter=model]", "gwn, nobody")
    page.fill("[data-filter=dataset]", "more 3,TOY")
    assert page.locator("#settings tbody tr:visible").count() == 0, "they have no such dataset"
    assert page.locator("#settings .nothing").is_visible()
    page.fill("[data-filter=dataset]", "texas")
    seen = page.locator("#settings tbody tr:visible")
    titles = seen.locator("th").all_inner_texts()
    assert "GWN-fa" in titles
    assert all("GWN" in title for title in titles), "not the peers"
    assert {*seen.locator("td:nth-child(2)").all_inner_texts()} == {"Texas"}
    assert page.locator("#table-toy .nothing").is_visible()
    page.fill("[data-filter=dataset]", "")
    page.fill("[data-filter=model]", "")
    assert rows.nth(0).is_visible()
    assert all(note.is_visible() for note in notes.all())
    assert page.inner_text("[data-found]") == ""


def test_headings_and_first_column_stay_in_sight(report: Path, visit: Open) -> None:
    page = visit(report)
    page.locator("#settings summary").click()
    corners = """(box) => {
        const place = (one) => { const {x, y} = one.getBoundingClientRect(); return [x, y]; };
        const last = box.querySelector('tbody tr:last-child th');
        const found = [place(box), place(box.querySelector('thead th')), place(last)];
        return found.flat().map(Math.round);
    }"""
    box = page.locator("#settings .scroll")
    assert box.evaluate("(box) => box.clientHeight < 900 && box.scrollHeight > 2 * box.clientHeight")
    box.evaluate("(box) => box.scrollTo(300, box.scrollHeight)")
    x, y, head_x, head_y, last_x, _ = box.evaluate(corners)
    assert abs(head_y - y) <= 2, "the headings are at the top of the frame"
    assert abs(head_x - x) <= 2
    assert abs(last_x - x) <= 2


def test_ten_columns_fit_a_desktop_and_no_number_is_broken(report: Path, visit: Open) -> None:
    page = visit(report)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    box = page.locator("#table-wide .scroll")
    box.locator("td").first.wait_for()
    assert box.evaluate("(box) => box.scrollWidth <= box.clientWidth")
    text = "82.00 ± 12.00 76.5 to 86.4 paper 70.00 (+12.00, within)"
    assert box.locator("tbody tr:nth-child(2) td").first.inner_text().split() == text.split()
    lines = "(parts) => parts.map((part) => part.getClientRects().length)"
    assert {*box.locator(".first, td .line > span").evaluate_all(lines)} == {1}


OVERLAPS = """() => {
    const texts = [], walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const node = walker.currentNode;
        if (!node.textContent.trim() || node.parentElement.closest('.unseen, svg, sup, code')) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const box of range.getClientRects()) if (box.width > 1) texts.push([box, node.textContent.trim()]);
    }
    const found = [], by = texts.sort((a, b) => a[0].top - b[0].top);
    by.forEach(([a, one], k) => {
        for (let j = k + 1; j < by.length && by[j][0].top < a.bottom - 3; j++) {
            const [b, other] = by[j];
            if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2) found.push(`${one} | ${other}`);
        }
    });
    return found.slice(0, 5);
}"""


def test_on_paper_nothing_is_printed_over_anything(report: Path, visit: Open) -> None:
    page = visit(report)
    page.set_viewport_size({"width": 1040, "height": 720})  # a sheet of A4 across, without its margins
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(OVERLAPS) == []
    assert fits(page)
    assert not page.locator(".filters").is_visible()
    assert page.locator("#table-toy thead").is_visible()
    assert page.locator("#table-toy .scroll").evaluate("(box) => box.scrollWidth <= box.clientWidth")
    lines = "(parts) => parts.map((part) => part.getClientRects().length)"
    assert {*page.locator("#table-wide .first, #table-wide td .line > span").evaluate_all(lines)} == {1}
    assert page.locator("#table-wide .scroll").evaluate("(box) => box.scrollWidth <= box.clientWidth")
    offset = "(first) => getComputedStyle(first).textUnderlineOffset"
    assert page.locator("#table-wide .second .first").first.evaluate(offset) == "1px", "not through the line below"
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")


@pytest.mark.parametrize(("name", "wide", "high"), [("spectrum", 275, 188), *((each, 188, 275) for each in LONG[1:])])
def test_a_figure_and_all_that_is_said_of_it_fit_a_page(
    report: Path, visit: Open, name: str, wide: int, high: int
) -> None:
    """The last line of two captions had a sheet of its own."""
    page, millimetre = visit(report), 96 / 25.4
    page.set_viewport_size({"width": int(wide * millimetre), "height": int(high * millimetre)})
    page.emulate_media(media="print")
    section = page.locator(f"#figure-{name}")
    assert section.evaluate("(part) => part.classList.contains('tall')") == (high > wide)
    taken = section.evaluate("(part) => part.getBoundingClientRect().height") / millimetre
    above = page.locator("main > h2").first.evaluate("(head) => head.getBoundingClientRect().height") / millimetre
    assert taken + above + 10 < high
    marks = page.locator("details.exhibit > summary").evaluate_all(
        "(all) => all.map((one) => getComputedStyle(one).listStyleType + getComputedStyle(one).breakAfter)"
    )
    assert {*marks} == {"noneavoid"}


def test_a_strip_of_panels_is_set_over_the_whole_page(report: Path, visit: Open) -> None:
    """Ten rows of two panels stood beside three empty screens, and were 59 mm wide on paper."""
    page = visit(report)
    strip, gallery = (page.locator(each).bounding_box() for each in ("#figure-runtime-rest", ".gallery"))
    assert strip["width"] == pytest.approx(gallery["width"], abs=1)
    row = page.locator("#figure-runtime").bounding_box()
    assert row["width"] == pytest.approx(gallery["width"], abs=1), "three panels beside half an empty page"
    assert strip["height"] < 2 * strip["width"]
    page.set_viewport_size({"width": 1000, "height": 800})
    assert page.locator("#figure-runtime-rest img").bounding_box()["width"] >= 1320, "its letters are read"
    assert fits(page)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 710, "height": 1040})
    assert page.locator("#figure-runtime-rest img").bounding_box()["width"] > 600, "of the 710 of a sheet"


def test_figures_commands_and_what_is_missing(report: Path, visit: Open) -> None:
    page = visit(report)
    image = page.locator("#figure-roots img")
    assert image.evaluate("(img) => img.complete && img.naturalWidth > 0")
    assert "It rises." in image.get_attribute("alt")
    text = page.text_content("body")
    for part in ("gwn reproduce table-toy", "gwn reproduce figure-roots", "gwn reproduce figure-depth", "torch"):
        assert part in text
    assert page.inner_text("#table-toy h3") == "Scores <b>here</b>"
    for anchor in page.locator("nav a").all():
        assert page.locator(anchor.get_attribute("href")).count() == 1
    assert not page.locator("#environment table").is_visible(), "folded"
    page.click("nav a[href='#environment']")
    page.locator("#environment table").wait_for()


def test_the_report_on_a_small_screen(report: Path, visit: Open) -> None:
    page = visit(report, phone=True)
    assert fits(page)
    assert page.locator("#table-toy .scroll").evaluate("(box) => box.scrollWidth > box.clientWidth")
    shown, frame = page.locator("#figure-roots img"), page.locator("#figure-roots figure > a")
    assert shown.evaluate("(img) => img.getBoundingClientRect().width") >= 600, "its letters are read"
    assert frame.evaluate("(box) => box.scrollWidth > box.clientWidth"), "and it scrolls"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(report: Path, visit: Open, scheme: str) -> None:
    page = visit(report)
    page.emulate_media(color_scheme=scheme)
    assert violations(page) == []
