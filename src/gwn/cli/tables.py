"""The one look of tables in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]], title: str = "", left: int = 1) -> None:
    """Print rows of text; the first `left` columns are words, the others numbers and set to the right."""
    table = Table(title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for place, heading in enumerate(headings):
        words = place < left
        table.add_column(heading, justify="left" if words else "right", overflow="fold", no_wrap=not words)
    for row in rows:
        table.add_row(*row)
    piped = not sys.stdout.isatty()  # a file has no width: nothing is cut there
    Console(highlight=False, markup=False, width=1000 if piped else None).print(table)
