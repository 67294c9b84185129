"""The one progress bar: on a terminal, with time left; nothing when piped or quiet."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

B = TypeVar("B", bound="TerminalBar")


class TerminalBar:
    """A context manager that shows `total` units of work; `shown` says whether there is a terminal to show it on."""

    def __init__(self, what: str, total: int, unit: str, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self._bar: Progress | None = None
        if not quiet and sys.stderr.isatty():
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn(unit),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(elapsed_when_finished=False),
                console=Console(stderr=True),
                transient=True,
                speed_estimate_period=600,  # trials and runs are slow: seconds of memory would say nothing
            )
            self._task = self._bar.add_task(what, total=total)

    @property
    def shown(self) -> bool:
        return self._bar is not None

    def update(self, completed: int, description: str | None = None) -> None:
        """So much is done."""
        if self._bar is not None:
            self._bar.update(self._task, completed=completed, description=description)

    def phase(self, what: str, completed: int, total: int) -> None:
        """So much of one part of the work is done; parts follow one another on the same bar."""
        if self._bar is not None:
            self._bar.update(self._task, completed=completed, total=total, description=what)

    def say(self, line: str) -> None:
        """Something a person should know: above the bar, or on standard error."""
        if self._bar is not None:
            self._bar.console.print(line, highlight=False, markup=False)
        elif not self.quiet:
            print(line, file=sys.stderr, flush=True)

    def __enter__(self: B) -> B:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
