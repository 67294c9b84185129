"""Run a search to its end in one process or several, and follow its trials as they finish."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from optuna.trial import FrozenTrial, TrialState

from gwn.tuning.plan import Search
from gwn.tuning.processes import work_in_processes
from gwn.tuning.storage import silent_optuna, storage_errors
from gwn.tuning.study import is_finished
from gwn.tuning.worker import Job, work

OnTrial = Callable[[FrozenTrial, int, FrozenTrial | None], None]
"""Called with a trial that has just finished, how many have, and the best one so far."""


def run_search(job: Job, search: Search, *, on_trial: OnTrial, say: Callable[[str], None]) -> list[FrozenTrial]:
    """Continue the study until `job.trials` trials are finished or its time is over; all its trials.

    say   called with what a person should know, such as that trials of an earlier call are there
    """
    with silent_optuna(), storage_errors(job.url):
        study = job.open_study()
        there = [trial for trial in study.get_trials(deepcopy=False) if is_finished(trial)]
        if there:
            say(f"continuing: {len(there)} of {job.trials} trials are there")
        follow = Follower(on_trial, there)
        if len(there) < job.trials:
            if job.jobs == 1:
                work(job, search, on_trials=follow)
            else:
                work_in_processes(job, on_trials=follow, say=say)
        return study.get_trials(deepcopy=False)


class Follower:
    """Finds what is new in a list of all trials."""

    def __init__(self, on_trial: OnTrial, seen: Sequence[FrozenTrial] = ()) -> None:
        self._on_trial = on_trial
        self._seen = {trial.number for trial in seen}
        self._best: FrozenTrial | None = None
        for trial in seen:
            self._compare(trial)

    def __call__(self, trials: Sequence[FrozenTrial]) -> None:
        for trial in trials:
            if trial.number not in self._seen and is_finished(trial):
                self._seen.add(trial.number)
                self._compare(trial)
                self._on_trial(trial, len(self._seen), self._best)

    def _compare(self, trial: FrozenTrial) -> None:
        if trial.state != TrialState.COMPLETE or trial.value is None:
            return
        if self._best is None or self._best.value is None or trial.value > self._best.value:
            self._best = trial
