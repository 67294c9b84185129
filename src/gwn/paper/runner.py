"""Compute the cells that are missing: each once, by whichever process comes first, and none lost when one is killed."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

import torch
from filelock import Timeout

from gwn.errors import GWNError
from gwn.paper.cell import Cell
from gwn.paper.measure import OnStep, Workplace, measure_cell
from gwn.paper.records import cell_file, read_cell
from gwn.tuning.storage import machine_lock

OnCell = Callable[[Cell, str], None]
"""Called with a cell that is finished, and why it could not be measured, "" where it was."""


def missing(cells: Sequence[Cell], place: Workplace) -> list[Cell]:
    """The cells without a record; a record that was cut or edited is an error, not a reason to compute it again."""
    return [cell for cell in cells if read_cell(place.results, cell) is None]


def compute(
    cells: Sequence[Cell],
    place: Workplace,
    *,
    jobs: int = 1,
    deadline: float = float("inf"),
    on_cell: OnCell,
    on_step: OnStep = lambda _: None,
) -> None:
    """Measure the missing ones of `cells` in order, in this process or in `jobs` others; none is begun after `deadline`
    (`time.time()`).

    A cell that another process is at is left to it.
    """
    todo = missing(cells, place)
    if jobs == 1:
        for cell in todo:
            if time.time() < deadline:
                on_cell(cell, _measure_alone(cell, place, on_step))
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        running: dict[Future[str], Cell] = {}
        try:
            while todo or running:
                while todo and len(running) < jobs and time.time() < deadline:
                    cell = todo.pop(0)
                    running[pool.submit(_measure_alone, cell, place)] = cell
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    on_cell(running.pop(future), future.result())
        except BrokenProcessPool:
            raise GWNError("a worker was killed, perhaps out of memory; the same command continues") from None
        except BaseException:
            for process in list(pool._processes.values()):  # an interrupted cell continues from its trials and runs
                process.terminate()
            raise


def _measure_alone(cell: Cell, place: Workplace, on_step: OnStep = lambda _: None) -> str:
    """Measure a cell unless another process has it or is at it; the reason where it cannot be measured."""
    lock = machine_lock(f"cell {cell_file(place.results, cell).resolve()}")
    try:
        with lock.acquire(timeout=0):
            if read_cell(place.results, cell) is None:
                measure_cell(cell, place, on_step)
    except Timeout:
        return "another process is at it"
    except (GWNError, RuntimeError, MemoryError) as error:
        return " ".join(str(error).split()) or type(error).__name__
    return ""
