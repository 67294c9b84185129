"""Tables on the report's page: sortable, each with its caption, its command and its numbers as CSV."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gwn.errors import GWNError
from gwn.experiments.exhibit import Exhibit
from gwn.experiments.table import TableCell, TableData
from gwn.report.html import Markup, fill, join
from gwn.report.render import to_csv
from gwn.training.store import write_atomic

TABLE = """<section class="card exhibit" id="$name" aria-labelledby="$name-title">
<h3 id="$name-title">$title</h3>
<div class="scroll" role="region" aria-labelledby="$name-title" tabindex="0">
<table class="sortable"><thead><tr>$head</tr></thead>
<tbody>
$body
</tbody></table>
</div>
<p>$caption</p>
<p class="soft">Made by <code>$command</code> · <a href="tables/$name.csv">as CSV</a></p>
</section>"""
HEAD = """<th scope="col" aria-sort="none"><button type="button">$text<span class="arrow" aria-hidden="true"></span>
</button></th>"""
EMPTY = '<section class="card exhibit" id="$name"><h3>$title</h3><p>$reason</p></section>'
NOTHING = "Nothing is measured yet; this fills it: <code>$command</code>"
LONG = 40
"""A cell of so many characters is wrapped."""


def table_sections(exhibits: Iterable[Exhibit], results: Path, out: Path) -> tuple[Markup, list[tuple[str, str]]]:
    """All tables of all exhibits, and (anchor, title) of each exhibit for the contents; CSV files beside them."""
    parts, contents = [], []
    for exhibit in exhibits:
        try:
            tables = exhibit.tables(results)
        except GWNError as error:
            parts.append(fill(EMPTY, name=exhibit.name, title=exhibit.title, reason=f"Not available: {error}."))
            continue
        finally:
            contents.append((exhibit.name, f"{exhibit.title[:1].upper()}{exhibit.title[1:]}"))
        for table in tables:
            parts.append(table_html(table))
            write_atomic(out / "tables" / f"{table.name}.csv", to_csv(table).encode())
    return join(parts), contents


def table_html(table: TableData) -> Markup:
    """One table, or one line that says what fills it."""
    if not table.rows:
        return fill(EMPTY, name=table.name, title=table.title, reason=fill(NOTHING, command=table.command))
    return fill(
        TABLE,
        name=table.name,
        title=table.title,
        head=join((fill(HEAD, text=column) for column in table.columns), ""),
        body=join(_row(row) for row in table.rows),
        caption=table.caption,
        command=table.command,
    )


def _row(row: tuple[TableCell, ...]) -> Markup:
    first, *others = row
    start = fill('<th scope="row">$text</th>', text=_lines(first))
    return Markup(f"<tr>{start}{join((_cell(cell) for cell in others), '')}</tr>")


def _cell(cell: TableCell) -> Markup:
    value = "" if cell.value is None else f"{cell.value:.10g}"
    kind = "words" if max(map(len, cell.lines), default=0) > LONG else "figures"
    return fill('<td class="$kind" data-value="$value">$text</td>', kind=kind, value=value, text=_lines(cell))


def _lines(cell: TableCell) -> Markup:
    """The first line in full, the others small below it."""
    first, *others = cell.lines or ("",)
    below = (fill('<span class="line">$text</span>', text=line) for line in others)
    return join((fill("$text", text=first), *below), "")
