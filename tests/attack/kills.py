"""Kills at any moment, several in a row, and many processes at once: the result is that of the undisturbed run."""

from __future__ import annotations

import random

from .arena import finish, fresh, run, start
from .faults import Undisturbed, damage, in_the_end


def kill(whole: Undisturbed, seed: int, duration: float) -> tuple[int, str]:
    """Kill a command one to three times, then let it end: how many kills hit it, and what is wrong in the end.

    duration   seconds that the command takes
    """
    rng = random.Random(f"{whole.subject.name} {seed}")
    work = fresh(whole.before, whole.work)
    hits = 0
    for _ in range(rng.randint(1, whole.subject.most_kills)):
        moment = rng.uniform(0.0, 1.1 * duration)
        hit = run(whole.subject.arguments, work, prepare=whole.subject.prepare, kill_after=moment)
        hits += hit.code == -9
        if trouble := damage(work):
            return hits, trouble
    return hits, in_the_end(whole)


def crowd(whole: Undisturbed, many: int = 4) -> str:
    """The same command several times at once in one folder; what is wrong afterwards."""
    work = fresh(whole.before, whole.work)
    started = [start(whole.subject.arguments, work, prepare=whole.subject.prepare) for _ in range(many)]
    ended = [finish(*each) for each in started]
    for done in ended:
        if trouble := done.complaint():
            return f"one of {many}: {trouble}"
    if not any(done.code == 0 for done in ended):
        return f"none of {many} ended well: {ended[0].err.strip()}"
    return damage(work) or in_the_end(whole)
