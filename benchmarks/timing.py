"""Milliseconds of a step: competitors take turns, and the fastest turn counts."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

Step = Callable[[], object]
Clock = Callable[[], float]
LONG = 1.0
"""Seconds of a step that need not be repeated within a turn."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Milliseconds of one step, the mean of a turn: in the fastest turn, in the median one, and how many there were."""

    best: float
    median: float
    repeats: int

    def to_json(self) -> dict[str, Any]:
        return {"best_ms": self.best, "median_ms": self.median, "repeats": self.repeats}


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

    seconds   a step leaves the round once it has used so much time and had `least` turns
    turn      one turn repeats a step for so long, at least twice: in training an epoch follows an epoch of the same
              model, so a step must not always find the caches full of a competitor's data. The clock is read before and
              after a turn alone: that of the processor may stand still between two readings that are close together.
              A step of more than a second is a turn: it does not notice what was in the caches before

    The minimum, because whatever disturbs can only add. Ratios of medians are in the JSON beside it.
    """
    turn = min(turn, seconds)
    used = dict.fromkeys(steps, 0.0)
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
                taken, count = _take_turn(steps[name], turn, clock)
                times[name].append(taken / count)
                used[name] += taken
            gc.collect()
            active = [name for name in active if used[name] < seconds or len(times[name]) < least]
    finally:
        gc.unfreeze()
        if collecting:
            gc.enable()
    return {
        name: Timing(best=1e3 * min(each), median=1e3 * median(each), repeats=len(each)) for name, each in times.items()
    }


def _take_turn(step: Step, turn: float, clock: Clock) -> tuple[float, int]:
    """Seconds of a turn, and how many steps it had."""
    begin, count, taken = clock(), 0, 0.0
    while taken < turn or (count < 2 and taken < LONG):
        step()
        count += 1
        taken = clock() - begin
    return taken, count
