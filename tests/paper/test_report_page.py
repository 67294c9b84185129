"""The report's parts without a browser: everything escaped, and what is missing named with its command."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from colours import DEUTERANOPIA, TOLD_APART, USUAL, distance
from gwn.errors import GWNError
from gwn.explore.page import SCRIPTS
from gwn.html import Markup, fill, json_block, template
from gwn.pages.charts import ticks
from gwn.paper.curve_data import Axis, CurveData, Panel, Series, write_figure
from gwn.paper.exhibit import Context, Exhibit, figure_path
from gwn.paper.report import environment_table, finding_of, sections, settings_table
from gwn.paper.table import TableCell, TableData, words


def exhibit(*tables: TableData, error: str = "") -> Exhibit:
    def compute(context: Context) -> tuple[TableData, ...]:
        if error:
            raise GWNError(error)
        return tables

    return Exhibit(name="table-toy", title="scores", place="table 0", compute=compute)


def table(*rows: tuple[TableCell, ...]) -> TableData:
    return TableData(
        name="table-toy", title="T<1>", caption="a & b", columns=("model", "x"), rows=rows, command="gwn reproduce toy"
    )


def test_everything_is_escaped_but_markup() -> None:
    assert fill("<p>$a$b</p>", a="<b>&\"'", b=Markup("<i>x</i>")) == "<p>&lt;b&gt;&amp;&quot;&#x27;<i>x</i></p>"
    with pytest.raises(KeyError):
        fill("$missing")


def test_data_are_scripts_that_hold_any_text() -> None:
    text = json_block(["</script>", "<!--", "\u2028", 1.5])
    assert text.isascii()
    assert "<" not in text
    assert json.loads(text) == ["</script>", "<!--", "\u2028", 1.5]


def test_what_is_missing_is_said_with_the_command(tmp_path: Path) -> None:
    html, links = sections([exhibit(table())], tmp_path, tmp_path / "out")
    assert "T&lt;1&gt;" in html
    assert "Nothing is measured yet; this fills it: <code>gwn reproduce toy</code>" in html
    assert links == [("table-toy", "Scores")]
    html, _ = sections([exhibit(error="cora is missing")], tmp_path, tmp_path / "out")
    assert "Not available: cora is missing." in html
    path = figure_path("figure-broken", tmp_path)
    path.parent.mkdir()
    path.write_text("{")
    figures = [replace(exhibit(), name=f"figure-{name}") for name in ("roots", "broken")]
    html, links = sections(figures, tmp_path, tmp_path / "out")
    assert "does not exist; compute it with gwn reproduce figure-roots." in html
    assert "was cut or edited (it is not JSON); compute it again with gwn reproduce figure-broken --recompute." in html
    assert [anchor for anchor, _ in links] == ["figure-roots", "figure-broken"]


def test_the_first_table_of_an_exhibit_is_in_sight_and_the_others_are_folded(tmp_path: Path) -> None:
    row = (words("gcn"), words("1.00", 1.0))
    html, _ = sections([exhibit(table(row), replace(table(row), name="more"))], tmp_path, tmp_path / "out")
    assert '<section class="card exhibit" id="table-toy">' in html
    assert '<details class="card exhibit" id="more">' in html
    assert (tmp_path / "out" / "tables" / "more.csv").read_text() == "model,x\ngcn,1.00\n"


@pytest.mark.parametrize("eyes", [USUAL, DEUTERANOPIA], ids=["usual", "deuteranopia"])
def test_colours_of_the_ranking_are_told_apart(eyes: NDArray[np.float64]) -> None:
    """In light and in dark: the wave networks among themselves and from their peers, and the parts of the bars."""
    light, dark = template("colours.css").split("@media (prefers-color-scheme: dark)")
    for theme in (dict(re.findall(r"--([\w-]+): (#\w+);", part)) for part in (light, dark)):
        models = [theme[name] for name in ("wave-sym", "wave-fa", "wave-plus", "wave-bank", "peer")]
        parts = [theme[name] for name in ("beaten", "met", "missed", "unmeasured")]
        for one, other in (*combinations(models, 2), *combinations(parts, 2)):
            assert distance(one, other, eyes) > TOLD_APART, (one, other)


def test_a_caption_begins_with_its_finding_in_bold(tmp_path: Path) -> None:
    line = Panel(
        title="", kind="lines", x=Axis(label=""), y=Axis(label=""), series=(Series(label="", x=(0.0,), y=(1.0,)),)
    )
    caption = "Heat is 1.0 away, the wave 8.7. (a) A bump & what follows."
    figure = CurveData(name="roots", title="t", place="figure 7", caption=caption, panels=(line,) * 2)
    write_figure(figure, figure_path("figure-roots", tmp_path))
    html, _ = sections([replace(exhibit(), name="figure-roots")], tmp_path, tmp_path / "out")
    assert "<b>Heat is 1.0 away, the wave 8.7.</b> (a) A bump &amp; what follows.</figcaption>" in html
    assert 'class="card exhibit tall"' in html, "two panels in one column"
    assert finding_of("One sentence.") == ("One sentence.", "")


@pytest.mark.parametrize(("low", "high"), [(75.7, 84.0), (0.0, 1.0), (95.3, 96.9), (-3.0, 41.0)])
def test_an_axis_has_two_numbers_or_more(low: float, high: float) -> None:
    """One number is no scale: CiteSeer's panel of the ranking had 80 alone."""
    found = ticks(low, high, 4)
    assert 2 <= len(found) <= 6
    assert low <= found[0] < found[-1] <= high


def test_settings_are_rounded_on_the_page_and_whole_in_the_file() -> None:
    shown = settings_table(Path(__file__).parents[2] / "results")
    digits = [found for row in shown.rows for found in re.findall(r"\d\.(\d+)\b", row[3].lines[0])]
    assert digits
    assert max(map(len, digits)) <= 5
    assert any(len(str(value)) > 8 for record in shown.records for value in record["settings"].values())
    assert shown.rows[0][0].lines == ("GWN-sym",), "the wave networks first"


def test_environments_are_counted_and_settings_listed(tmp_path: Path) -> None:
    record = {"environment": {"versions": {"torch": "9.9"}, "platform": "moon"}}
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text(json.dumps(record))
    (tmp_path / "c.json").write_text(json.dumps({"provenance": {"environment": {"versions": {"torch": "1.0"}}}}))
    (tmp_path / "d.json").write_text("broken")
    rows = {row[0].lines[0]: [cell.lines[0] for cell in row] for row in environment_table(tmp_path).rows}
    assert rows.keys() == {"this page", "2 results", "1 results"}
    assert "9.9" in rows["2 results"]
    assert settings_table(tmp_path).rows == ()


def test_no_page_asks_for_anything_from_elsewhere() -> None:
    for name in (
        "explore.html",
        "report.html",
        "base.css",
        "explore.css",
        "colours.css",
        "table.css",
        "report.css",
        "table.js",
        "report.js",
        *SCRIPTS,
    ):
        text = template(name).replace("http-equiv", "")  # the attribute that carries the Content-Security-Policy
        assert "http" not in text, name
        assert "fetch(" not in text, name
