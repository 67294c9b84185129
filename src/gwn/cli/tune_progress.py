"""Progress of a search: a bar with the best so far and the time left on a terminal, a line a trial when piped."""

from __future__ import annotations

import sys
from types import TracebackType

from optuna.trial import FrozenTrial, TrialState
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from gwn.tuning.study import reason_of


class TuneProgress:
    """Use as a context manager, with its methods as callbacks."""

    def __init__(self, trials: int, *, quiet: bool = False) -> None:
        self.trials, self.quiet = trials, quiet
        self._bar: Progress | None = None
        if not quiet and sys.stderr.isatty():
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("trials"),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(elapsed_when_finished=False),
                console=Console(stderr=True),
                transient=True,
                speed_estimate_period=600,
            )
            self._task = self._bar.add_task("searching", total=trials)

    def __enter__(self) -> TuneProgress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def on_trial(self, trial: FrozenTrial, finished: int, best: FrozenTrial | None) -> None:
        """One trial is done."""
        if self._bar is not None:
            self._bar.update(self._task, completed=finished, description=_best(best) or "searching")
        else:
            self.say(f"trial {finished}/{self.trials}: {_outcome(trial)}{_best(best, '; ')}")

    def say(self, line: str) -> None:
        """Something a person should know."""
        if self._bar is not None:
            self._bar.console.print(line, highlight=False, markup=False)
        elif not self.quiet:
            print(line, file=sys.stderr, flush=True)


def _best(best: FrozenTrial | None, before: str = "") -> str:
    return "" if best is None or best.value is None else f"{before}best {100 * best.value:.2f} (trial {best.number})"


def _outcome(trial: FrozenTrial) -> str:
    seconds = "" if trial.duration is None else f", {trial.duration.total_seconds():.1f} s"
    if trial.state == TrialState.COMPLETE and trial.value is not None:
        return f"validation {100 * trial.value:.2f}{seconds}"
    score = "" if trial.value is None else f" at {100 * trial.value:.2f}"
    return f"{'pruned' if trial.state == TrialState.PRUNED else 'failed'}{score}, {reason_of(trial)}{seconds}"
