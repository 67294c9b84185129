"""Progress of long work: a bar with time left on a terminal, a line a run when piped, nothing with --quiet."""

from __future__ import annotations

import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from gwn.training import RunResult


class TrainingProgress:
    """Shows `runs` runs of at most `epochs` epochs; use as a context manager and pass its methods as callbacks."""

    def __init__(self, runs: int, epochs: int, *, quiet: bool = False) -> None:
        self.runs, self.epochs, self.quiet = runs, epochs, quiet
        self.label = ""
        self._done = 0
        self._bar: Progress | None = None
        if not quiet and sys.stderr.isatty():
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[unit]}"),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("training", total=runs * epochs, unit="epochs")

    def __enter__(self) -> TrainingProgress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def on_epoch(self, run: int, epoch: int, score: float) -> None:
        """One epoch is done."""
        if self._bar is not None:
            text = f"{self.label} run {run + 1}, validation {100 * score:.1f}".strip()
            self._bar.update(self._task, completed=self._done * self.epochs + epoch, description=text)

    def on_run(self, result: RunResult) -> None:
        """One run is done, perhaps before its last epoch."""
        self._done += 1
        if result.status != "ok":
            print(f"gwn: {self.label} run {result.run + 1}: {result.reason}".replace(":  ", ": "), file=sys.stderr)
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done * self.epochs)
        elif not self.quiet and result.val is not None and result.test is not None:
            print(
                f"{self.label} run {self._done}/{self.runs}: validation {100 * result.val:.2f}, "
                f"test {100 * result.test:.2f}, {result.epochs} epochs, {result.seconds:.1f} s".strip(),
                file=sys.stderr,
            )
