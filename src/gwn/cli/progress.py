"""Progress of long work: a bar with time left on a terminal, a line a run when piped, nothing with --quiet."""

from __future__ import annotations

import sys

from gwn.cli.bar import TerminalBar
from gwn.training import RunResult


class TrainingProgress(TerminalBar):
    """Shows `runs` runs of at most `epochs` epochs; use as a context manager and pass its methods as callbacks."""

    def __init__(self, runs: int, epochs: int, *, quiet: bool = False) -> None:
        super().__init__("training", runs * epochs, "epochs", quiet=quiet)
        self.runs, self.epochs = runs, epochs
        self.label = ""
        self._done = 0

    def on_epoch(self, run: int, epoch: int, score: float) -> None:
        """One epoch is done."""
        text = f"{self.label} run {run + 1}, validation {100 * score:.1f}".strip()
        self.update(self._done * self.epochs + epoch, text)

    def on_columns(self, done: int, total: int) -> None:
        """So many columns of the features have been propagated, before the first epoch."""
        self.update(self._done * self.epochs, f"propagating, {done} of {total} columns")

    def on_run(self, result: RunResult) -> None:
        """One run is done, perhaps before its last epoch."""
        self._done += 1
        if result.status != "ok":
            print(f"gwn: {self.label} run {result.run + 1}: {result.reason}".replace(":  ", ": "), file=sys.stderr)
        self.update(self._done * self.epochs)
        if not self.shown and result.val is not None and result.test is not None:
            self.say(
                f"{self.label} run {self._done}/{self.runs}: validation {100 * result.val:.2f}, "
                f"test {100 * result.test:.2f}, {result.epochs} epochs, {result.seconds:.1f} s".strip()
            )
