"""A fault at the n-th operation on files, for every n: afterwards the old state or the new one, never a third.

Counted are raw writes, syncs, renames, new files and removals within the folder of the command. At the n-th one the
process is killed, or the operation fails as on a full disk, or half of the bytes are written and then it is killed.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .arena import Outcome, fresh, leftovers, published, run
from .subjects import Subject, only_run

KINDS = ("kill", "fail", "cut")
WRITE = b"w"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What happens at operation `at` (from 1); 0 counts them alone."""

    at: int
    kind: str = "kill"


class Counter:
    """Counts operations below a folder in this process, and makes one of them go wrong."""

    def __init__(self, fault: Fault, folder: Path, tally: Path | None) -> None:
        self.fault, self.folder, self.tally, self.count = fault, str(folder.resolve()), tally, 0

    def step(self, path: Any, half: Callable[[], None] | None = None) -> None:
        """One operation is about to happen; `half` does a part of it."""
        place = os.path.realpath(os.fspath(path)) if not isinstance(path, int) else os.readlink(f"/proc/self/fd/{path}")
        if not place.startswith(self.folder):
            return
        self.count += 1
        if self.tally is not None:
            _append(self.tally, b"." if half is None else WRITE)
        if self.count != self.fault.at:
            return
        if self.fault.kind == "fail":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), place)
        if self.fault.kind == "cut" and half is not None:
            half()
        os.kill(os.getpid(), signal.SIGKILL)

    def install(self) -> None:
        """Put itself before the system's functions."""
        counter, real_open = self, io.open

        class Raw(io.FileIO):
            def write(self, data: Any) -> int:
                view = memoryview(data).cast("B")
                counter.step(self.fileno(), lambda: _ignore(super(Raw, self).write(view[: len(view) // 2])))
                written = super().write(view)
                return written if written is not None else 0

        def opened(file: Any, mode: str = "r", buffering: int = -1, *rest: Any, **named: Any) -> Any:
            if isinstance(file, int) or not set(mode) & set("wax+"):
                return real_open(file, mode, buffering, *rest, **named)
            raw = Raw(file, mode.replace("b", "").replace("t", ""), opener=named.get("opener"))
            if buffering == 0:
                return raw
            buffered: Any = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            if "b" in mode:
                return buffered
            encoding = named.get("encoding") or (rest[0] if rest else None)
            return io.TextIOWrapper(buffered, encoding, named.get("errors"), named.get("newline"))

        io.open = builtins.open = opened
        for name in ("fsync", "replace", "rename", "unlink", "mkdir", "chmod", "ftruncate"):
            setattr(os, name, _counted(getattr(os, name), self))
        import gwn.io

        gwn.io._exchange = _counted(gwn.io._exchange, self)


def _counted(real: Callable[..., Any], counter: Counter) -> Callable[..., Any]:
    def counted(path: Any, *rest: Any, **named: Any) -> Any:
        counter.step(path)
        return real(path, *rest, **named)

    return counted


def _append(tally: Path, mark: bytes) -> None:
    handle = os.open(tally, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(handle, mark)
    os.close(handle)


def _ignore(value: object) -> None:
    """A value that does not matter."""


def prepared(subject: Subject, template: Path, place: Path) -> Path:
    """A folder in which the command can be run."""
    fresh(template, place)
    for arguments in subject.before:
        made = run(arguments, place)
        if made.code != 0:
            raise RuntimeError(f"{subject.name}: {made.err}")
    if subject.name == "predict":
        for folder in list(only_run(place / "runs")):
            folder.rename(place / "runs" / "only")
    return place


@dataclass(frozen=True, kw_only=True)
class Undisturbed:
    """A subject before its command, and after it without a fault.

    work         where every attempt is made: records name the files that they came from
    operations   a mark for each, `WRITE` for those that write
    """

    subject: Subject
    before: Path
    work: Path
    old: dict[str, Any]
    new: dict[str, Any]
    operations: bytes

    @property
    def faults(self) -> list[Fault]:
        """Every kind at every operation; only a write can be done by half."""
        return [
            Fault(at=at, kind=kind)
            for at, operation in enumerate(self.operations, 1)
            for kind in KINDS
            if kind != "cut" or operation == WRITE[0]
        ]


def undisturbed(subject: Subject, template: Path, place: Path) -> Undisturbed:
    """Run the command once, and count its operations."""
    before = prepared(subject, template, place / "before")
    after, tally = fresh(before, place / "work"), place / "tally"
    tally.unlink(missing_ok=True)
    done = run(subject.arguments, after, prepare=Counter(Fault(at=0), after, tally).install)
    if done.code != 0:
        raise RuntimeError(f"{subject.name}: {done.err}")
    return Undisturbed(
        subject=subject,
        before=before,
        work=after,
        old=published(before),
        new=published(after),
        operations=tally.read_bytes(),
    )


def inject(whole: Undisturbed, fault: Fault) -> str:
    """What is wrong after the fault, or after the same command once more; "" where nothing is."""
    work = fresh(whole.before, whole.work)
    hit = run(whole.subject.arguments, work, prepare=Counter(fault, work, None).install)
    trouble = _after(whole, fault, hit, work)
    if trouble:
        return trouble
    again = run(whole.subject.arguments, work)
    if again.code != 0 and not _is_done(whole, work, again):
        return f"the same command then: {again.complaint() or again.err.strip()}"
    now = published(work)
    if now != whole.new:
        return f"another result in the end: {_difference(now, whole.new)}"
    left = leftovers(work)
    return f"left behind: {left}" if left else ""


def _is_done(whole: Undisturbed, work: Path, again: Outcome) -> bool:
    """A command without --force refuses to write what the disturbed one had finished."""
    return again.code == 2 and "exists" in again.err and published(work) == whole.new


def _after(whole: Undisturbed, fault: Fault, hit: Outcome, work: Path) -> str:
    from gwn.cli.verify import findings

    if fault.kind == "fail":
        trouble = hit.complaint()
        if trouble:
            return f"a failing operation: {trouble}"
    elif hit.code not in (-signal.SIGKILL, 0):
        return f"killed, and it ended with {hit.code}: {hit.err[-200:]}"
    for name, content in published(work).items():
        if content not in (whole.old.get(name), whole.new.get(name)) and not name.endswith(("result.json", "log")):
            return f"a third state of {name}"
    wrong = [found.remark for found in findings(work) if found.wrong]
    return f"damaged: {wrong[0]}" if wrong else ""


def _difference(now: dict[str, Any], then: dict[str, Any]) -> str:
    names = sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))
    return ", ".join(names[:4])
