"""Several workers on one machine, each a process of its own: started, watched, replaced when killed, and stopped."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from multiprocessing.queues import SimpleQueue
from types import FrameType

from gwn.errors import GWNError
from gwn.tuning.plan import reopen_search
from gwn.tuning.storage import silent_optuna, storage_errors
from gwn.tuning.study import OnTrials
from gwn.tuning.worker import Job, work

REFUSED = 2
REPLACEMENTS = 3
"""For each worker; one that dies more often has a cause that a new one would meet too."""

POLL_SECONDS = 0.5


def work_in_processes(job: Job, *, on_trials: OnTrials, say: Callable[[str], None]) -> None:
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


def _worker(job: Job, complaints: SimpleQueue[str]) -> None:
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
        worker.join(timeout=10)
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
