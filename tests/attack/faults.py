"""An accident at the n-th operation on files, for every n: afterwards the old state or the new one, never a third.

The command is run once on a watched disk (`disk.py`), which keeps what a kill, a cut write or a power failure would
leave at every operation. Many of these states are the same; in each different one the files are looked at, and the same
command is run to its end. For an operation that fails the command is run with that failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from .arena import Outcome, fresh, leftovers, published, run
from .disk import Disk
from .subjects import Subject, call_it_only


@dataclass(frozen=True, kw_only=True)
class Fault:
    """An accident of a kind at operation `at` (from 1).

    state   what it leaves, a folder of the watched run; "" where the command has to be run for it
    """

    at: int
    kind: str
    state: str = ""


@dataclass(frozen=True, kw_only=True)
class Undisturbed:
    """A subject before its command, and after it without a fault.

    work     where every attempt is made: records name the files that they came from
    states   folders with what accidents leave
    """

    subject: Subject
    before: Path
    work: Path
    states: Path
    old: dict[str, Any]
    new: dict[str, Any]
    faults: tuple[Fault, ...]


def prepared(subject: Subject, template: Path, place: Path) -> Path:
    """A folder in which the command can be run."""
    fresh(template, place)
    for arguments in subject.before:
        made = run(arguments, place, prepare=subject.prepare)
        if made.code != 0:
            raise RuntimeError(f"{subject.name}: {made.err}")
    if subject.on_run:
        call_it_only(place / "runs")
    return place


def undisturbed(subject: Subject, template: Path, place: Path) -> Undisturbed:
    """Run the command once, and keep what an accident at each of its operations would leave."""
    before = prepared(subject, template, place / "before")
    after, states = fresh(before, place / "work"), place / "states"
    states.mkdir()
    disk = Disk(after, states=states)
    done = run(subject.arguments, after, prepare=partial(disk.install, subject.prepare), ended=disk.ended)
    if done.code != 0:
        raise RuntimeError(f"{subject.name}: {done.err}")
    return Undisturbed(
        subject=subject,
        before=before,
        work=after,
        states=states,
        old=published(before),
        new=published(after),
        faults=tuple(_faults(states / "list")),
    )


def _faults(kept: Path) -> Iterator[Fault]:
    """What was kept, and a failure of every operation; after the last one nothing is left to fail."""
    lines = [line.split() for line in kept.read_text().splitlines()]
    last = int(lines[-1][0])
    for number, kind, state in lines:
        if kind == "kill" and int(number) < last:
            yield Fault(at=int(number), kind="fail")
        yield Fault(at=int(number), kind=kind, state=state)


class Sweep:
    """Faults of one subject one after the other; a state that was there before has been looked at."""

    def __init__(self, whole: Undisturbed) -> None:
        self.whole, self.last = whole, max(fault.at for fault in whole.faults)
        self.seen: dict[str, str] = {}

    def inject(self, fault: Fault) -> str:
        """What is wrong after the fault, or after the same command once more; "" where nothing is."""
        ended = self.whole.subject.repeatable and fault.at == self.last
        if fault.state and (found := self.seen.get(fault.state)) is not None and not ended:
            return found
        trouble = self._after(fault, ended)
        state = fault.state or _left(self.whole.work)
        if not trouble and (fault.state or state not in self.seen):
            trouble = in_the_end(self.whole)
        self.seen[state] = trouble
        return trouble

    def _after(self, fault: Fault, ended: bool) -> str:
        whole = self.whole
        if fault.state:
            work = fresh(whole.states / fault.state, whole.work)
        else:
            work = fresh(whole.before, whole.work)
            disk = Disk(work, fail_at=fault.at)
            hit = run(whole.subject.arguments, work, prepare=partial(disk.install, whole.subject.prepare))
            if trouble := hit.complaint():
                return f"a failing operation: {trouble}"
        now = published(work)
        if ended and now != whole.new:
            return f"not on the disk when the command ended: {_difference(now, whole.new)}"
        for name, content in now.items():
            known = content in (whole.old.get(name), whole.new.get(name))
            if whole.subject.repeatable and not known and not name.endswith(whole.subject.growing):
                return f"a third state of {name}"
        return damage(work)


def _left(work: Path) -> str:
    """What a command left, clocks and its own number aside: the same again goes on to the same end."""
    digest = sha256(repr(sorted(published(work).items())).encode())
    for path in sorted(work.rglob("*")):
        private = path.name.startswith(".")
        digest.update(re.sub(r"-\d+.*", "", path.name).encode() if private else str(path).encode())
        if path.suffix == ".checkpoint" and not private:
            digest.update(path.read_bytes())
    return digest.hexdigest()


def in_the_end(whole: Undisturbed) -> str:
    """Run the command once more where something happened to it; what is wrong then."""
    work = whole.work
    again = run(whole.subject.arguments, work, prepare=whole.subject.prepare)
    now = published(work)
    if again.code != 0 and not _is_done(whole, again, now):
        return f"the same command then: {again.complaint() or again.err.strip()}"
    if whole.subject.repeatable and now != whole.new:
        return f"another result in the end: {_difference(now, whole.new)}"
    if trouble := damage(work):
        return trouble
    left = leftovers(work)
    return f"left behind: {left}" if left else ""


def damage(work: Path) -> str:
    """What `gwn verify` finds wrong."""
    from gwn.cli.verify import findings

    wrong = [found.remark for found in findings(work) if found.wrong]
    return f"damaged: {wrong[0]}" if wrong else ""


def _is_done(whole: Undisturbed, again: Outcome, now: dict[str, Any]) -> bool:
    """A command without --force refuses to write what the disturbed one had finished."""
    return again.code == 2 and "exists" in again.err and now == whole.new


def _difference(now: dict[str, Any], then: dict[str, Any]) -> str:
    names = sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))
    return ", ".join(names[:4])
