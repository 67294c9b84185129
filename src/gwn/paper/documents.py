"""README's verdict, docs/results.md and a part of docs/protocol.md from the measured results: `python -m
gwn.paper.documents`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

from gwn.compare.verdict import listed
from gwn.data import DATASETS
from gwn.data.download import on_disk
from gwn.errors import GWNError
from gwn.io import write_atomic
from gwn.models import model_spec
from gwn.pages.markdown import fill, markdown_table
from gwn.paper.budget import MOST_NAMES, budget_caption, heading
from gwn.paper.cell import BEST, OURS, PAPERS_OWN, ROWS, Cell
from gwn.paper.compare import View, outcome, paired
from gwn.paper.curve_data import CurveData
from gwn.paper.exhibit import Context, figure_path
from gwn.paper.exhibits import EXHIBITS, beyond
from gwn.paper.exhibits.accuracy import COLUMNS, ranks_of, views
from gwn.paper.printed import PaperValue, elsewhere, paper_value, rows_of
from gwn.paper.protocol_page import classics, headline
from gwn.paper.records import cell_file, read_cells
from gwn.paper.table import TableData, to_markdown
from gwn.paper.verdict import MANY_TESTED, above_twin, all_cells, ranking, reservations, telling, worth_of_edges
from gwn.paper.verdict import standing as standing_of
from gwn.tuning.spaces import SPACES

COMMAND = "python -m gwn.paper.documents"
README, PAGE, PROTOCOL = Path("README.md"), Path("docs/results.md"), Path("docs/protocol.md")
RESULTS = Path("results")
SHOWN = ("majority", "mlp", "gwn-twin", "gcn", *OURS)
ENTRY = ROWS[BEST].title
OTHER_DATA = "deezer-europe"
"""Here with other features than the paper's, see its caveat."""
SAID = {"within": "met (within our interval)", "above": "beaten", "below": "not reached"}
"""What a verdict of `View` is called in prose."""


def summary(results: Path) -> str:
    """One line a dataset and split: ours, the paper's best, and the highest figure found elsewhere."""
    cells = all_cells(results, SHOWN)
    columns = [column for of_table in COLUMNS.values() for column in of_table]
    rows = [["dataset, split", *(ROWS[row].title for row in SHOWN), "the paper's best GWN", "highest elsewhere"]]
    for column in columns:
        line = [heading(column)]
        for row in SHOWN:
            test = cells[row][column].test
            line.append("" if test is None else f"{test['mean']:.1f} ± {(test['high'] - test['low']) / 2:.1f}")
        best, top = _papers_best(cells, column), elsewhere(column)
        line.append("" if best is None else f"{best:.1f}")
        line.append("" if top is None else f"{top[0]:.1f} ({', '.join(filter(None, top[1:]))})")
        rows.append(line)
    budget = budget_caption(all_cells(results), columns)
    return f"{markdown_table(rows)}\n\n± is half the 95 % interval. {budget}\n\n{findings(results)}"


BESIDE = ("gwn-sym", "gwn-fa", BEST, "gwn-twin")
"""The rows that README's table has by name."""


def comparison(results: Path) -> str:
    """README's table, a line for each column that can tell models apart. Bold: the highest of all models there, and
    what is not told apart from it."""
    of_paper, of_others = all_cells(results), views(results, "beyond", beyond.ROWS, beyond.COLUMNS)
    among_paper = telling(of_paper, [column for of_table in COLUMNS.values() for column in of_table])
    titles = [{BEST: "our entry", "gwn-twin": "its twin without edges"}.get(row, ROWS[row].title) for row in BESIDE]
    rows = [["dataset, split", *titles, "best other model", "the paper's best GWN", "highest elsewhere"]]
    for cells, columns in ((of_paper, among_paper), (of_others, beyond.COLUMNS)):
        for column in columns:
            if not (ranked := ranking(cells, column)):
                continue
            peer = next(
                (each for each in ranked if ROWS[each.cell.row].group != "wave" and each.cell.row not in BESIDE), None
            )

            def shown(each: View, first: View = ranked[0]) -> str:
                if each.test is None:
                    return ""
                best = each is first or outcome(paired(first, each)) == "tie"
                score = f"{each.test['mean']:.1f} ± {(each.test['high'] - each.test['low']) / 2:.1f}"
                return (f"**{score}**" if best else score) + ("\\*" if each.sees_labels else "")

            paper, top = _papers_best(cells, column), elsewhere(column)
            rows.append(
                [
                    heading(column),
                    *(shown(cells[row][column]) for row in BESIDE),
                    "" if peer is None else f"{shown(peer)} {ROWS[peer.cell.row].title}",
                    "" if paper is None else f"{paper:.1f}",
                    "" if top is None else f"{top[0]:.1f}",
                ]
            )
    return markdown_table(rows)


def findings(results: Path) -> str:
    """Where the paper's figures were met, beaten or not reached, cell by cell, and what GWN+ reaches."""
    cells = all_cells(results, SHOWN)
    lines = []
    for row in PAPERS_OWN:
        lines.append(f"- {ROWS[row].title}, the paper's figure is {_named(_by_verdict(cells[row]))}.")
    lines.append(
        f"- {ENTRY}, the better of the paper's two figures is {_named(_by_verdict(_beside_papers_best(cells)))}."
    )
    lines += [_coverage(results), *_gap(cells)]
    return "\n".join([*lines, *(standing(results, table) for table in COLUMNS), *validation_optimism(results)])


def verdict(results: Path) -> str:
    """The same for README, in at most ten lines: counts instead of names."""
    cells = all_cells(results, SHOWN)
    lines = []
    for row in PAPERS_OWN:
        compared, counts = _counted(_by_verdict(cells[row]))
        lines.append(
            f"- {ROWS[row].title}: of {compared} columns (a dataset and its split) the paper's figure is {counts}."
        )
    compared, counts = _counted(_by_verdict(_beside_papers_best(cells)))
    lines.append(f"- {ENTRY}, our entry: of {compared} columns the better of the paper's two figures is {counts}.")
    lines += [*_gap(cells), *_of_entry(results), *_on_published_splits(results)]
    columns = [column for of_table in COLUMNS.values() for column in of_table]
    said = [*reservations(all_cells(results), columns), *_earlier(results)]
    return "\n".join([*lines, *(f"- {line}" for line in said)])


def _earlier(results: Path) -> list[str]:
    """How many cells of the tables were searched in a space that is not today's, and how many of them have a network
    that is no longer the peer's default."""
    cells = [cell for of_row in all_cells(results).values() for cell in of_row.values()]
    records = [(model_spec(cell.cell.row), cell.record) for cell in cells if cell.record and cell.record["search"]]
    earlier = [
        (model, record)
        for model, record in records
        # the winner may be of the search on row-normalised features, which the recipe does not name
        if record["search"]["space_key"] != SPACES[record["search"]["space"]].key(model)
    ]
    if not earlier:
        return []
    former = sum(
        any(record["settings"].get(setting, value) == value for setting, value in model.former_defaults.items())
        for model, record in earlier
    )
    paper = f", {former} of them with the network of a peer's paper where its authors run another" if former else ""
    return [
        f"{len(earlier)} of {len(records)} cells were searched in an earlier space{paper} "
        "([protocol](docs/protocol.md#where-searches-begin-and-what-was-known-by-then))."
    ]


def _by_verdict(of_row: Mapping[str, View]) -> dict[str, list[str]]:
    """The columns where the paper's figure lies within our interval, and where we are above and below it."""
    return {kind: [column for column, cell in of_row.items() if cell.verdict == kind] for kind in SAID}


def _papers_best(cells: Mapping[str, Mapping[str, View]], column: str) -> float | None:
    """The better of the paper's two networks there; None where it prints no figure."""
    return max((value.mean for row in PAPERS_OWN if (value := cells[row][column].paper)), default=None)


def _beside_papers_best(cells: Mapping[str, Mapping[str, View]]) -> dict[str, View]:
    """Our entry, column by column, beside the better of the paper's two networks."""
    best = {column: _papers_best(cells, column) for column in cells[BEST]}
    return {
        column: replace(cell, paper=PaperValue(mean=paper))
        for column, cell in cells[BEST].items()
        if (paper := best[column]) is not None
    }


def _named(found: Mapping[str, list[str]]) -> str:
    return "; ".join(f"{SAID[kind]}: {', '.join(map(heading, columns)) or 'none'}" for kind, columns in found.items())


def _counted(found: Mapping[str, list[str]]) -> tuple[int, str]:
    def note(columns: list[str]) -> str:
        other = [heading(column) for column in columns if column.startswith(OTHER_DATA)]
        among = "" if len(other) == len(columns) else "among them "
        return f" ({among}{listed(other)}, with other features than the paper's)" if other else ""

    counts = ", ".join(f"{SAID[kind]} on {len(columns)}{note(columns)}" for kind, columns in found.items())
    return sum(map(len, found.values())), counts


def _coverage(results: Path) -> str:
    """How many of the figures that the paper prints are measured, each step length by itself."""
    measured = [
        cell_file(results, Cell.parse(f"{column.replace('.', '/')}/{row}")).exists()
        for kind in COLUMNS
        for table in (kind, f"tau-{kind}")
        for row in rows_of(table)
        for column in (column for of_table in COLUMNS.values() for column in of_table)
        if paper_value(table, row, column) is not None
    ]
    return (
        f"- Of {len(measured)} figures in the paper's tables 2 and 3 and its tables of every tau, {sum(measured)} are "
        "measured; those of ogbn-arxiv, whose files are not at hand, are not counted."
    )


def _gap(cells: Mapping[str, Mapping[str, View]]) -> list[str]:
    """How far our entry is from the highest figures found elsewhere, in a line; none where nothing was measured."""
    gaps = {
        heading(column): top[0] - cell.test["mean"]
        for column, cell in cells[BEST].items()
        if cell.test is not None and (top := elsewhere(column)) is not None and not column.startswith(OTHER_DATA)
    }
    if not gaps:
        return []
    near, far = min(gaps, key=lambda name: gaps[name]), max(gaps, key=lambda name: gaps[name])
    average = _beside(mean(gaps.values()))
    return [
        f"- {ENTRY} is on average {average} the highest figure found elsewhere, from {_beside(gaps[near])} it "
        f"({near}) to {_beside(gaps[far])} ({far})."
    ]


def _beside(gap: float) -> str:
    return f"{abs(gap):.1f} points {'below' if gap >= 0 else 'above'}"


def _of_entry(results: Path) -> list[str]:
    """Where our entry stands among all models on the columns that can tell, and what the wave is worth there."""
    cells = all_cells(results)
    columns = telling(cells, [column for of_table in COLUMNS.values() for column in of_table])
    found = standing_of(cells, BEST, columns)
    if not found.columns:
        return [f"- {ENTRY} is not measured yet on a column with at least {MANY_TESTED} test nodes."]
    behind = found.columns - found.first - found.tied
    places = listed([f"{place} of {count}" for place, count in found.places])
    lines = [
        f"- On {found.columns} columns with at least {MANY_TESTED} test nodes {ENTRY} is first on {found.first}, not "
        f"told apart from the first on {found.tied} (the interval of the paired difference holds zero) and behind on "
        f"{behind}; its places are {places}."
    ]
    ranks = ranks_of(cells, columns, most_cells=True)
    if (rank := ranks.ranks.get(BEST)) is not None and ranks.critical is not None:
        place, count = list(ranks.ranks).index(BEST) + 1, len(ranks.ranks)
        apart = [ROWS[row].title for row, other in ranks.ranks.items() if abs(other - rank) >= ranks.critical]
        named = f" ({listed(apart)})" if 0 < len(apart) <= MOST_NAMES else ""
        told = f"it is told apart from {len(apart) or 'none'} of the others{named}"
        if ranks.critical >= count - 1:
            told = "on so few columns no two models can be told apart"
        datasets = len({column.split(".")[0] for column in ranks.columns})
        over = f"{len(ranks.columns)} of them ({datasets} datasets) and {count} models, the largest table without gaps"
        lines.append(f"- Over {over}, it is number {place} by average rank ({rank:.1f}); {told}.")
    if worth := above_twin(cells, columns):
        told = worth_of_edges(worth)
        lines.append(f"- The same family without edges, searched on its own, is told apart below it {told}.")
    records = [cell.record for cell in cells[BEST].values() if cell.record is not None]
    chosen = sum(record["settings"].get("structure", "none") != "none" for record in records)
    single = sum(map(_is_one_step, cells[BEST].values()))
    lines.append(
        f"- Of {len(records)} searches of it, {single} took a wave of a single step and {chosen} a structure channel."
    )
    return lines


def _on_published_splits(results: Path) -> list[str]:
    """The same beyond the paper, on columns in which most of the table's models were measured."""
    cells = views(results, "beyond", beyond.ROWS, beyond.COLUMNS)
    entry = cells[BEST]
    columns = [column for column in beyond.COLUMNS if len(ranking(cells, column)) > len(beyond.ROWS) / 2]
    found = standing_of(cells, BEST, columns)
    if not found.columns:
        return []

    def where(chosen: Callable[[View], bool]) -> str:
        return listed([DATASETS[column.split(".")[0]].title for column in columns if chosen(entry[column])])

    shown, classics = where(lambda cell: cell.sees_labels), where(_is_classic)
    steps = where(_is_one_step)
    labels = f" Training labels are its input, and no peer's, on {shown}." if shown else ""
    network = "the network of the tuned GCN or GraphSAGE"
    classic = f" On {classics} its settings are one step and a sum: {network}." if classics else ""
    single = f" Its waves take a single step on {steps}." if steps else ""
    behind = found.columns - found.first - found.tied
    return [
        f"- Beyond the paper, on {found.columns} columns with published splits, it is first on {found.first}, not told "
        f"apart from the first on {found.tied} and behind on {behind}.{labels}{single}{classic}"
    ]


def _is_classic(cell: View) -> bool:
    """Whether a bank of waves has the settings with which it is a tuned classic (docs/findings.md, 3)."""
    return _is_one_step(cell) and cell.record is not None and cell.record["settings"]["gate"] == "sum"


def _is_one_step(cell: View) -> bool:
    settings = {} if cell.record is None else cell.record["settings"]
    return "tau" in settings and bool(settings["time"] == settings["tau"])


def validation_optimism(results: Path) -> list[str]:
    """How far the scores that chose settings are above the test scores of these settings."""
    records = [
        cell.record
        for of_row in all_cells(results).values()
        for cell in of_row.values()
        if cell.record is not None and cell.test is not None and _won(cell.record) is not None
    ]
    if not records:
        return []
    tests = [record["summary"]["test"]["mean"] for record in records]
    searched = [record["search"]["validation"] for record in records]
    played = [_won(record) or 0.0 for record in records]
    above = [100 * (sum(scores) - sum(tests)) / len(tests) for scores in (searched, played)]
    return [
        f"- What validation promises, over {len(records)} cells with a play-off: the score in the search is "
        f"{above[0]:+.1f} points from the test score on average, the score in the play-off {above[1]:+.1f}."
    ]


def _won(record: Mapping[str, Any]) -> float | None:
    """The winner's score in the play-off that chose a cell's settings, where there was one."""
    score: float | None = ((record["search"] or {}).get("playoff") or {}).get("won")
    return score


def standing(results: Path, table: str) -> str:
    """Where the wave networks stand among all that were measured on a table's columns."""
    cells, lines = views(results, table, tuple(ROWS), COLUMNS[table]), list[str]()
    for most_cells in (True, False):
        found = ranks_of(cells, COLUMNS[table], most_cells=most_cells)
        places = {row: place for place, row in enumerate(found.ranks, 1)}
        ours = [f"{ROWS[row].title} {found.ranks[row]:.1f} (place {places[row]})" for row in places if row in OURS]
        among = f"on {len(found.columns)} {table} columns among {len(places)} models"
        told = f" Ranks closer than {found.critical:.1f} are not told apart." if found.critical else ""
        if found.critical and found.critical >= len(places) - 1:
            told = " On so few columns no two models can be told apart."
        lines.append(f"- Average rank {among}: {', '.join(ours) or 'none'}.{told}")
    return "\n".join(dict.fromkeys(lines))


def results_page(results: Path) -> str:
    """All tables that have a row."""
    tables = (
        table
        for exhibit in EXHIBITS.values()
        if not exhibit.is_figure
        for table in exhibit.contents(Context(results=results))
    )
    return "\n".join(to_markdown(table) for table in tables if isinstance(table, TableData) and table.rows)


def figures_page(results: Path) -> str:
    """Every figure that was computed, with its caption; `docs/pictures.py` draws them."""
    parts = []
    for exhibit in EXHIBITS.values():
        if exhibit.is_figure and figure_path(exhibit.name, results).exists():
            (data,) = exhibit.contents(Context(results=results), compute=False)
            assert isinstance(data, CurveData)
            picture = f"![{data.title}](images/{data.name}.png)"
            command = f"{_newer(data, results)}Drawn by `gwn reproduce {exhibit.name}`."
            parts.append(f"### {data.title}, {data.place}\n\n{picture}\n\n{data.caption} {command}\n")
    return "\n".join(parts)


def _newer(figure: CurveData, results: Path) -> str:
    """A warning where a figure is made of cells, and some of its columns were measured after it."""
    names = figure.provenance.get("cells", [])
    columns = {Cell.parse(name).column for name in names}
    newer = [
        cell.name
        for cell, record in (read_cells(results) if columns else ())
        if cell.column in columns and cell.prior == "none" and record["created"] > figure.provenance["created"]
    ]
    return f"{len(newer)} cells of its columns were measured after it. " if newer else ""


PARTS: dict[Path, dict[str, Callable[[Path], str]]] = {
    README: {"comparison": comparison, "verdict": verdict},
    PAGE: {"summary": summary, "figures": figures_page, "tables": results_page},
    PROTOCOL: {"headline": headline, "classics": classics},
}


def rewritten(page: Path, text: str, results: Path = RESULTS) -> str:
    """The page with its generated parts made anew."""
    for name, make in PARTS[page].items():
        text = fill(text, COMMAND, name, make(results))
    return text


def require_counted() -> None:
    """Refuse to write pages whose table of datasets would lack one of those that cells were measured on."""
    measured = dict.fromkeys(column.split(".")[0] for of_table in COLUMNS.values() for column in of_table)
    if absent := ", ".join(name for name in measured if not on_disk(DATASETS[name])):
        raise GWNError(
            f"the pages count the datasets in their files, and these are not on this disk: {absent}; set GWN_DATA to "
            f"the folder that has them and run `{COMMAND}` again"
        )


if __name__ == "__main__":
    try:
        require_counted()
    except GWNError as error:
        sys.exit(str(error))
    for path in PARTS:
        write_atomic(path, rewritten(path, path.read_text(encoding="utf-8")).encode())
