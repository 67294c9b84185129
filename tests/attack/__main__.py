"""`python -m tests.attack`: the whole campaign or a part of it, seeded, bounded in time, gone on with where it stopped.

faults      a fault at every operation on files of every command that writes
kills       a thousand kills at random moments
mutations   ten thousand mutated inputs
flips       flipped bits in every stored file, through commands and through `gwn verify`
crowds      many processes in one folder
bounds      the corpus: everything that once went wrong
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

from . import arena, bounds, faults, flips, kills, mutations
from .subjects import SUBJECTS, write_tables

Attempt = tuple[str, str]
"""Its name, and what is wrong ("" where nothing is)."""

BATCH = 20


class Campaign:
    """Attempts by part; what was done is kept in a file, so that the same command goes on."""

    def __init__(self, place: Path, out: Path | None, deadline: float, scale: dict[str, float], seed: int) -> None:
        self.place, self.out, self.deadline, self.scale, self.seed = place, out, deadline, scale, seed
        kept = json.loads(out.read_text()) if out is not None and out.exists() else {}
        same = (kept.get("scale"), kept.get("seed")) == (scale, seed)
        self.parts: dict[str, Any] = kept.get("parts", {}) if same else {}
        self.tables = place / "tables"
        self.tables.mkdir()
        write_tables(self.tables)

    def count(self, part: str, whole: int) -> int:
        """How many attempts of `whole` at this scale."""
        return max(1, round(whole * self.scale[part]))

    def run(self, name: str, attempts: Callable[[int], Iterator[Attempt]]) -> None:
        """Make the attempts of a part from where it stopped, until it is done or the time is over."""
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
                self.keep()
            if time.monotonic() > self.deadline:
                break
        else:
            part["done"] = True
        self.keep()

    def keep(self) -> None:
        if self.out is not None:
            self.out.parent.mkdir(parents=True, exist_ok=True)
            self.out.write_text(
                json.dumps({"scale": self.scale, "seed": self.seed, "parts": self.parts}, indent=2) + "\n"
            )

    def undisturbed(self, number: int) -> faults.Undisturbed:
        subject = SUBJECTS[number]
        return faults.undisturbed(subject, self.tables, self.place / subject.name.replace(" ", "-"))

    def bounds(self, first: int) -> Iterator[Attempt]:
        for case in bounds.CASES[first:]:
            yield case.name, bounds.attack(case, arena.fresh(self.tables, self.place / "case"))

    def faults(self, first: int) -> Iterator[Attempt]:
        """All of them at full scale; below it an even sample."""
        every, number = max(1, round(1 / self.scale["faults"])), 0
        for which in range(len(SUBJECTS)):
            whole = self.undisturbed(which)
            for fault in whole.faults:
                number += 1
                if number % every or number // every <= first:
                    continue
                yield f"{whole.subject.name}, {fault.kind} at {fault.at}", faults.inject(whole, fault)

    def kills(self, first: int) -> Iterator[Attempt]:
        """Commands that are killed and begun again, until a thousand kills have hit one."""
        ready: dict[int, tuple[faults.Undisturbed, float]] = {}
        part, wanted = self.parts["kills"], self.count("kills", 1000)
        for number in count(first):
            if part.setdefault("kills", 0) >= wanted:
                return
            which = number % len(SUBJECTS)
            if which not in ready:
                whole = self.undisturbed(which)
                begun = time.monotonic()
                arena.run(whole.subject.arguments, arena.fresh(whole.before, whole.work))
                ready[which] = whole, time.monotonic() - begun
            whole, duration = ready[which]
            hits, trouble = kills.kill(whole, self.seed + number, duration)
            part["kills"] += hits
            yield f"{whole.subject.name}, seed {self.seed + number}, {hits} kills", trouble

    def mutations(self, first: int) -> Iterator[Attempt]:
        whole = mutations.template(self.place / "inputs")
        total = self.count("mutations", 10_000)
        forms = mutations.FORMATS
        for start in range(first, total, BATCH):
            jobs = [
                (forms[number % len(forms)], self.seed + number) for number in range(start, min(total, start + BATCH))
            ]
            for form, seed, trouble in mutations.attack(jobs, whole, self.place):
                yield f"{form.name}, seed {seed}", trouble

    def flips(self, first: int) -> Iterator[Attempt]:
        stored = list(flips.stores(self.tables, self.place))
        for number in range(first, self.count("flips", 400)):
            each = stored[number % len(stored)]
            yield f"{each.name}, seed {number}", flips.attack(each, self.seed + number, self.place)
            for inner in range(10):
                trouble = flips.overlooked(each, self.seed + 10 * number + inner, self.place / each.name)
                if trouble:
                    yield f"{each.name}, verify, seed {10 * number + inner}", trouble

    def crowds(self, first: int) -> Iterator[Attempt]:
        for number in range(first, self.count("crowds", 35)):
            whole = self.undisturbed(number % len(SUBJECTS))
            yield whole.subject.name, kills.crowd(whole)


SMALL = {"bounds": 1.0, "faults": 0.03, "crowds": 0.1, "flips": 0.05, "kills": 0.014, "mutations": 0.05}
PARTS = ("bounds", "faults", "crowds", "flips", "kills", "mutations")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("parts", nargs="*", default=PARTS, help=f"of {', '.join(PARTS)}; all of them unless named")
    parser.add_argument("--minutes", type=float, default=90.0, help="stop after so long; the same command goes on")
    parser.add_argument("--small", action="store_true", help="the share of it that the tests take")
    parser.add_argument("--seed", type=int, default=0)
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
        campaign = Campaign(place, out, time.monotonic() + 60 * given.minutes, scale, given.seed)
        for name in given.parts:
            if time.monotonic() < campaign.deadline:
                campaign.run(name, getattr(campaign, name))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    sys.exit(report({name: campaign.parts[name] for name in PARTS if name in campaign.parts}))


def _in_memory() -> str | None:
    """A disk in memory, where there is one: a killed process leaves the same there, and syncing takes no time."""
    disk = "/dev/shm"
    return disk if os.access(disk, os.W_OK) and shutil.disk_usage(disk).free > 1 << 30 else None


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
