"""`gwn bench scale`: large graphs, part by part; a new part is a function and one line in `PARTS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import torch

from gwn.benchmarks.scale_part import PartResult, ScaleSettings
from gwn.benchmarks.scale_parts import arxiv, depth, edges, partitions, precomputed, processes, ten_million
from gwn.benchmarks.targets import Verdict
from gwn.benchmarks.timing import fixed_threads
from gwn.errors import GWNError
from gwn.registry import lookup
from gwn.training.result import environment

FORMAT = 1

PARTS: dict[str, Callable[[ScaleSettings], PartResult]] = {
    "arxiv": arxiv.measure_arxiv,
    "depth": depth.measure_depth,
    "precomputed": precomputed.measure_precomputed,
    "ten-million": ten_million.measure_ten_million,
    "edges": edges.measure_edges,
    "partitions": partitions.measure_partitions,
    "processes": processes.measure_processes,
}


@dataclass(frozen=True, kw_only=True)
class ScaleReport:
    """What every part found, and the machine it ran on."""

    created: str
    environment: dict[str, Any]
    parts: Mapping[str, PartResult]

    @property
    def verdicts(self) -> list[Verdict]:
        return [verdict for part in self.parts.values() for verdict in part.verdicts]

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "created": self.created,
            "environment": self.environment,
            "parts": {name: part.to_json() for name, part in self.parts.items()},
        }


def run_scale(names: Sequence[str] | None, settings: ScaleSettings) -> ScaleReport:
    """Measure these parts, or all of them."""
    if not settings.seconds > 0:
        raise GWNError(f"seconds must be greater than 0; got {settings.seconds}")
    chosen = {name: lookup("part of the scale benchmark", name, PARTS) for name in names or PARTS}
    settings.work.mkdir(parents=True, exist_ok=True)
    found = {}
    with fixed_threads(settings.threads):
        machine = environment(torch.device("cpu"))
        for name, measure in chosen.items():
            settings.say(f"scale: {name}")
            torch.manual_seed(0)
            found[name] = measure(settings)
    created = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return ScaleReport(created=created, environment=machine, parts=found)


def merged(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> dict[str, Any]:
    """A report with the parts of an earlier one that were not measured again; each part says when it was."""
    stamp = {"created": new["created"], "environment": new["environment"]}
    parts = {name: {**part, **stamp} for name, part in new["parts"].items()}
    return {**new, "parts": {**(old or {}).get("parts", {}), **parts}}


def default_work() -> Path:
    """Generated graphs are kept here from one benchmark to the next."""
    from gwn.data.store import cache_root

    return cache_root() / "bench-scale"
