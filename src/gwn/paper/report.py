"""The report: one folder with every table and figure, which opens from the disk."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import torch

from gwn._version import __version__
from gwn.errors import GWNError
from gwn.html import Markup, fill, join, template
from gwn.io import read_json, write_atomic
from gwn.paper.curve_data import CurveData
from gwn.paper.drawing import draw_figure
from gwn.paper.exhibit import Context, Exhibit
from gwn.paper.exhibits import EXHIBITS
from gwn.paper.shipped import searched_cells
from gwn.paper.table import TableCell, TableData, to_csv, words
from gwn.paper.verdict_html import verdict_parts
from gwn.training.result import environment

FIGURE = """<section class="card exhibit" id="figure-$name">
<h3 id="figure-$name-title">$title</h3>
<figure>
<div class="scroll" role="region" aria-labelledby="figure-$name-title" tabindex="0">
<img src="figures/$name.svg" alt="$title. $caption">
</div>
<figcaption>$caption</figcaption>
</figure>
<p class="soft">In the paper: $place. Made by <code>$command</code> · <a href="figures/$name.svg">as SVG</a></p>
<details><summary>Settings and runs behind it</summary><pre><code>$provenance</code></pre></details>
</section>"""


def sections(exhibits: Iterable[Exhibit], results: Path, out: Path) -> tuple[Markup, list[tuple[str, str]]]:
    """Every table and figure of these exhibits, and (anchor, title) of each exhibit for the contents. CSV files and
    pictures are written beside; an exhibit without data says what is missing and how to get it."""
    parts, contents = [], []
    for exhibit in exhibits:
        try:
            shown = exhibit.contents(Context(results=results), compute=False)
            parts += [_figure(part, out) if isinstance(part, CurveData) else _table(part, out) for part in shown]
        except GWNError as error:
            parts.append(fill(EMPTY, name=exhibit.name, title=exhibit.title, reason=f"Not available: {error}."))
        contents.append((exhibit.name, f"{exhibit.title[:1].upper()}{exhibit.title[1:]}"))
    return join(parts), contents


def _figure(data: CurveData, out: Path) -> Markup:
    draw_figure(data, out / "figures" / f"{data.name}.svg", caption=False)
    return fill(
        FIGURE,
        name=data.name,
        title=data.title,
        caption=data.caption,
        place=data.place,
        command=data.provenance.get("command", f"gwn reproduce figure-{data.name}"),
        provenance=json.dumps(data.provenance, indent=1, ensure_ascii=False),
    )


TABLE = """<section class="card exhibit" id="$name">
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


def _table(table: TableData, out: Path) -> Markup:
    write_atomic(out / "tables" / f"{table.name}.csv", to_csv(table).encode())
    return table_html(table)


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


def environment_table(results: Path) -> TableData:
    """One row an environment that results were made in, and this page's own."""
    found: dict[str, tuple[Mapping[str, Any], int]] = {}
    for record in _environments(results):
        key = repr(sorted(record["versions"].items())) + str(record.get("platform"))
        found[key] = (record, found.get(key, (record, 0))[1] + 1)
    here = environment(torch.device("cpu"))
    rows = [("this page", here), *((f"{count} results", record) for record, count in found.values())]
    packages = list(dict.fromkeys(name for _, record in rows for name in record["versions"]))
    return TableData(
        name="environment",
        title="Environment",
        caption="Versions and machine under which the results on this page were made.",
        columns=("made", "platform", "device", "threads", *packages),
        rows=tuple(
            (
                words(what),
                *(words(str(record.get(name, ""))) for name in ("platform", "device", "threads")),
                *(words(str(record["versions"].get(name, ""))) for name in packages),
            )
            for what, record in rows
        ),
        command="gwn report",
    )


def settings_table(results: Path) -> TableData:
    """One row a model on a dataset and split: the settings its measured figures have."""
    rows = [
        (
            words(cell.row),
            words(cell.dataset),
            words(cell.split),
            words(_assignments(record["settings"])),
            words(_assignments(record["training"])),
        )
        for cell, record in sorted(searched_cells(results), key=lambda one: one[0].row)
    ]
    return TableData(
        name="settings",
        title="Settings behind the tables",
        caption="What the search on validation chose; the table cells were measured with exactly these.",
        columns=("model", "dataset", "split", "model settings", "training"),
        rows=tuple(rows),
        command="gwn reproduce table-heterophilic",
    )


def _assignments(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items() if value is not None)


def _environments(results: Path) -> Iterator[Mapping[str, Any]]:
    for path in sorted(results.rglob("*.json")):
        try:
            record = read_json(path)
        except GWNError:
            continue  # the section that needs the file says what is wrong with it
        found = record.get("environment") or (record.get("provenance") or {}).get("environment")
        if isinstance(found, dict) and isinstance(found.get("versions"), dict):
            yield found


ASSETS = ("base.css", "colours.css", "report.css", "report.js")
LINK = '<li><a href="#$anchor">$title</a></li>'


def write_report(results: Path, out: Path) -> Path:
    """Write the folder; the page to open."""
    if not results.is_dir():
        raise GWNError(f"there are no results in {str(results)!r}; `gwn reproduce table-datasets` creates the first")
    figures, figure_links = sections((each for each in EXHIBITS.values() if each.is_figure), results, out)
    tables, table_links = sections((each for each in EXHIBITS.values() if not each.is_figure), results, out)
    behind = [settings_table(results), environment_table(results)]
    for name in ASSETS:
        write_atomic(out / "assets" / name, template(name).encode())
    page = out / "index.html"
    html = fill(
        template("report.html"),
        version=__version__,
        date=datetime.now(timezone.utc).date().isoformat(),
        **verdict_parts(results),
        tables=tables,
        figures=figures,
        behind=join(_table(table, out) for table in behind),
        table_links=_links(table_links),
        figure_links=_links(figure_links),
        behind_links=_links([(table.name, table.title) for table in behind]),
    )
    write_atomic(page, html.encode())
    return page


def _links(entries: list[tuple[str, str]]) -> Markup:
    return join(fill(LINK, anchor=anchor, title=title) for anchor, title in entries)
