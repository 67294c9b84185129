"""Run a search to its end in one process or several, and follow its trials as they finish."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from multiprocessing.queues import SimpleQueue
from types import FrameType
from typing import Any

import optuna
import torch
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial, TrialState

from gwn.errors import GWNError
from gwn.training.loop import former_determinism
from gwn.tuning.objective import TrialFailed, score_trial
from gwn.tuning.plan import Plan, Search, reopen_search
from gwn.tuning.storage import is_locked, open_storage, silent_optuna, storage_errors, storage_lock
from gwn.tuning.study import (
    BEGAN,
    PLACE,
    OnTrials,
    begin_starts,
    count,
    is_finished,
    make_sampler,
    next_place,
    open_study,
    release_lost,
)

PATIENCE = 5
"""How often in a row the storage may be locked for a minute before a worker gives up."""


@dataclass(frozen=True, kw_only=True)
class SearchJob:
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


@former_determinism()
def work(
    job: SearchJob,
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


def _next_trial(job: SearchJob, search: Search, study: optuna.Study) -> bool:
    """Run one trial, or wait a moment where others are running the last ones; False when all are finished.

    Counting and taking are one act under a lock, so that workers never start one too many and all see the same trials
    in the end.
    """
    lock = ExitStack()

    def objective(trial: optuna.Trial) -> float:
        trial.set_user_attr(PLACE, place)
        storage: Any = trial.storage
        storage.record_heartbeat(trial._trial_id)  # before BEGAN: whoever began has given a sign of life
        trial.set_user_attr(BEGAN, trial.number)
        lock.close()
        return score_trial(search, trial)

    with lock:
        lock.enter_context(storage_lock(job.url, job.name))
        release_lost(study, job.heartbeat)
        census = count(study)
        if census.finished >= job.trials:
            return False
        if census.finished + census.running < job.trials:
            begin_starts(study, search)
            place = next_place(study)
            study.sampler = make_sampler(job.plan.seed, place)
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


REFUSED = 2
REPLACEMENTS = 3
"""For each worker; one that dies more often has a cause that a new one would meet too."""

POLL_SECONDS = 0.5
STOP_SECONDS = 60
"""A worker that is told to stop gives its trial back first, which takes a while on a busy machine."""


def work_in_processes(job: SearchJob, *, on_trials: OnTrials, say: Callable[[str], None]) -> None:
    """Run `job.jobs` workers until all trials are finished or the time is over."""
    context = _context()
    complaints: SimpleQueue[str] = context.SimpleQueue()

    def start() -> BaseProcess:
        process: BaseProcess = context.Process(target=_worker, args=(job, complaints), daemon=True)  # type: ignore[attr-defined]
        with _ctrl_c_ignored():  # inherited: a worker is stopped by us, and says nothing of its own
            process.start()
        return process

    with silent_optuna(), storage_errors(job.url):
        study = job.open_study()
        workers = [start() for _ in range(job.jobs)]
        replacements = REPLACEMENTS * job.jobs
        try:
            while workers:
                time.sleep(POLL_SECONDS)
                on_trials(study.get_trials(deepcopy=False))
                for dead in [worker for worker in workers if not worker.is_alive()]:
                    workers.remove(dead)
                    if dead.exitcode == 0:
                        continue
                    if dead.exitcode == REFUSED and not complaints.empty():
                        raise GWNError(complaints.get())
                    if replacements == 0:
                        raise GWNError(f"workers keep dying ({_death(dead)}); what was finished is kept")
                    replacements -= 1
                    say(f"a worker died ({_death(dead)}); its trial will be tried again")
                    workers.append(start())
            on_trials(study.get_trials(deepcopy=False))
        finally:
            _stop(workers)


def _context() -> BaseContext:
    """Processes from a server that has imported everything once; each imports anew where there is no such thing."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def _worker(job: SearchJob, complaints: SimpleQueue[str]) -> None:
    """The whole life of a worker process."""
    signal.signal(signal.SIGTERM, _interrupt)
    parent = multiprocessing.parent_process()
    try:
        work(job, reopen_search(job.plan), abandoned=lambda: parent is not None and not parent.is_alive())
    except KeyboardInterrupt:
        sys.exit(0)
    except (GWNError, OSError) as error:
        complaints.put(str(error))
        sys.exit(REFUSED)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _stop(workers: list[BaseProcess]) -> None:
    """End what is still running; an interrupted trial gives itself back on the way."""
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.join(timeout=STOP_SECONDS)
        if worker.is_alive():
            worker.kill()
            worker.join()


def _death(worker: BaseProcess) -> str:
    code = worker.exitcode or 0
    return f"signal {-code}, perhaps out of memory" if code < 0 else f"exit code {code}"


@contextmanager
def _ctrl_c_ignored() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


OnTrial = Callable[[FrozenTrial, int, FrozenTrial | None], None]
"""Called with a trial that has just finished, how many have, and the best one so far."""


def run_search(job: SearchJob, search: Search, *, on_trial: OnTrial, say: Callable[[str], None]) -> list[FrozenTrial]:
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
