"""A single flipped bit in any stored file: found out, or without effect on what a command gives."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .arena import fresh, in_child, published, run
from .subjects import COMPARE, GENERATE, SMALL, TABLES, call_it_only, compare_here, save_estimator

CONTINUED = ("train", *TABLES, "--model", "gwn-sym", "--runs", "1", "--checkpoint", "0", *SMALL)
REFITTED = ("predict", "runs/only", "--refit", "--out", "refitted.csv")
FILES = ("train", "graph", "--model", "gwn-sym", "--precompute", "--memory", "8GB", "--runs", "1", *SMALL)


FOR_PEOPLE = (".md", ".html", ".svg", ".png")
"""Pages and pictures, which no command reads."""


@dataclass(frozen=True, kw_only=True)
class Stored:
    """Stored files, the command that reads them, and what it gives where they are whole."""

    name: str
    folder: Path
    arguments: tuple[str, ...]
    patterns: tuple[str, ...]
    gives: dict[str, Any]

    @property
    def files(self) -> list[Path]:
        found = {path for pattern in self.patterns for path in self.folder.glob(pattern) if path.is_file()}
        return sorted(path.relative_to(self.folder) for path in found if path.suffix not in FOR_PEOPLE)


def stores(template: Path, place: Path) -> Iterator[Stored]:
    """A finished run, an interrupted one, a graph folder with propagated features."""
    trained = ("predict", "runs/only", "--out", "predictions.csv")
    for name, before, arguments, patterns in (
        ("run folder", (CONTINUED,), trained, ("runs/only/*",)),
        ("refitted", (CONTINUED, REFITTED), (*trained, "--refit"), ("runs/only/refit.*", "runs/only/config.json")),
        ("comparison", (COMPARE,), trained, ("runs/*/*",)),
        ("estimator", (), ("predict", "estimator", "--out", "predictions.csv"), ("estimator/*",)),
        ("checkpoint", (), CONTINUED, ("runs/*/*.checkpoint",)),
        ("finished run", (CONTINUED,), CONTINUED, ("runs/*/*",)),
        ("graph folder", ((*GENERATE, "--out", "graph"),), FILES, ("graph/*",)),
        ("propagated features", ((*GENERATE, "--out", "graph"), FILES), (*FILES, "--force"), ("runs/propagated-*/*",)),
    ):
        folder = fresh(template, place / name.replace(" ", "-"))
        for made in before:
            done = run(made, folder, prepare=compare_here)
            assert done.code == 0, done.err
            if arguments[: len(trained)] == trained:
                call_it_only(folder / "runs")
        if name == "estimator":
            in_child(partial(save_estimator, folder))
        if name == "checkpoint":
            run(arguments, folder, prepare=_stop_after_two)
            assert list(folder.glob("runs/*/*.checkpoint"))
        after = fresh(folder, place / "work")
        done = run(arguments, after)
        assert done.code == 0, done.err
        yield Stored(name=name, folder=folder, arguments=arguments, patterns=patterns, gives=published(after))


def _stop_after_two() -> None:
    """Interrupt the run when its second checkpoint is there."""
    import gwn.training.checkpoint as module

    save, count = module.save_checkpoint, 0

    def stop(*given: Any) -> None:
        nonlocal count
        save(*given)
        count += 1
        if count == 2:
            raise KeyboardInterrupt

    setattr(module, "save_checkpoint", stop)  # noqa: B010


def flip(path: Path, rng: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def attack(stored: Stored, seed: int, place: Path) -> str:
    """Flip one bit and run the command; what is wrong with the answer, "" where nothing is."""
    rng = random.Random(f"{stored.name} {seed}")
    inside = rng.choice(stored.files)
    work = fresh(stored.folder, place / "work")
    flip(work / inside, rng)
    harmed = published(work).get(str(inside))
    done = run(stored.arguments, work)
    if trouble := done.complaint():
        return f"{inside.name}: {trouble}"
    if done.code == 2:
        return ""
    now = published(work)
    for name, content in stored.gives.items():
        own = name == str(inside) and now.get(name) == harmed  # nobody read it, or the flip changed nothing
        if now.get(name) != content and not own:
            return f"{inside.name}: silently another {name}"
    return ""


def overlooked(stored: Stored, seed: int, place: Path) -> str:
    """Flip one bit; whether `gwn verify` overlooks it although the content is another."""
    from gwn.cli.verify import findings

    rng = random.Random(f"verify {stored.name} {seed}")
    inside = rng.choice(stored.files)
    work = place / "verified"
    if seed == 0 or not work.exists():
        fresh(stored.folder, work)
    path = work / inside
    whole, before = path.read_bytes(), published(work).get(str(inside))
    flip(path, rng)
    wrong = any(found.wrong for found in findings(work))
    changed = published(work).get(str(inside)) != before
    path.write_bytes(whole)
    return f"{inside.name}: overlooked" if changed and not wrong and path.suffix != ".npy" else ""
