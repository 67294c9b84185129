"""The report: one folder with every table and figure, which opens from the disk."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

from gwn._version import __version__
from gwn.errors import GWNError
from gwn.experiments.figures import FIGURES
from gwn.experiments.tables import TABLES
from gwn.report.figure_section import figure_sections
from gwn.report.html import Markup, fill, join, template
from gwn.report.provenance_section import environment_table, settings_table
from gwn.report.render import to_csv
from gwn.report.table_section import table_html, table_sections
from gwn.training.store import write_atomic

ASSETS = ("base.css", "report.css", "report.js")
LINK = '<li><a href="#$anchor">$title</a></li>'


def write_report(results: Path, out: Path) -> Path:
    """Write the folder; the page to open."""
    if not results.is_dir():
        raise GWNError(f"there are no results in {str(results)!r}; `gwn reproduce table-datasets` creates the first")
    figures, figure_links = figure_sections({name: each.title for name, each in FIGURES.items()}, results, out)
    tables, table_links = table_sections(TABLES.values(), results, out)
    behind = [settings_table(results), environment_table(results)]
    for table in behind:
        write_atomic(out / "tables" / f"{table.name}.csv", to_csv(table).encode())
    for name in ASSETS:
        write_atomic(out / "assets" / name, template(name).encode())
    page = out / "index.html"
    html = fill(
        template("report.html"),
        version=__version__,
        date=datetime.now(timezone.utc).date().isoformat(),
        tables=tables,
        figures=figures,
        behind=join(map(table_html, behind)),
        table_links=_links(table_links),
        figure_links=_links(figure_links),
        behind_links=_links([(table.name, table.title) for table in behind]),
    )
    write_atomic(page, html.encode())
    return page


def _links(entries: list[tuple[str, str]]) -> Markup:
    return join(fill(LINK, anchor=anchor, title=title) for anchor, title in entries)
