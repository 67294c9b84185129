"""Cells and runs in several processes of one thread each."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import TypeVar

import torch

from gwn.errors import GWNError

Item = TypeVar("Item")
Found = TypeVar("Found")


def in_processes(function: Callable[[Item], Found], work: Iterable[Item], jobs: int) -> Iterator[tuple[Item, Found]]:
    """(item, what `function` found of it) as they are finished; the next item is asked for when a process is free."""
    context, waiting = multiprocessing.get_context("spawn"), iter(work)
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        running: dict[Future[Found], Item] = {}
        try:
            while True:
                for item in islice(waiting, jobs - len(running)):
                    running[pool.submit(function, item)] = item
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
        except BrokenProcessPool:
            raise GWNError("a worker was killed, perhaps out of memory; the same command continues") from None
        except BaseException:
            for process in list(pool._processes.values()):  # what was interrupted continues from its trials and runs
                process.terminate()
            raise
