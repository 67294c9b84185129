"""A table, and how every page shows it: headings and first column stay in sight, columns sort, the best is marked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any, Literal

from gwn.html import Markup, fill, join


@dataclass(frozen=True, kw_only=True)
class TableCell:
    """What a reader sees, in one or more lines, and the number that the column is sorted by.

    missing   it could have been measured and was not; its first line is that of `NOT_MEASURED`
    low       worth a second look: a class that is never found
    """

    lines: tuple[str, ...]
    value: float | None = None
    missing: bool = False
    low: bool = False


@dataclass(frozen=True, kw_only=True)
class TableData:
    """Rows under headings, the first column holding words.

    caption   what a reader must know: budget, selection, splits
    command   what prints it again
    records   the same in long form, one mapping of plain values a cell, for CSV
    lead      so many rows at the top are those that the table is about
    best      which values of a column are the best: the "highest" or the "lowest"; "" where none is
    across    what the columns after the first are, such as "dataset": a filter finds them by their headings
    notes     what must be known of a column or of a row, by its heading
    """

    name: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    command: str
    records: tuple[Mapping[str, Any], ...] = field(default=())
    lead: int = 0
    best: Literal["highest", "lowest", ""] = ""
    across: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)


NOT_MEASURED = TableCell(lines=("–",), missing=True)


def words(text: str, value: float | None = None) -> TableCell:
    """A cell of one line."""
    return TableCell(lines=(text,), value=value)


def marks(table: TableData) -> dict[tuple[int, int], str]:
    """Row and column of the "best" and the "second" of every column, as printed: equal figures share a mark."""
    found: dict[tuple[int, int], str] = {}
    if not table.best:
        return found
    for column in range(1, len(table.columns)):
        values = {
            row: round(value, 2) for row, cells in enumerate(table.rows) if (value := cells[column].value) is not None
        }
        ranked = sorted({*values.values()}, reverse=table.best == "highest")
        if len(values) > 1:
            names = dict(zip(ranked, ("best", "second"), strict=False))
            found |= {(row, column): names[value] for row, value in values.items() if value in names}
    return found


TABLE = """<div class="scroll" role="region" aria-label="$title" tabindex="0">
<table class="sortable"><thead><tr>$head</tr></thead>
<tbody>
$body
</tbody></table>
</div>
<p class="nothing" hidden>Nothing in this table fits the filter.</p>$notes"""
HEAD = """<th scope="col" class="$kind" aria-sort="none" data-of="$of"$across>
<button type="button"><span>$text$note</span><span class="arrow" aria-hidden="true"></span></button></th>"""
MISSING = Markup('<span aria-hidden="true">–</span><span class="unseen">not measured</span>')
NUMBER = re.compile(r"[+-]?[\d,.]+(e[+-]?\d+)?|never|–")
LONG, LONG_WORD = 40, 20
"""A cell of more characters is wrapped; a word of more, an id without spaces, may be broken anywhere."""


def table_html(table: TableData) -> Markup:
    """The table in its frame, with its notes below."""
    marked, letters = marks(table), _letters(table)
    kinds = [_kind([cells[column] for cells in table.rows]) for column in range(1, len(table.columns))]
    kinds.insert(0, "figures")  # the first names a row, and stands on the left even if it is a number
    heads = (
        fill(
            HEAD,
            text=_heading(text) if table.across and column else text,
            note=_letter(letters, table.notes.get(text)),
            kind=kind,
            of=text,
            across=fill(' data-across="$what"', what=table.across) if table.across and column else "",
        )
        for column, (text, kind) in enumerate(zip(table.columns, kinds, strict=True))
    )
    body = (
        fill(
            '<tr$kind><th scope="row"$long>$first</th>$cells</tr>',
            long=Markup(' class="long"') if max(map(len, cells[0].lines[0].split()), default=0) > LONG_WORD else "",
            kind=Markup(' class="lead"') if row < table.lead else "",
            first=join([_lines(cells[0]), _letter(letters, table.notes.get(cells[0].lines[0]))], ""),
            cells=join(
                (_cell(cell, kinds[column], marked.get((row, column), "")) for column, cell in enumerate(cells[1:], 1)),
                "",
            ),
        )
        for row, cells in enumerate(table.rows)
    )
    return fill(TABLE, title=table.title, head=join(heads, ""), body=join(body), notes=_notes(letters))


def _heading(text: str) -> Markup:
    """What a column is of in the first line, what follows below it: a dataset and its split."""
    first, _, rest = text.partition(", ") if ", " in text else text.rpartition(" ")
    return fill('$first <span class="line">$rest</span>', first=first, rest=rest) if first else fill("$text", text=text)


def _kind(cells: Sequence[TableCell]) -> str:
    """A column of plain numbers is set to the right, long words are wrapped."""
    seen = [cell.lines for cell in cells if not cell.missing]
    if max((len(line) for lines in seen for line in lines), default=0) > LONG:
        return "words"
    return "number" if seen and all(NUMBER.fullmatch(lines[0]) for lines in seen) else "figures"


def _cell(cell: TableCell, kind: str, mark: str) -> Markup:
    classes = " ".join(filter(None, [kind, mark, "missing" if cell.missing else "", "low" if cell.low else ""]))
    value = "" if cell.value is None else f"{cell.value:.10g}"
    return fill('<td class="$classes" data-value="$value">$text</td>', classes=classes, value=value, text=_lines(cell))


def _lines(cell: TableCell) -> Markup:
    """The first line in full, the others small below it."""
    first, *others = cell.lines or ("",)
    start = MISSING if cell.missing else fill('<span class="first">$text</span>', text=first)
    return join((start, *map(_small, others)), "")


def _small(line: str) -> Markup:
    """Where the table would not fit its page, words are wrapped; numbers only before what stands in brackets."""
    text, bracket, rest = line.partition(" (")
    parts = (text, f"({rest}") if bracket else (text,)
    if any(map(str.isdigit, line)):
        return fill(
            '<span class="line">$parts</span>',
            parts=join((fill("<span>$part</span>", part=part) for part in parts), " "),
        )
    return fill('<span class="line">$line</span>', line=line)


def notes_of(table: TableData) -> dict[str, list[str]]:
    """Every note that a heading or a row of this table has, with the names that it is about."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys((*table.columns, *(cells[0].lines[0] for cells in table.rows))):
        if name in table.notes:
            found.setdefault(table.notes[name], []).append(name)
    return found


def _letters(table: TableData) -> dict[str, str]:
    return dict(zip(notes_of(table), ascii_lowercase, strict=False))


def _letter(letters: Mapping[str, str], note: str | None) -> Markup:
    return Markup("") if note is None else fill("<sup>$letter</sup>", letter=letters[note])


def _notes(letters: Mapping[str, str]) -> Markup:
    if not letters:
        return Markup("")
    items = (fill("<li><sup>$letter</sup> $note</li>", letter=letter, note=note) for note, letter in letters.items())
    return fill('\n<ul class="notes">$items</ul>', items=join(items, ""))
