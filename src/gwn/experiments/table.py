"""A table as data, before anyone decides whether it becomes Markdown, LaTeX, CSV, a page or lines in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class TableCell:
    """What a reader sees, in one or more lines, and the number that the column is sorted by."""

    lines: tuple[str, ...]
    value: float | None = None


@dataclass(frozen=True, kw_only=True)
class TableData:
    """Rows under headings, the first column holding words.

    caption   what a reader must know: budget, selection, splits
    command   what prints it again
    records   the same in long form, one mapping of plain values a cell, for CSV
    """

    name: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    command: str
    records: tuple[Mapping[str, Any], ...] = field(default=())


def words(text: str, value: float | None = None) -> TableCell:
    """A cell of one line."""
    return TableCell(lines=(text,), value=value)
