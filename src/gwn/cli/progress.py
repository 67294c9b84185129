"""Progress of long work: a bar with time left on a terminal, a line a run or trial when piped, nothing with --quiet."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial
    from rich.progress import Progress

    from gwn.training import RunResult

B = TypeVar("B", bound="TerminalBar")
SECONDS_BETWEEN_LINES = 30.0


def in_words(seconds: float) -> str:
    """A time that is left, no more exact than it is."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


WIDE = 76
"""Columns of a terminal, below which there is no room for a bar beside its numbers, which would be cut."""


class TerminalBar:
    """A context manager that shows `total` units of work; `shown` says whether there is a terminal to show it on."""

    def __init__(self, what: str, total: int, unit: str, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self._stage, self._began, self._said, self._at = "", 0.0, 0.0, 0.0
        self._bar: Progress | None = None
        if not quiet and sys.stderr.isatty():
            from rich import progress as rich
            from rich.console import Console

            console = Console(stderr=True)
            wide = console.width >= WIDE
            columns = [
                rich.TextColumn("{task.description}"),
                *([rich.BarColumn()] if wide else []),
                rich.MofNCompleteColumn(),
                rich.TextColumn("{task.fields[unit]}"),
                *([rich.TimeElapsedColumn()] if wide else []),
                rich.TextColumn("left"),
                rich.TimeRemainingColumn(elapsed_when_finished=False),
            ]
            self._bar = rich.Progress(
                *columns,
                console=console,
                transient=True,
                speed_estimate_period=600,  # trials and runs are slow: seconds of memory would say nothing
            )
            self._task = self._bar.add_task(what, total=total, unit=unit)

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

    def stage(self, what: str, completed: float, total: float, unit: str = "per mille") -> None:
        """As `phase`, of a part whose pace says nothing of the others: the time left is its own.

        Without a terminal a line now and then says the same, so that a log shows that it goes on.
        """
        now = time.monotonic()
        new = what != self._stage
        if new:
            self._stage, self._began, self._said, self._at = what, now, now, completed
        if self._bar is not None:
            if new:
                self._bar.reset(self._task, total=total, unit=unit)
            self._bar.update(self._task, completed=completed, description=what)
        elif now - self._said >= SECONDS_BETWEEN_LINES and completed > self._at:
            self._said = now
            left = (now - self._began) * (total - completed) / (completed - self._at)
            self.say(f"{what}: {completed / total:.0%}, about {in_words(left)} left")

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


class TrainingProgress(TerminalBar):
    """Shows `runs` runs of at most `epochs` epochs, scored by `metric`; its methods are callbacks."""

    def __init__(self, runs: int, epochs: int, *, metric: str = "accuracy", quiet: bool = False) -> None:
        super().__init__("training", runs * epochs, "epochs", quiet=quiet)
        self.runs, self.epochs, self.metric = runs, epochs, metric
        self.label = ""
        self._done = 0

    def on_epoch(self, run: int, epoch: int, score: float) -> None:
        """One epoch is done."""
        from gwn.training.metrics import score_text

        text = f"{self.label} run {run + 1}, validation {score_text(self.metric, score, 1)}".strip()
        self.update(self._done * self.epochs + epoch, text)

    def on_columns(self, done: float, total: int) -> None:
        """So many columns of the features have been propagated, before the first epoch."""
        self.stage("propagating", done, total, "columns")
        if done == total:
            self.stage("training", self._done * self.epochs, self.runs * self.epochs, "epochs")

    def on_run(self, result: RunResult) -> None:
        """One run is done, perhaps before its last epoch."""
        self._done += 1
        if result.status != "ok":
            print(f"gwn: {self.label} run {result.run + 1}: {result.reason}".replace(":  ", ": "), file=sys.stderr)
        self.update(self._done * self.epochs)
        if not self.shown and result.val is not None and result.test is not None:
            from gwn.training.metrics import score_text

            val, test = (score_text(self.metric, value) for value in (result.val, result.test))
            self.say(
                f"{self.label} run {self._done}/{self.runs}: validation {val}, "
                f"test {test}, {result.epochs} epochs, {result.seconds:.1f} s".strip()
            )


class TuneProgress(TerminalBar):
    """Use as a context manager, with its methods as callbacks."""

    def __init__(self, trials: int, *, metric: str = "accuracy", quiet: bool = False) -> None:
        super().__init__("searching", trials, "trials", quiet=quiet)
        self.trials, self.metric = trials, metric

    def on_trial(self, trial: FrozenTrial, finished: int, best: FrozenTrial | None) -> None:
        """One trial is done."""
        from gwn.tuning.study import is_given_up, place_of, reason_of

        self.update(finished, _best(best, self.metric) or "searching")
        if is_given_up(trial):  # perhaps it needs more memory than there is: to be known, however quiet it shall be
            note = f"gwn: warning: trial {place_of(trial)} is not tried again: {reason_of(trial)}"
            self.say(note) if self.shown else print(note, file=sys.stderr, flush=True)
        elif not self.shown:
            self.say(f"trial {finished}/{self.trials}: {_outcome(trial, self.metric)}{_best(best, self.metric, '; ')}")


def _best(best: FrozenTrial | None, metric: str, before: str = "") -> str:
    from gwn.training.metrics import score_text

    if best is None or best.value is None:
        return ""
    return f"{before}best {score_text(metric, best.value)} (trial {best.number})"


def _outcome(trial: FrozenTrial, metric: str) -> str:
    from gwn.training.metrics import score_text
    from gwn.tuning.study import reason_of

    seconds = "" if trial.duration is None else f", {trial.duration.total_seconds():.1f} s"
    if trial.state.name == "COMPLETE" and trial.value is not None:
        return f"validation {score_text(metric, trial.value)}{seconds}"
    score = "" if trial.value is None else f" at {score_text(metric, trial.value)}"
    return f"{'pruned' if trial.state.name == 'PRUNED' else 'failed'}{score}, {reason_of(trial)}{seconds}"
