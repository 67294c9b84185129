"""All benchmarks of one run as one report, with the machine they ran on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import torch

from benchmarks.growth import GrowthReport, growth
from benchmarks.memory import MemoryReport, memory
from benchmarks.speed import DATASETS, SpeedRow, speed
from benchmarks.targets import Verdict
from benchmarks.timing import fixed_threads
from gwn.data import DATASETS as KNOWN
from gwn.data import load_dataset
from gwn.errors import GWNError
from gwn.registry import require_known
from gwn.training.result import environment

FORMAT = 1
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class BenchReport:
    """What was measured; a part that was not asked for is None."""

    created: str
    environment: dict[str, Any]
    speed: tuple[SpeedRow, ...] | None
    memory: MemoryReport | None
    growth: GrowthReport | None
    notes: tuple[str, ...]

    @property
    def verdicts(self) -> list[Verdict]:
        found = [verdict for row in self.speed or () for verdict in row.verdicts]
        for part in (self.memory, self.growth):
            found.extend(part.verdicts if part is not None else ())
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "created": self.created,
            "environment": self.environment,
            "speed": None if self.speed is None else [row.to_json() for row in self.speed],
            "memory": None if self.memory is None else self.memory.to_json(),
            "growth": None if self.growth is None else self.growth.to_json(),
            "notes": list(self.notes),
        }


def run_benchmarks(
    parts: Sequence[str],
    *,
    datasets: Sequence[str] | None = None,
    threads: int = 1,
    seconds: float = 5.0,
    large: bool = False,
    say: Say = lambda line: None,
) -> BenchReport:
    """Measure these parts. Without `datasets`, all of the usual ones that can be loaded; a named one must load."""
    if not seconds > 0:
        raise GWNError(f"seconds must be greater than 0; got {seconds}")
    notes: list[str] = []
    with fixed_threads(threads):
        machine = environment(torch.device("cpu"))
        names = _at_hand(datasets, notes) if {"speed", "memory"} & set(parts) else []
        speeds = tuple(speed(names, seconds=seconds, say=say)) if "speed" in parts else None
        memories = memory(names, threads=threads, say=say) if "memory" in parts else None
        grown = growth(threads=threads, large=large, say=say) if "growth" in parts else None
    return BenchReport(
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        environment=machine,
        speed=speeds,
        memory=memories,
        growth=grown,
        notes=(*notes, *(memories.notes if memories is not None else ())),
    )


def _at_hand(datasets: Sequence[str] | None, notes: list[str]) -> list[str]:
    """The datasets that load; those of the usual ones that do not are noted."""
    if datasets is not None:
        for name in datasets:
            require_known("dataset", name, KNOWN)
        return list(datasets)
    found = []
    for name in DATASETS:
        try:
            load_dataset(name)
        except GWNError as error:
            notes.append(f"{name} left out: {error}")
        else:
            found.append(name)
    return found
