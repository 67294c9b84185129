"""Progress of a search: a bar with the best so far and the time left on a terminal, a line a trial when piped."""

from __future__ import annotations

from optuna.trial import FrozenTrial, TrialState

from gwn.cli.bar import TerminalBar
from gwn.tuning.study import reason_of


class TuneProgress(TerminalBar):
    """Use as a context manager, with its methods as callbacks."""

    def __init__(self, trials: int, *, quiet: bool = False) -> None:
        super().__init__("searching", trials, "trials", quiet=quiet)
        self.trials = trials

    def on_trial(self, trial: FrozenTrial, finished: int, best: FrozenTrial | None) -> None:
        """One trial is done."""
        self.update(finished, _best(best) or "searching")
        if not self.shown:
            self.say(f"trial {finished}/{self.trials}: {_outcome(trial)}{_best(best, '; ')}")


def _best(best: FrozenTrial | None, before: str = "") -> str:
    return "" if best is None or best.value is None else f"{before}best {100 * best.value:.2f} (trial {best.number})"


def _outcome(trial: FrozenTrial) -> str:
    seconds = "" if trial.duration is None else f", {trial.duration.total_seconds():.1f} s"
    if trial.state == TrialState.COMPLETE and trial.value is not None:
        return f"validation {100 * trial.value:.2f}{seconds}"
    score = "" if trial.value is None else f" at {100 * trial.value:.2f}"
    return f"{'pruned' if trial.state == TrialState.PRUNED else 'failed'}{score}, {reason_of(trial)}{seconds}"
