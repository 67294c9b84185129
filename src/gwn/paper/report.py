"""The report: one folder with every table and figure, which opens from the disk."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import torch

from gwn._version import __version__
from gwn.data import DATASETS
from gwn.errors import GWNError
from gwn.html import Markup, fill, join, template
from gwn.io import read_json, write_atomic
from gwn.pages.table import table_html
from gwn.paper.cell import ROWS, WAVES_FIRST
from gwn.paper.curve_data import CurveData
from gwn.paper.drawing import draw_figure
from gwn.paper.exhibit import Context, Exhibit
from gwn.paper.exhibits import EXHIBITS
from gwn.paper.shipped import searched_cells
from gwn.paper.table import TableData, to_csv, words
from gwn.paper.verdict_html import verdict_parts
from gwn.settings import table_name
from gwn.training.result import environment

FIGURE = """<section class="card exhibit$kind" id="figure-$name">
<h3>$title</h3>
<figure>
<a href="figures/$name.svg"><img src="figures/$name.svg" alt="$title. $caption"></a>
<figcaption><b>$finding</b> $rest</figcaption>
</figure>
<p class="soft">In the paper: $place. Made by <code>$command</code></p>
<details><summary>Settings and runs behind it</summary><pre><code>$provenance</code></pre></details>
</section>"""
TABLE = """<section class="card exhibit" id="$name">
<h3>$title</h3>
$body
</section>"""
FOLDED = """<details class="card exhibit" id="$name"><summary><h3>$title</h3></summary>
$body
</details>"""
BODY = """$table
<p class="caption">$caption</p>
<p class="soft">Made by <code>$command</code> · <a href="tables/$name.csv">as CSV</a></p>"""
EMPTY = '<section class="card exhibit" id="$name"><h3>$title</h3><p>$reason</p></section>'
NOTHING = "Nothing is measured yet; this fills it: <code>$command</code>"


def sections(exhibits: Iterable[Exhibit], results: Path, out: Path) -> tuple[Markup, list[tuple[str, str]]]:
    """Every table and figure of these exhibits, and (anchor, title) of each exhibit for the contents. CSV files and
    pictures are written beside; an exhibit without data says what is missing and how to get it. Of several tables of
    an exhibit the first is in sight, the others are folded."""
    parts, contents = [], []
    for exhibit in exhibits:
        try:
            for place, part in enumerate(exhibit.contents(Context(results=results), compute=False)):
                parts.append(_figure(part, out) if isinstance(part, CurveData) else _table(part, out, folded=place > 0))
        except GWNError as error:
            parts.append(fill(EMPTY, name=exhibit.name, title=exhibit.title, reason=f"Not available: {error}."))
        contents.append((exhibit.name, f"{exhibit.title[:1].upper()}{exhibit.title[1:]}"))
    return join(parts), contents


def _figure(data: CurveData, out: Path) -> Markup:
    high = -(-len(data.panels) // data.columns) > 2 * data.columns
    columns = 2 * data.columns if high else data.columns  # over the whole page: beside another it would be a long strip
    wide = high or len(data.panels) == columns >= 3  # one row of panels, whose letters would be small at half the width
    draw_figure(data, out / "figures" / f"{data.name}.svg", caption=False, columns=columns)
    # of each point the number of its runs: what came out of them is what the figure shows
    runs = [
        {name: len(entry) if name == "results" else entry for name, entry in point.items()}
        for point in data.provenance.get("runs", [])
    ]
    provenance = {**data.provenance, **({"runs": runs} if runs else {})}
    finding, rest = finding_of(data.caption)
    return fill(
        FIGURE,
        kind=(" wide" if wide else "") + (" tall" if len(data.panels) > columns * columns else ""),  # than it is wide
        finding=finding,
        rest=rest,
        name=data.name,
        title=data.title,
        caption=data.caption,
        place=data.place,
        command=data.provenance.get("command", f"gwn reproduce figure-{data.name}"),
        provenance=json.dumps(provenance, indent=1, ensure_ascii=False),
    )


def finding_of(caption: str) -> tuple[str, str]:
    """The first sentence of a caption, which says what the figure shows, and what follows it."""
    end = re.search(r"\.(?= [A-Z(])", caption)
    place = end.end() if end else len(caption)
    return caption[:place], caption[place:].strip()


def _table(table: TableData, out: Path, *, folded: bool = False) -> Markup:
    """One table, or one line that says what fills it."""
    write_atomic(out / "tables" / f"{table.name}.csv", to_csv(table).encode())
    if not table.rows:
        return fill(EMPTY, name=table.name, title=table.title, reason=fill(NOTHING, command=table.command))
    said = {"name": table.name, "caption": table.caption, "command": table.command}
    body = fill(BODY, table=table_html(table), **said)
    return fill(FOLDED if folded else TABLE, name=table.name, title=table.title, body=body)


MACHINE = ("platform", "processor")


def environment_table(results: Path) -> TableData:
    """One row an environment that results were made in, and this page's own."""
    found: dict[str, tuple[Mapping[str, Any], int]] = {}
    for record in _environments(results):
        key = repr(sorted(record["versions"].items())) + str([record.get(name) for name in MACHINE])
        found[key] = (record, found.get(key, (record, 0))[1] + 1)
    here = environment(torch.device("cpu"))
    rows = [("this page", here), *((f"{count} results", record) for record, count in found.values())]
    packages = list(dict.fromkeys(name for _, record in rows for name in record["versions"]))
    return TableData(
        name="environment",
        title="Environment",
        caption="Versions and machine under which the results on this page were made.",
        columns=("made", *MACHINE, "device", "threads", *packages),
        rows=tuple(
            (
                words(what),
                *(words(str(record.get(name, ""))) for name in (*MACHINE, "device", "threads")),
                *(words(str(record["versions"].get(name, ""))) for name in packages),
            )
            for what, record in rows
        ),
        command="gwn report",
    )


def settings_table(results: Path) -> TableData:
    """One row a model on a dataset and split: the settings its measured figures have."""
    searched = sorted(searched_cells(results), key=lambda one: (WAVES_FIRST.index(one[0].row), one[0]))
    rows = [
        (
            words(ROWS[cell.row].title),
            words(DATASETS[cell.dataset].title),
            words(table_name(cell.split, cell.prior)),
            words(_assignments(record["settings"])),
            words(_assignments(record["training"])),
        )
        for cell, record in searched
    ]
    return TableData(
        name="settings",
        title="Settings behind the tables",
        caption="What the search on validation chose, numbers rounded to three digits; the table cells were measured "
        "with exactly what the CSV file has.",
        columns=("model", "dataset", "split", "model settings", "training"),
        rows=tuple(rows),
        command="gwn reproduce table-heterophilic",
        records=tuple(
            {"cell": cell.name} | {key: record[key] for key in ("settings", "training")} for cell, record in searched
        ),
        lead=sum(ROWS[cell.row].group == "wave" for cell, _ in searched),
    )


def _assignments(settings: Mapping[str, Any]) -> str:
    shown = {name: f"{value:.3g}" if isinstance(value, float) else value for name, value in settings.items()}
    return ", ".join(f"{name} {value}" for name, value in shown.items() if value is not None)


def _environments(results: Path) -> Iterator[Mapping[str, Any]]:
    for path in sorted(results.rglob("*.json")):
        try:
            record = read_json(path)
        except GWNError:
            continue  # the section that needs the file says what is wrong with it
        found = record.get("environment") or (record.get("provenance") or {}).get("environment")
        if isinstance(found, dict) and isinstance(found.get("versions"), dict):
            yield found


ASSETS = ("base.css", "colours.css", "table.css", "report.css", "table.js", "report.js")
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
        behind=join(_table(table, out, folded=True) for table in behind),
        names=_names(),
        table_links=_links(table_links),
        figure_links=_links(figure_links),
        behind_links=_links([(table.name, table.title) for table in behind]),
    )
    write_atomic(page, html.encode())
    return page


def _links(entries: list[tuple[str, str]]) -> Markup:
    return join(fill(LINK, anchor=anchor, title=title) for anchor, title in entries)


def _names() -> Markup:
    """What the filters suggest."""
    lists = {
        "models": [row.title for row in ROWS.values()],
        "datasets": [dataset.title for dataset in DATASETS.values()],
    }
    return join(
        fill(
            '<datalist id="$name">$options</datalist>',
            name=name,
            options=join((fill('<option value="$each"></option>', each=each) for each in titles), ""),
        )
        for name, titles in lists.items()
    )
