"""`python -m tests.attack`: the whole campaign or a part of it, seeded, bounded in time, gone on with where it stopped.

faults      a fault at every operation on files of every command that writes
kills       a thousand kills at random moments
mutations   ten thousand mutated inputs
flips       flipped bits in every stored file, through commands and through `gwn verify`
crowds      many processes in one folder
bounds      beyond reason, damaged, or not a file at all: reproducers that are made in a moment
corpus      reproducers that are files
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

from filelock import FileLock

from gwn.io import write_atomic

from . import arena, bounds, corpus, faults, flips, kills, mutations
from .subjects import SUBJECTS, Subject, write_tables

Attempt = tuple[str, str]
"""Its name, and what is wrong ("" where nothing is)."""

BATCH = 20
BLOCK = 50
"""So many faults in a row are one process's: they leave the same states again and again."""
ROUND = (*[subject for subject in SUBJECTS if not subject.slow] * 4, *[subject for subject in SUBJECTS if subject.slow])
"""Who is killed in turn: slow commands a quarter as often as the others."""


class Campaign:
    """Attempts by part; what was done is kept in a file, so that the same command goes on.

    share   (k, n): the k-th of n processes that work on the same campaign
    """

    def __init__(
        self,
        place: Path,
        out: Path | None,
        deadline: float,
        scale: dict[str, float],
        seed: int,
        share: tuple[int, int] = (0, 1),
    ) -> None:
        self.place, self.out, self.deadline, self.scale, self.seed = place, out, deadline, scale, seed
        self.share = share
        self.parts = self._kept()
        self.ready: dict[str, faults.Undisturbed] = {}
        self.tables = place / "tables"
        self.tables.mkdir()
        write_tables(self.tables)

    def entry(self, part: str) -> str:
        """What a part is called in the record."""
        k, n = self.share
        return part if n == 1 else f"{part} {k}/{n}"

    def count(self, part: str, whole: int) -> int:
        """How many attempts of `whole` at this scale."""
        return max(1, round(whole * self.scale[part]))

    def run(self, name: str, attempts: Callable[[int], Iterator[Attempt]]) -> None:
        """Make the attempts of a part from where it stopped, until it is done or the time is over."""
        name = self.entry(name)
        part = self.parts.setdefault(name, {"attempts": 0, "violations": [], "seconds": 0.0, "done": False})
        if part["done"]:
            return
        begun, before = time.monotonic(), part["seconds"]
        for label, trouble in attempts(part["attempts"]):
            part["attempts"] += 1
            part["seconds"] = round(before + time.monotonic() - begun, 1)
            if trouble:
                part["violations"].append(f"{label}: {trouble}")
                print(f"  {name}: {label}: {trouble}", file=sys.stderr, flush=True)
            if part["attempts"] % 50 == 0:
                self.keep(name)
            if time.monotonic() > self.deadline:
                break
        else:
            part["done"] = True
        self.keep(name)

    def keep(self, name: str) -> None:
        """Write what was done of a part; another process may be busy with another one."""
        if self.out is None:
            return
        self.out.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{self.out}.lock"):
            parts = {**self._kept(), name: self.parts[name]}
            whole = {"scale": self.scale, "seed": self.seed, "parts": parts}
            write_atomic(self.out, (json.dumps(whole, indent=2) + "\n").encode())

    def _kept(self) -> dict[str, Any]:
        """What an earlier call did, where it had the same scale and seed."""
        kept = json.loads(self.out.read_text()) if self.out is not None and self.out.exists() else {}
        same = (kept.get("scale"), kept.get("seed")) == (self.scale, self.seed)
        return dict(kept["parts"]) if same else {}

    def undisturbed(self, subject: Subject) -> faults.Undisturbed:
        if subject.name not in self.ready:
            place = self.place / subject.name.replace(" ", "-")
            self.ready[subject.name] = faults.undisturbed(subject, self.tables, place)
        return self.ready[subject.name]

    def bounds(self, first: int) -> Iterator[Attempt]:
        k, n = self.share
        for case in bounds.CASES[k::n][first:]:
            yield case.name, bounds.attack(case, arena.fresh(self.tables, self.place / "case"))

    def faults(self, first: int) -> Iterator[Attempt]:
        """All of them at full scale; below it every third, of every kind in turn, and a tenth of slow commands."""
        done, number, (k, n) = 0, 0, self.share
        for subject in SUBJECTS:
            sweep = faults.Sweep(self.undisturbed(subject))
            every = 1 if self.scale["faults"] == 1 else 10 if subject.slow else 3
            for fault in sweep.whole.faults[::every]:
                number += 1
                if number // BLOCK % n != k:
                    continue
                done += 1
                if done > first:
                    yield f"{subject.name}, {fault.kind} at {fault.at}", sweep.inject(fault)

    def kills(self, first: int) -> Iterator[Attempt]:
        """Commands that are killed and begun again, until a thousand kills have hit one."""
        takes: dict[str, float] = {}
        (k, n), part = self.share, self.parts[self.entry("kills")]
        wanted = -(-self.count("kills", 1000) // n)
        for number in count(k + first * n, n):
            if part.setdefault("kills", 0) >= wanted:
                return
            subject = ROUND[number % len(ROUND)]
            whole = self.undisturbed(subject)
            if subject.name not in takes:
                work = arena.fresh(whole.before, whole.work)
                takes[subject.name] = arena.run(subject.arguments, work, prepare=subject.prepare).seconds
            hits, trouble = kills.kill(whole, self.seed + number, takes[subject.name])
            part["kills"] += hits
            yield f"{subject.name}, seed {self.seed + number}, {hits} kills", trouble

    def corpus(self, first: int) -> Iterator[Attempt]:
        whole = self.inputs()
        k, n = self.share
        for form, path in list(corpus.cases())[k::n][first:]:
            yield f"{form.name}, {path.parent.name}", corpus.attack(form, path, whole, self.place)

    def inputs(self) -> Path:
        """Inputs of every format, unharmed; made once."""
        folder = self.place / "inputs"
        return folder if folder.exists() else mutations.template(folder)

    def mutations(self, first: int) -> Iterator[Attempt]:
        whole = self.inputs()
        total = self.count("mutations", 10_000)
        slow = [form for form in mutations.FORMATS if form.slow]
        forms = [*[form for form in mutations.FORMATS if not form.slow] * 6, *slow]
        k, n = self.share
        numbers = range(k, total, n)[first:]
        for start in range(0, len(numbers), BATCH):
            jobs = [(forms[number % len(forms)], self.seed + number) for number in numbers[start : start + BATCH]]
            for form, seed, target, trouble in mutations.attack(jobs, whole, self.place):
                if trouble:
                    corpus.keep(form, f"seed {seed}", target)
                yield f"{form.name}, seed {seed}", trouble

    def flips(self, first: int) -> Iterator[Attempt]:
        stored = list(flips.stores(self.tables, self.place))
        k, n = self.share
        for number in range(k, self.count("flips", 600), n)[first:]:
            each = stored[number % len(stored)]
            yield f"{each.name}, seed {number}", flips.attack(each, self.seed + number, self.place)
            for inner in range(10):
                trouble = flips.overlooked(each, self.seed + 10 * number + inner, self.place / each.name)
                if trouble:
                    yield f"{each.name}, verify, seed {10 * number + inner}", trouble

    def crowds(self, first: int) -> Iterator[Attempt]:
        k, n = self.share
        for number in range(k, self.count("crowds", 70), n)[first:]:
            whole = self.undisturbed(SUBJECTS[number % len(SUBJECTS)])
            yield whole.subject.name, kills.crowd(whole)


SMALL = {"bounds": 1.0, "corpus": 1.0, "faults": 0.5, "crowds": 0.1, "flips": 0.05, "kills": 0.014, "mutations": 0.05}
PARTS = ("bounds", "corpus", "faults", "crowds", "flips", "kills", "mutations")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("parts", nargs="*", default=PARTS, help=f"of {', '.join(PARTS)}; all of them unless named")
    parser.add_argument("--minutes", type=float, default=90.0, help="stop after so long; the same command goes on")
    parser.add_argument("--small", action="store_true", help="the share of it that the tests take")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", default="0/1", help="0/2 and 1/2: two processes that work on the same campaign")
    parser.add_argument("--out", type=Path, default=Path("results/attack.json"), help="what was done; - for nothing")
    given = parser.parse_args()
    for name in given.parts:
        if name not in PARTS:
            parser.error(f"unknown part {name!r}; there are {', '.join(PARTS)}")
    place = Path(tempfile.mkdtemp(prefix="gwn-attack-", dir=_in_memory()))
    tempfile.tempdir = str(place)  # where the details of unexpected errors go
    arena.load()
    try:
        out = None if str(given.out) == "-" else given.out.resolve()
        scale = SMALL if given.small else dict.fromkeys(PARTS, 1.0)
        k, n = map(int, given.share.split("/"))
        campaign = Campaign(place, out, time.monotonic() + 60 * given.minutes, scale, given.seed, (k, n))
        for name in given.parts:
            if time.monotonic() < campaign.deadline:
                campaign.run(name, getattr(campaign, name))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    sys.exit(report(together(campaign.parts)))


def _in_memory() -> str | None:
    """A disk in memory, where there is one: a killed process leaves the same there, and syncing takes no time."""
    disk = "/dev/shm"
    return disk if os.access(disk, os.W_OK) and shutil.disk_usage(disk).free > 1 << 30 else None


def together(kept: dict[str, Any]) -> dict[str, Any]:
    """The parts of a record; those that several processes shared are added up."""
    found: dict[str, Any] = {}
    for name in PARTS:
        shares = {each: part for each, part in kept.items() if each.split()[0] == name}
        if not shares:
            continue
        n = max(int(each.partition("/")[2] or 1) for each in shares)
        found[name] = {
            "attempts": sum(part["attempts"] for part in shares.values()),
            "violations": [line for part in shares.values() for line in part["violations"]],
            "seconds": sum(part["seconds"] for part in shares.values()),
            "done": len(shares) == n and all(part["done"] for part in shares.values()),
        }
        if name == "kills":
            found[name]["kills"] = sum(part["kills"] for part in shares.values())
    return found


def report(parts: dict[str, Any]) -> int:
    """Print the table; 1 where anything was violated."""
    print(f"{'part':<12}{'attempts':>10}{'violations':>12}{'seconds':>10}  whole")
    for name, part in parts.items():
        whole = "yes" if part["done"] else "no: run it again to go on"
        if "kills" in part:
            whole += f", {part['kills']} kills"
        print(f"{name:<12}{part['attempts']:>10}{len(part['violations']):>12}{part['seconds']:>10.0f}  {whole}")
    return int(any(part["violations"] for part in parts.values()))


if __name__ == "__main__":
    main()
