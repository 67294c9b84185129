"""What commands print and read: the one look of tables, and durations as people write them."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from gwn.errors import GWNError


def printable(text: str) -> str:
    """Text from a table as a terminal may see it: control characters and direction marks are written out."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]], title: str = "", left: int = 1) -> None:
    """Print rows of text; the first `left` columns are words, the others numbers and set to the right.

    Whatever a cell holds, it cannot steer the terminal; a new line in it begins a line of the cell.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, heading in enumerate(headings):
        words = place < left
        table.add_column(_lines(heading), justify="left" if words else "right", overflow="fold", no_wrap=not words)
    for row in rows:
        table.add_row(*map(_lines, row))
    piped = not sys.stdout.isatty()  # a file has no width: nothing is cut there
    console = Console(highlight=False, markup=False, width=1000 if piped else None)
    if title:
        console.print(_lines(title), style="bold")  # a title of the table itself would be as narrow as the table
    console.print(table)


def _lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


_SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([dhms])\s*")


def parse_duration(option: str, text: str) -> float:
    """`90s`, `30m`, `2h` or `1h30m` in seconds."""
    parts = _PART.findall(text)
    if not parts or _PART.sub("", text.strip()):
        raise GWNError(f"{option} takes a duration such as 90s, 30m, 2h or 1h30m; got {text!r}")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if not 0 < seconds < 1e9:
        raise GWNError(f"{option} must be longer than nothing and shorter than thirty years; got {text!r}")
    return seconds
