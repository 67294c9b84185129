"""The report's first screen: the paper's figures met or missed, where the wave networks stand, what is not measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from gwn.errors import GWNError
from gwn.html import Markup, fill, join
from gwn.pages.charts import px
from gwn.paper.budget import heading
from gwn.paper.cell import OURS, PAPERS_OWN, ROWS
from gwn.paper.compare import View
from gwn.paper.curve_data import read_figure
from gwn.paper.exhibit import figure_path
from gwn.paper.exhibits import EXHIBITS
from gwn.paper.exhibits.accuracy import COLUMNS
from gwn.paper.ranking_chart import ranking_chart
from gwn.paper.verdict import KINDS, Cells, all_cells, reservations, standing, tally

Tally = Mapping[str, Sequence[View]]
ORDER = tuple(KINDS.values())


def verdict_parts(results: Path) -> dict[str, Markup]:
    """The headline, the facts below it and the picture, as `report.html` has places for them."""
    cells = all_cells(results, unmeasured=True)
    columns = [column for of_table in COLUMNS.values() for column in of_table]
    own = tally(cells[row][column] for row in PAPERS_OWN for column in cells[row])
    peers = tally(cell for row, of_row in cells.items() if row not in OURS for cell in of_row.values())
    return {
        "headline": fill("$text", text=headline(own)),
        "facts": join(
            [
                _counted("The paper's wave networks", own),
                _counted("The peers in its tables", peers),
                _fact("Among all models", _standings(cells, columns)),
                _lacking(cells, columns, own, peers, unfinished(results)),
            ]
        ),
        "chart": ranking_chart(cells, columns),
    }


def headline(own: Tally) -> str:
    """The verdict in a sentence."""
    total, lacking = sum(map(len, own.values())), len(own["not measured"])
    if lacking == total:
        return f"None of the paper's {total} accuracies for its wave networks is measured yet"
    counts = ", ".join(f"{len(own[kind])} {kind}" for kind in ORDER if own[kind])
    return f"The paper's {total} accuracies for its wave networks: {counts}"


FACT = '<section class="card fact"><h2>$title</h2>$body</section>'


def _fact(title: str, body: Markup) -> Markup:
    return fill(FACT, title=title, body=body)


BAR = 300.0


def _counted(title: str, found: Tally) -> Markup:
    """A bar of four parts, and the numbers below it."""
    total = sum(map(len, found.values()))
    parts, start = [], 0.0
    for kind in ORDER:
        width = BAR * len(found[kind]) / max(1, total)
        parts.append(
            fill('<rect class="$kind" x="$x" width="$w" height="14"/>', kind=_slug(kind), x=px(start), w=px(width))
        )
        start += width
    keys = (
        fill('<li class="$slug"><b>$count</b> $kind</li>', slug=_slug(kind), count=len(found[kind]), kind=kind)
        for kind in ORDER
    )
    body = fill(
        '<svg class="bar" viewBox="0 0 $wide 14" preserveAspectRatio="none" aria-hidden="true">$parts</svg>'
        '<ul class="counts">$keys</ul>'
        '<p class="soft">of $total accuracies. Met: within the 95 % interval of our mean; beaten: all of our interval '
        "is above it.</p>",
        wide=px(BAR),
        parts=join(parts, ""),
        keys=join(keys, ""),
        total=total,
    )
    return _fact(title, body)


def _slug(kind: str) -> str:
    return kind.replace(" ", "-")


STANDINGS = """<table class="standings"><thead><tr><th scope="col">wave network</th><th scope="col">first</th>
<th scope="col">tied</th><th scope="col">behind</th><th scope="col">place</th></tr></thead>
<tbody>
$lines
</tbody></table>
<p class="soft">On how many of $most columns, each a dataset and its split. Tied with the first: the 95 % interval of
the paired difference holds zero. Place: the median. $papers are the paper's, the others ours.</p>"""
STANDING = """<tr><th scope="row" class="key $row">$title</th>$cells</tr>"""


def _standings(cells: Cells, columns: Sequence[str]) -> Markup:
    lines, most = [], 0
    for row in reversed(OURS):
        found = standing(cells, row, columns)
        most = max(most, found.columns)
        figures = ["–"] * 4
        if found.columns:
            middle = median(place for place, _ in found.places)
            behind = found.columns - found.first - found.tied
            figures = [f"{found.first}", f"{found.tied}", f"{behind}", f"{middle:g}"]
        lines.append(
            fill(
                STANDING,
                row=row,
                title=ROWS[row].title,
                cells=join((fill("<td>$each</td>", each=each) for each in figures), ""),
            )
        )
    papers = " and ".join(ROWS[row].title for row in PAPERS_OWN)
    return fill(STANDINGS, lines=join(lines), most=most, papers=papers)


def unfinished(results: Path) -> Mapping[str, tuple[str, int | None]]:
    """Figure -> its title and how many of its points lack a run, where some do; None if it was not computed."""
    found: dict[str, tuple[str, int | None]] = {}
    for name, exhibit in EXHIBITS.items():
        if exhibit.is_figure:
            try:
                points = len(read_figure(figure_path(name, results)).provenance.get("not run", ()))
            except GWNError:
                found[name] = (exhibit.title, None)
            else:
                found |= {name: (exhibit.title, points)} if points else {}
    return found


def _figures_without(found: Mapping[str, tuple[str, int | None]]) -> list[Markup]:
    started = [
        fill('<a href="#$name">$title</a> ($points)', name=name, title=title, points=points)
        for name, (title, points) in found.items()
        if points is not None
    ]
    said = [fill("<p>Points of these figures: $which.</p>", which=join(started, "; "))] if started else []
    never = len(found) - len(started)
    return [*said, *([fill("<p>$count pictures are not computed.</p>", count=never)] if never else [])]


def _lacking(
    cells: Cells, columns: Sequence[str], own: Tally, peers: Tally, figures: Mapping[str, tuple[str, int | None]]
) -> Markup:
    """What the page cannot show: the paper's figures, models beside it, points of figures; and what is not equal."""
    lacking = [*own["not measured"], *peers["not measured"]]
    by_column: dict[str, int] = {}
    for each in lacking:
        by_column[heading(each.cell.column)] = by_column.get(heading(each.cell.column), 0) + 1
    printed = sum(map(len, own.values())) + sum(map(len, peers.values()))
    where = ", ".join(f"{name} ({count})" for name, count in sorted(by_column.items(), key=lambda pair: -pair[1]))
    said = (
        f"{len(lacking)} of the {printed} accuracies in the paper's two tables: {where}."
        if lacking
        else "Of the accuracies in the paper's two tables none."
    )
    unequal = reservations(cells, columns)
    parts = [fill("<p>$text</p>", text=text) for text in (said, *_models_without(cells, columns))]
    parts += _figures_without(figures)
    parts += [fill("<p>$text</p>", text=text) for text in unequal]
    return _fact("Not measured, and not equal" if unequal else "Not measured", join(parts))


def _models_without(cells: Cells, columns: Sequence[str]) -> list[str]:
    """How many models have a score, from the emptiest column to the fullest: a place is among those alone."""
    there = {name: sum(of_row[name].test is not None for of_row in cells.values()) for name in columns}
    least, most = min(there, key=lambda name: there[name]), max(there.values())
    if there[least] == len(cells) or not most:
        return []
    return [f"A column has scores of {there[least]} ({heading(least)}) to {most} of the {len(cells)} models."]
