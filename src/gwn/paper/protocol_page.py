"""Parts of `docs/protocol.md` from the measured results; `gwn.paper.documents` writes them."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from statistics import mean

from gwn.compare.verdict import listed
from gwn.pages.markdown import markdown_table
from gwn.paper.budget import heading
from gwn.paper.cell import BEST, PAPERS_OWN, ROWS, TAUS, Cell
from gwn.paper.compare import View, view
from gwn.paper.exhibits import beyond
from gwn.paper.exhibits.accuracy import COLUMNS
from gwn.paper.exhibits.peers import published
from gwn.paper.printed import PaperValue, paper_value


def headline(results: Path) -> str:
    """What it is worth to take the best of the five tau rows by test score, and what it does not explain."""
    worth, unexplained = dict[str, float](), list[float]()
    for table, columns in COLUMNS.items():
        for row, column in product(PAPERS_OWN, columns):
            of_taus = [view(results, Cell.of(column, row, tau)) for tau in TAUS]
            scores = [
                (cell.record["summary"]["val"]["mean"], cell.test["mean"])
                for cell in of_taus
                if cell.record is not None and cell.test is not None
            ]
            if len(scores) < len(TAUS):
                continue
            best = max(test for _, test in scores)
            worth[f"{ROWS[row].title} on {heading(column)}"] = best - max(scores)[1]
            if (paper := paper_value(table, row, column)) is not None:
                unexplained.append(paper.mean - best)
    if not worth:
        return "Not measured yet."
    most = max(worth, key=lambda name: worth[name])
    said = (
        f"Over {len(worth)} networks and columns with all five, the best of the five by test is on average "
        f"{mean(worth.values()):.2f} points above the one that validation of the same runs chooses, at most "
        f"{worth[most]:.1f} ({most})."
    )
    if unexplained:
        said += f" The paper's figures are on average {mean(unexplained):.1f} points above that best one."
    return said


def classics(results: Path) -> str:
    """The highest published figure of a tuned classic, the same network here, and our entry, on published splits."""
    rows = [["dataset", "highest of the tuned classics", "the same network here", "our entry", "its best epochs"]]
    short, missed = list[float](), list[str]()
    for column in beyond.COLUMNS:
        figures = [(value, cell.row) for cell, value, _ in published() if cell.column == column]
        entry = view(results, Cell.of(column, BEST))
        if not figures or entry.record is None or entry.test is None:
            continue
        highest, row = max(figures, key=lambda figure: figure[0].mean)
        same = view(results, Cell.of(column, row), highest)
        if same.difference is not None:
            short.append(-same.difference)
        if entry.test["mean"] < highest.mean:
            missed.append(heading(column))
        epochs = sorted(run["best_epoch"] for run in entry.record["runs"])
        rows.append(
            [
                heading(column),
                f"{ROWS[row].title} {_with_sd(highest)}",
                _measured(same),
                _measured(entry),
                f"{epochs[0]} to {epochs[-1]} of {entry.record['config']['epochs']}",
            ]
        )
    if len(rows) == 1:
        return "Not measured yet."
    below = f"Our entry is below the highest of them on {listed(missed) or 'none'}."
    own = f" The networks that have these figures are themselves {mean(short):.1f} points lower here, on average."
    return f"{markdown_table(rows)}\n\n{below}{own if short else ''}"


def _with_sd(figure: PaperValue) -> str:
    return f"{figure.mean:.2f}" + ("" if figure.sd is None else f" ± {figure.sd:.2f}")


def _measured(cell: View) -> str:
    """Mean and interval; nothing where the cell was not measured."""
    return "" if cell.test is None else f"{cell.test['mean']:.2f} ({cell.test['low']:.1f} to {cell.test['high']:.1f})"
