"""One worker: takes the next trial while there are trials to do and time to do them."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

import optuna
import torch
from optuna.exceptions import UpdateFinishedTrialError

from gwn.tuning.objective import TrialFailed, score_trial
from gwn.tuning.plan import Plan, Search
from gwn.tuning.storage import is_locked, open_storage, silent_optuna, storage_errors, storage_lock
from gwn.tuning.study import BEGAN, OnTrials, begin_starts, count, make_sampler, open_study, release_lost

PATIENCE = 5
"""How often in a row the storage may be locked for a minute before a worker gives up."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """What workers are asked to do; plain data, so that it can be sent to another process.

    trials      how many are to be finished in the end, those of earlier calls included
    deadline    `time.time()` after which no trial is begun
    """

    plan: Plan
    url: str
    name: str
    trials: int
    jobs: int = 1
    deadline: float = float("inf")
    heartbeat: int = 10

    def open_study(self) -> optuna.Study:
        storage = open_storage(self.url, self.heartbeat)
        # Two that find it new and have different plans must not both write theirs.
        with storage_errors(self.url), storage_lock(self.url, f"open {self.name}"):
            return open_study(storage, self.name, self.plan)


def work(
    job: Job,
    search: Search,
    *,
    on_trials: OnTrials | None = None,
    abandoned: Callable[[], bool] = lambda: False,
) -> None:
    """Run trials in this process until all are finished or the time is over.

    on_trials   called with all trials after each one
    abandoned   whether whoever started this worker is gone
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(search.threads(job.jobs))
    busy = 0
    try:
        with silent_optuna(), storage_errors(job.url):
            study = job.open_study()
            while time.time() < job.deadline and not abandoned():
                try:
                    more = _next_trial(job, search, study)
                    busy = 0
                except Exception as error:
                    # Locked: the heartbeat gives an unfinished trial back. Taken over: this worker was asleep for long.
                    busy += 1
                    if busy > PATIENCE or not (_taken_over(error) or is_locked(error)):
                        raise
                    more = True
                if on_trials is not None:
                    on_trials(study.get_trials(deepcopy=False))
                if not more:
                    break
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(False)


def _next_trial(job: Job, search: Search, study: optuna.Study) -> bool:
    """Run one trial, or wait a moment where others are running the last ones; False when all are finished.

    Counting and taking are one act under a lock, so that workers never start one too many and all see the same trials
    in the end.
    """
    lock = ExitStack()

    def objective(trial: optuna.Trial) -> float:
        lock.close()
        trial.set_user_attr(BEGAN, trial.number)
        return score_trial(search, trial)

    with lock:
        lock.enter_context(storage_lock(job.url, job.name))
        release_lost(study, job.heartbeat)
        census = count(study)
        if census.finished >= job.trials:
            return False
        if census.finished + census.running < job.trials:
            begin_starts(study, search)
            study.sampler = make_sampler(job.plan.seed, census.finished + census.running)
            study.optimize(objective, n_trials=1, catch=(TrialFailed,))
            return True
    time.sleep(0.5)
    return True


def _taken_over(error: BaseException | None) -> bool:
    """Whether a trial was ended, and given to another worker, while this one still worked on it."""
    if error is None:
        return False
    ended = isinstance(error, UpdateFinishedTrialError) or str(error).startswith("Cannot tell a")
    return ended or _taken_over(error.__context__)
