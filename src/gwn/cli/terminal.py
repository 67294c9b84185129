"""What commands print and read: the one look of tables, a sign of life, and durations as people write them.

Rich is imported where something is printed: `gwn --help` need not wait for it.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from typer.core import TyperGroup

from gwn.errors import GWNError
from gwn.html import printable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

GAP = 2
"""Spaces between two columns."""

READABLE = 20
"""Signs in a line of prose, below which a table is stacked rather than its prose wrapped further."""

ENDLESS = 1000
"""A file has no width: nothing is wrapped there."""

Rows = Sequence[Sequence[str]]


UNBROKEN = "\N{NON-BREAKING HYPHEN}"

_CONTEXT: Any = TyperGroup.context_class  # Click's, or what Typer brings in its place
_FORMATTER: Any = _CONTEXT.formatter_class


class _Formatter(_FORMATTER):  # type: ignore[misc]
    """Help in which no option, name or command is broken at its hyphens."""

    def write_text(self, text: str) -> None:
        super().write_text(text.replace("-", UNBROKEN))

    def write_dl(self, rows: Any, *args: Any, **kwargs: Any) -> None:
        super().write_dl([tuple(cell.replace("-", UNBROKEN) for cell in row) for row in rows], *args, **kwargs)

    def getvalue(self) -> str:
        return str(super().getvalue()).replace(UNBROKEN, "-")


class _Context(_CONTEXT):  # type: ignore[misc]
    formatter_class = _Formatter


class WholeSentences(TyperGroup):
    """Commands listed with the first sentence of each, wrapped: by default it is cut to one line."""

    context_class = _Context

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for command in self.commands.values():
            command.context_class = _Context

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        listed = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [
            (name, each.get_short_help_str(ENDLESS)) for name, each in listed if each is not None and not each.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def as_word(path: Path | str) -> str:
    """A path as one word of a command that can be copied to a shell."""
    return shlex.quote(printable(str(path)))


def screen_width(stream: TextIO | None = None) -> int:
    """Columns of the terminal that a stream goes to, standard output unless given."""
    return shutil.get_terminal_size().columns if (stream or sys.stdout).isatty() else ENDLESS


def print_table(
    headings: Sequence[str], rows: Rows, title: str = "", left: int = 1, droppable: Sequence[str] = ()
) -> None:
    """Print rows of text; the first `left` columns are words, the others numbers and set to the right.

    Whatever a cell holds, it cannot steer the terminal; a new line in it begins a line of the cell.

    droppable   headings of columns that are left out, in this order, where the others then fit the terminal
    """
    from rich.console import Console

    width = screen_width()
    console = Console(highlight=False, markup=False, width=width)
    if title:
        console.print(_lines(title), style="bold")  # a title of the table itself would be as narrow as the table
    columns = [_Column.of(headings, rows, place, left) for place in range(len(headings))]
    dropped: list[int] = []
    for heading in ("", *droppable):
        dropped += [headings.index(heading)] if heading else []
        shown = [place for place in range(len(headings)) if place not in dropped]
        if _total([columns[place] for place in shown]) <= width:
            break
    else:  # it is stacked in any case, so with everything
        dropped, shown = [], list(range(len(headings)))
    words = sum(place < left for place in shown)
    console.print(
        table([headings[place] for place in shown], [[row[place] for place in shown] for row in rows], words, width)
    )
    if dropped:
        said = ", ".join(headings[place] for place in sorted(dropped))
        console.print(f"Not shown at this width: {said}", style="dim")


def table(headings: Sequence[str], rows: Rows, left: int, width: int) -> RenderableType:
    """A table that is never wider than `width`, in which no number and no word is cut.

    Prose is wrapped between words. Columns that do not fit stand in further tables below, each with the first column
    again. Where the first column leaves no room for another, every row becomes a list of its cells.
    """
    from rich.console import Group

    columns = [_Column.of(headings, rows, place, left) for place in range(len(headings))]
    if any(_total([columns[0], column]) > width for column in columns[1:]):
        return Group(*(_record(headings, row, width) for row in rows))
    groups: list[list[int]] = [[0]]
    for place in range(1, len(columns)):
        if _total([columns[each] for each in (*groups[-1], place)]) > width:
            groups.append([0])
        groups[-1].append(place)
    return Group(*(part for places in groups for part in (_group(headings, rows, places, columns, width), "")))


@dataclass(frozen=True)
class _Column:
    """How wide a column would like to be, and how narrow it may become."""

    natural: int
    least: int
    words: bool

    @classmethod
    def of(cls, headings: Sequence[str], rows: Rows, place: int, left: int) -> _Column:
        from rich.cells import cell_len

        heading, words = _lines(headings[place]), place < left
        lines = [line for row in rows for line in _lines(row[place]).split("\n")]
        cells = max(map(cell_len, lines), default=0)
        natural = max(cells, *map(cell_len, heading.split("\n")))
        unbroken = [*heading.split(), *(word for line in lines for word in line.split())] if words else heading.split()
        longest = max(map(cell_len, unbroken), default=0)
        return cls(natural, max(longest, min(natural, READABLE) if words else cells), words)


def _total(columns: Sequence[_Column]) -> int:
    return sum(column.least for column in columns) + GAP * (len(columns) - 1)


def _group(headings: Sequence[str], rows: Rows, places: Sequence[int], columns: list[_Column], width: int) -> Table:
    """Some of the columns side by side; what room is left goes to those that want it, the modest ones first."""
    from rich.text import Text

    widths = {place: min(columns[place].least, width) for place in places}
    spare = width - _total([columns[place] for place in places])
    wanting = sorted(places, key=lambda place: columns[place].natural - columns[place].least)
    for already, place in enumerate(wanting):
        more = min(columns[place].natural - columns[place].least, max(0, spare) // (len(places) - already))
        widths[place] += more
        spare -= more
    grid = _empty()
    for place in places:
        grid.add_column(
            Text(_lines(headings[place])),
            justify="left" if columns[place].words else "right",
            width=widths[place],
            overflow="fold",
        )
    for row in rows:
        grid.add_row(*(Text(_lines(row[place])) for place in places))
    return grid


def _record(headings: Sequence[str], row: Sequence[str], width: int) -> RenderableType:
    """One row as a list: its first cell, and below it a line for every other one."""
    from rich.console import Group
    from rich.text import Text

    cells = _empty(show_header=False)
    cells.add_column(overflow="fold", max_width=width // 2)
    cells.add_column(overflow="fold")
    for heading, cell in zip(headings[1:], row[1:], strict=True):
        cells.add_row(Text(f"  {_lines(heading)}"), Text(_lines(cell)))
    return Group(Text(_lines(row[0]), overflow="fold"), cells, "")


def _empty(*, show_header: bool = True) -> Table:
    from rich import box
    from rich.table import Table

    return Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0), show_header=show_header
    )


def _lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def print_prose(text: str, *, err: bool = False) -> None:
    """Print sentences, with `err` on standard error; on a terminal no word is broken at its edge.

    A command or a path that is to be copied is printed as it is instead, on a line of its own.
    """
    stream = sys.stderr if err else sys.stdout
    width = screen_width(stream)
    for line in text.split("\n"):
        wrapped = width < ENDLESS and line.strip()
        print(
            textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False) if wrapped else line,
            file=stream,
            flush=True,
        )


@contextmanager
def sign_of_life(text: str) -> Iterator[None]:
    """On a terminal, `text` stands on standard error until anything else is written: libraries take seconds to load."""
    if not sys.stderr.isatty():
        yield
        return
    streams = [stream for stream in (sys.stdout, sys.stderr) if stream.isatty()]
    sys.stderr.write(text)
    sys.stderr.flush()

    def clear() -> None:
        while streams:
            del streams.pop().write  # the class's own again
            if not streams:
                sys.stderr.write(f"\r{' ' * len(text)}\r")
                sys.stderr.flush()

    def clearing(write: Callable[[str], int]) -> Callable[[str], int]:
        def first(line: str) -> int:
            clear()
            return write(line)

        return first

    for stream in streams:
        stream.write = clearing(stream.write)  # type: ignore[method-assign]
    try:
        yield
    finally:
        clear()


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
