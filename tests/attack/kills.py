"""Kills at any moment, several in a row, and many processes at once: the result is that of the undisturbed run."""

from __future__ import annotations

import random
from pathlib import Path

from .arena import finish, fresh, leftovers, published, run, start
from .faults import Undisturbed


def kill(whole: Undisturbed, seed: int, duration: float) -> tuple[int, str]:
    """Kill a command one to three times, then let it end: how many kills hit it, and what is wrong in the end.

    duration   seconds that the command takes
    """
    from gwn.cli.verify import findings

    rng = random.Random(f"{whole.subject.name} {seed}")
    work = fresh(whole.before, whole.work)
    hits = 0
    for _ in range(rng.choice((1, 2, 3))):
        hit = run(whole.subject.arguments, work, kill_after=rng.uniform(0.0, 1.1 * duration))
        hits += hit.code == -9
        wrong = [found.remark for found in findings(work) if found.wrong]
        if wrong:
            return hits, f"damaged: {wrong[0]}"
    return hits, _in_the_end(whole, work)


def _in_the_end(whole: Undisturbed, work: Path) -> str:
    done = run(whole.subject.arguments, work)
    if done.code != 0 and not (done.code == 2 and "exists" in done.err):
        return f"then: {done.complaint() or done.err.strip()}"
    now = published(work)
    different = sorted(name for name in now.keys() | whole.new.keys() if now.get(name) != whole.new.get(name))
    if different:
        return f"another result: {', '.join(different[:3])}"
    left = leftovers(work)
    return f"left behind: {left}" if left else ""


def crowd(whole: Undisturbed, many: int = 4) -> str:
    """The same command several times at once in one folder; what is wrong afterwards."""
    from gwn.cli.verify import findings

    work = fresh(whole.before, whole.work)
    started = [start(whole.subject.arguments, work) for _ in range(many)]
    ended = [finish(*each) for each in started]
    for done in ended:
        if trouble := done.complaint():
            return f"one of {many}: {trouble}"
    if not any(done.code == 0 for done in ended):
        return f"none of {many} ended well: {ended[0].err.strip()}"
    wrong = [found.remark for found in findings(work) if found.wrong]
    if wrong:
        return f"damaged: {wrong[0]}"
    return _in_the_end(whole, work)
