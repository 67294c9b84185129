"""A table as Markdown, CSV or LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gwn.pages.table import TableCell, TableData, marks, notes_of, words
from gwn.spreadsheet import csv_text

__all__ = ["FORMATS", "SUFFIXES", "TableCell", "TableData", "to_csv", "to_latex", "to_markdown", "words"]


def to_markdown(table: TableData) -> str:
    """A heading, the table with the lines of a cell kept apart, and what a reader must know."""
    lines = [
        f"### {table.title}",
        "",
        "| " + " | ".join(table.columns) + " |",
        "|---" * len(table.columns) + "|",
        *("| " + " | ".join("<br>".join(cell.lines) for cell in row) + " |" for row in table.rows),
        "",
        f"{_told(table)} Printed by `{table.command}`.",
    ]
    return "\n".join(lines) + "\n"


def _told(table: TableData) -> str:
    """The caption, and the notes of columns and rows after it."""
    return " ".join([table.caption, *(_named(note, names) for note, names in notes_of(table).items())])


def _named(note: str, names: Sequence[str]) -> str:
    """A note that begins with what all these names begin with says itself what it is about."""
    subject, colon, _ = note.partition(": ")
    return note if colon and all(name.startswith(subject) for name in names) else f"{', '.join(names)}: {note}"


def to_csv(table: TableData) -> str:
    """The long form, one line a cell, where the table has one; otherwise the table as it is seen."""
    if table.records:
        columns = list(dict.fromkeys(key for record in table.records for key in record))
        return csv_text(columns, ([record.get(column) for column in columns] for record in table.records))
    return csv_text(table.columns, (["; ".join(cell.lines) for cell in row] for row in table.rows))


_SPECIAL = {"\\": r"\textbackslash{}", "±": r"$\pm$", "%": r"\%", "&": r"\&", "_": r"\_", "#": r"\#", "$": r"\$"}


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in text)


def to_latex(table: TableData) -> str:
    """A `tabular` with booktabs' rules; cells of several lines are stacked, the best is bold and the second best
    underlined, as in the paper."""
    marked = marks(table)

    def cell(seen: TableCell, mark: str) -> str:
        lines = [_escaped(line) for line in seen.lines]
        if mark:
            lines[0] = (r"\textbf{" if mark == "best" else r"\underline{") + lines[0] + "}"
        return lines[0] if len(lines) == 1 else r"\shortstack{" + r" \\ ".join(lines) + "}"

    body = [
        " & ".join(cell(seen, marked.get((row, column), "")) for column, seen in enumerate(cells)) + r" \\"
        for row, cells in enumerate(table.rows)
    ]
    return "\n".join(
        [
            f"% {table.command}",
            r"\begin{table*}",
            rf"  \caption{{{_escaped(table.title)}. {_escaped(_told(table))}}}",
            rf"  \label{{tb:{table.name}}}",
            r"  \begin{tabular}{l" + "c" * (len(table.columns) - 1) + "}",
            r"    \toprule",
            "    " + " & ".join(_escaped(column) for column in table.columns) + r" \\",
            r"    \midrule",
            *(f"    {line}" for line in body),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table*}",
            "",
        ]
    )


FORMATS: dict[str, Callable[[TableData], str]] = {"markdown": to_markdown, "csv": to_csv, "latex": to_latex}
SUFFIXES = {"markdown": "md", "csv": "csv", "latex": "tex"}
