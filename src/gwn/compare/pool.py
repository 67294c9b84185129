"""Workers of a comparison: processes that are given tasks, or this process where the data cannot be opened again."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from gwn.compare.worker import Answer, Workshop
from gwn.errors import GWNError

GRACE = 10.0
"""Seconds that a task may take beyond its limit, to end by itself."""
DEATHS = 6
"""So many workers may die before the comparison gives up; each takes with it only the task that it had."""


class Pool(Protocol):
    """Where tasks are done. A task is known by the key that it was given with."""

    @property
    def free(self) -> int: ...
    def submit(self, key: Any, task: Mapping[str, Any], limit: float) -> None: ...
    def wait(self, seconds: float) -> list[tuple[Any, Answer]]: ...
    def close(self) -> None: ...


class Here:
    """Tasks done at once, in this process."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        self._done: list[tuple[Any, Answer]] = []

    @property
    def free(self) -> int:
        return 0 if self._done else 1

    def submit(self, key: Any, task: Mapping[str, Any], limit: float) -> None:
        self._done.append((key, self.workshop.do(task)))

    def wait(self, seconds: float) -> list[tuple[Any, Answer]]:
        done, self._done = self._done, []
        return done

    def close(self) -> None:
        pass


@dataclass(eq=False)
class _Worker:
    process: subprocess.Popen[str]
    ready: bool = False
    key: Any = None
    deadline: float = float("inf")
    slow: bool = False


@dataclass
class Processes:
    """`jobs` processes of one thread each; they end when this process does, however it ends.

    start   what each is told first, see `open_workshop`
    """

    jobs: int
    start: Mapping[str, Any]
    _workers: list[_Worker] = field(default_factory=list)
    _said: queue.Queue[tuple[_Worker, str | None]] = field(default_factory=queue.Queue)
    _deaths: int = 0

    def __post_init__(self) -> None:
        for _ in range(self.jobs):
            self._add()

    @property
    def free(self) -> int:
        return sum(worker.ready and worker.key is None for worker in self._workers)

    def submit(self, key: Any, task: Mapping[str, Any], limit: float) -> None:
        worker = next(worker for worker in self._workers if worker.ready and worker.key is None)
        worker.key, worker.deadline = key, time.monotonic() + limit + GRACE
        self._tell(worker, task)

    def wait(self, seconds: float) -> list[tuple[Any, Answer]]:
        """What was finished meanwhile, after at most so many seconds."""
        found: list[tuple[Any, Answer]] = []
        until = time.monotonic() + seconds
        while not found and (left := until - time.monotonic()) > 0:
            for worker in self._workers:
                if worker.key is not None and time.monotonic() > worker.deadline:
                    worker.slow = True
                    worker.process.kill()
            try:
                worker, line = self._said.get(timeout=min(left, 0.5))
            except queue.Empty:
                continue
            found.extend(self._heard(worker, line))
        return found

    def close(self) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.wait()
        self._workers.clear()

    def _heard(self, worker: _Worker, line: str | None) -> list[tuple[Any, Answer]]:
        if worker not in self._workers:
            return []
        key = worker.key
        if line is None:
            self._workers.remove(worker)
            self._deaths += 1
            why = _death(worker)
            if self._deaths > DEATHS or not worker.ready:
                raise GWNError(f"workers keep dying ({why}); what was finished is kept, the same command continues")
            self._add()
            return [] if key is None else [(key, {"failed": why, "died": True})]
        answer: Answer = json.loads(line)
        if "refused" in answer:
            raise GWNError(answer["refused"])
        if "ready" in answer:
            worker.ready = True
            return []
        worker.key, worker.deadline = None, float("inf")
        return [(key, answer)]

    def _add(self) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", "gwn.compare.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C is heard here, and told once
        )
        worker = _Worker(process)
        self._workers.append(worker)
        threading.Thread(target=self._listen, args=(worker,), daemon=True).start()
        self._tell(worker, self.start)

    def _listen(self, worker: _Worker) -> None:
        assert worker.process.stdout is not None
        for line in worker.process.stdout:
            self._said.put((worker, line))
        worker.process.wait()
        self._said.put((worker, None))

    @staticmethod
    def _tell(worker: _Worker, said: Mapping[str, Any]) -> None:
        assert worker.process.stdin is not None
        try:
            worker.process.stdin.write(json.dumps(said) + "\n")
            worker.process.stdin.flush()
        except BrokenPipeError:  # its listener says that it died
            pass


def _death(worker: _Worker) -> str:
    if worker.slow:
        return "one step took longer than its share of the time"
    code = worker.process.returncode or 0
    if code == -signal.SIGKILL:
        return "its process was killed, perhaps for lack of memory"
    return f"its process ended by signal {-code}" if code < 0 else f"its process ended with code {code}"
