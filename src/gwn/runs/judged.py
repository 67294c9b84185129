"""What a run answers right and wrong on its test nodes: confusions, classes, calibration, mistakes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gwn.graph import Graph
from gwn.html import Markup, fill, join
from gwn.pages import charts
from gwn.pages.table import NOT_MEASURED, TableCell, TableData, table_html, words
from gwn.runs.facts import Answers, Numbers
from gwn.runs.parts import card, node_name, short
from gwn.training.metrics import number_text

MOST_CLASSES = 20
"""Of the confusion matrix; of more classes the largest confusions are listed."""

MOST_MISTAKES = 12


def judged(answers: Answers | Numbers, graph: Graph) -> list[Markup]:
    """What is right and what is wrong."""
    if isinstance(answers, Numbers):
        return [_numbers(answers), _largest_errors(answers, graph)]
    return [_confusion(answers), _per_class(answers), _calibration(answers), _mistakes(answers, graph)]


MOST_DOTS = 1500


def _numbers(answers: Numbers) -> Markup:
    step = max(1, math.ceil(len(answers.known) / MOST_DOTS))
    points = list(zip(answers.known[::step].tolist(), answers.predicted[::step].tolist(), strict=True))
    body = fill(
        "<p>Every dot is a test node$share; on the line it would be exact. Mean absolute error "
        "<strong>$error</strong>.</p>$chart",
        share="" if step == 1 else f" (every {step}th is drawn)",
        error=number_text(answers.mean_error),
        chart=charts.scatter(points),
    )
    return card("numbers", "Predicted and known numbers", body)


def _largest_errors(answers: Numbers, graph: Graph) -> Markup:
    rows = [
        (
            words(node_name(graph, int(answers.nodes[k]))),
            words(number_text(answers.known[k], 5), float(answers.known[k])),
            words(number_text(answers.predicted[k], 5), float(answers.predicted[k])),
            words(number_text(error := float(answers.predicted[k] - answers.known[k]), sign="+"), error),
        )
        for k in answers.mistakes(MOST_MISTAKES)
    ]
    title = "Largest errors"
    return card("mistakes", title, _table(title, ("node", "known", "predicted", "error"), rows))


def _calibration(answers: Answers) -> Markup:
    body = fill(
        "<p>Of the answers given with 80 % confidence, 80 % should be right: the dots should lie on the line. Expected "
        "calibration error <strong>$error points</strong> on $count test nodes; large dots stand for many "
        "nodes.</p>$chart",
        error=f"{100 * answers.calibration_error:.1f}",
        count=f"{len(answers.known):,}",
        chart=charts.reliability(answers.calibration),
    )
    return card("calibration", "Is it as sure as it should be?", body)


def _confusion(answers: Answers) -> Markup:
    matrix, names = answers.confusion, [short(name) for name in answers.classes]
    title = "Which classes are confused"
    if len(names) > MOST_CLASSES:
        wrong = sorted(
            (
                (int(matrix[a, b]), a, b)
                for a in range(len(names))
                for b in range(len(names))
                if a != b and matrix[a, b]
            ),
            reverse=True,
        )[:MOST_MISTAKES]
        rows = [(words(names[a]), words(names[b]), words(f"{count:,}", count)) for count, a, b in wrong]
        return card("confusion", title, _table(title, ("class", "predicted as", "test nodes"), rows))
    body_rows = []
    for a, name in enumerate(names):
        total = max(1, int(matrix[a].sum()))
        cells = []
        for b in range(len(names)):
            count = int(matrix[a, b])
            level = math.ceil(5 * count / total)
            kind = "" if not count else f"{'h' if a == b else 'w'}{level}"
            cells.append(
                fill(
                    '<td class="$kind" title="$title">$count</td>',
                    kind=kind,
                    title=f"{count} of {total} test nodes of {name} predicted as {names[b]}",
                    count=f"{count:,}" if count else "",
                )
            )
        body_rows.append(fill('<tr><th scope="row">$name</th>$cells</tr>', name=name, cells=join(cells, "")))
    body = fill(
        '<p>Rows are the true classes of the test nodes, columns what was predicted.</p><div class="scroll">'
        '<table class="confusion$turned"><thead><tr><td></td>$head</tr></thead><tbody>$rows</tbody></table></div>',
        turned=" turned" if _crowded(names) else "",
        head=join((fill('<th scope="col"><span>$name</span></th>', name=name) for name in names), ""),
        rows=join(body_rows),
    )
    return card("confusion", title, body)


LETTER, ROOM = 8, 300
"""Pixels of a heading's letter, and of all headings beside each other on a phone."""


def _crowded(names: Sequence[str]) -> bool:
    """Whether the names of the columns, side by side, would be broken within their words."""
    return sum(LETTER * (1 + max(map(len, name.split()), default=0)) for name in names) > ROOM


def _per_class(answers: Answers) -> Markup:
    rows = [
        (
            words(short(each.name)),
            words(f"{each.count:,}", each.count),
            TableCell(lines=("never",), low=True) if each.precision is None else _percent(each.precision),
            _percent(each.recall),
            _percent(each.f1 if each.count else None),
        )
        for each in answers.by_class
    ]
    missed = [each.name for each in answers.by_class if each.count and not each.recall]
    note = Markup("")
    if missed:
        note = fill(
            '<p class="note">No test node of $names was found. Rare classes: try --class-weights balanced.</p>',
            names=", ".join(short(name) for name in missed[:5]),
        )
    title, heads = "Class by class", ("class", "test nodes", "precision %", "recall %", "F1 %")
    return card("classes", title, join([note, _table(title, heads, rows)]))


def _percent(share: float | None) -> TableCell:
    if share is None:
        return NOT_MEASURED
    return TableCell(lines=(f"{100 * share:.1f}",), value=100 * share, low=share == 0)


def _mistakes(answers: Answers, graph: Graph) -> Markup:
    places = answers.mistakes(MOST_MISTAKES)
    title = "Most confident mistakes"
    if not places:
        return card("mistakes", title, Markup("<p>Every test node of this run is right.</p>"))
    rows = [
        (
            words(node_name(graph, int(answers.nodes[k]))),
            words(short(answers.classes[answers.known[k]])),
            words(short(answers.classes[answers.predicted[k]])),
            words(f"{100 * answers.confidence[k]:.1f}", float(100 * answers.confidence[k])),
        )
        for k in places
    ]
    total = int((answers.known != answers.predicted).sum())
    lead = fill(
        "<p>$count of $all test nodes are wrong. The surest of them are worth a look: the label may be wrong too.</p>",
        count=f"{total:,}",
        all=f"{len(answers.known):,}",
    )
    return card("mistakes", title, join([lead, _table(title, ("node", "class", "predicted", "sure %"), rows)]))


def _table(title: str, columns: tuple[str, ...], rows: Sequence[tuple[TableCell, ...]]) -> Markup:
    return table_html(TableData(name="", title=title, caption="", columns=columns, rows=tuple(rows), command=""))
