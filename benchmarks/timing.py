"""Milliseconds of a step: competitors take turns, and the fastest turn counts."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

from gwn.errors import GWNError

Step = Callable[[], object]
Clock = Callable[[], float]


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Milliseconds of one step: the fastest, the median, and how many were timed."""

    best: float
    median: float
    repeats: int

    def to_json(self) -> dict[str, Any]:
        return {"best_ms": self.best, "median_ms": self.median, "repeats": self.repeats}


@contextmanager
def fixed_threads(count: int) -> Iterator[None]:
    """PyTorch with `count` threads, the former number afterwards."""
    if count < 1:
        raise GWNError(f"threads must be at least 1; got {count}")
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def measure(
    steps: Mapping[str, Step],
    *,
    seconds: float = 5.0,
    turn: float = 0.05,
    least: int = 5,
    warmup: int = 2,
    clock: Clock = time.perf_counter,
) -> dict[str, Timing]:
    """Time every step, round robin, so that a disturbance of the machine hits all of them alike.

    seconds   a step leaves the round once it has used so much time and has been timed `least` times
    turn      one turn repeats a step for so long, at least twice: in training an epoch follows an epoch of the same
              model, so a step must not always find the caches full of a competitor's data

    The minimum, because whatever disturbs can only add. Ratios of medians are in the JSON beside it.
    """
    turn = min(turn, seconds)
    for step in steps.values():
        for _ in range(warmup):
            step()
    times: dict[str, list[float]] = {name: [] for name in steps}
    collecting = gc.isenabled()
    gc.collect()
    gc.freeze()  # what is there already need not be looked through again between the rounds
    gc.disable()  # as timeit does: a collection belongs to nobody in particular
    try:
        active = list(steps)
        while active:
            for name in active:
                _take_turn(steps[name], times[name], turn, clock)
            gc.collect()
            active = [name for name in active if sum(times[name]) < seconds or len(times[name]) < least]
    finally:
        gc.unfreeze()
        if collecting:
            gc.enable()
    return {
        name: Timing(best=1e3 * min(taken), median=1e3 * median(taken), repeats=len(taken))
        for name, taken in times.items()
    }


def _take_turn(step: Step, times: list[float], turn: float, clock: Clock) -> None:
    begin, count = clock(), 0
    while count < 2 or clock() - begin < turn:
        started = clock()
        step()
        times.append(clock() - started)
        count += 1
