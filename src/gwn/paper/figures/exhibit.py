"""A figure of the paper as something to compute: where it gets its runs from, and where its data are kept."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path

import torch

from gwn.data import Dataset, load_dataset
from gwn.io import write_atomic
from gwn.paper.figures.curve_data import CurveData, read_figure
from gwn.training.result import environment


def _silent(*_: object) -> None:
    """Progress that nobody asked for."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FigureContext:
    """What a figure is computed with.

    runs      folder of trained runs, content-addressed: what is there is not trained again
    results   folder of committed results; figures go to `figures/NAME.json` below it
    quick     a few epochs and runs: to see that everything works, not to learn anything
    seconds   after so long no further run is started where a figure can do without: its place stays empty, and the
              same command fills it later
    load      a dataset by name
    say       told one line about what was done
    advance   told how much is done of how much, and what is being done
    """

    runs: Path
    results: Path
    quick: bool = False
    seconds: float | None = None
    load: Callable[[str], Dataset] = load_dataset
    say: Callable[[str], None] = _silent
    advance: Callable[[int, int, str], None] = _silent
    started: float = field(default_factory=time.monotonic)

    @property
    def out_of_time(self) -> bool:
        return self.seconds is not None and time.monotonic() - self.started > self.seconds


@dataclass(frozen=True, kw_only=True)
class FigureExhibit:
    """One figure: `place` says where the paper has it; `compute` trains what is missing and returns what to draw."""

    name: str
    title: str
    place: str
    compute: Callable[[FigureContext], CurveData]


def figure_path(name: str, results: Path) -> Path:
    return results / "figures" / f"{name}.json"


def figure_data(exhibit: FigureExhibit, context: FigureContext, *, recompute: bool = False) -> CurveData:
    """The figure's data: read where they are there, computed and written where not, or where that is asked for."""
    path = figure_path(exhibit.name, context.results)
    if path.exists() and not recompute:
        return read_figure(path)
    data = exhibit.compute(context)
    stamp = {
        "command": f"gwn reproduce figure-{exhibit.name}",
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "environment": environment(torch.device("cpu")),
        "quick": context.quick,
    }
    data = replace(data, provenance={**stamp, **data.provenance})
    write_figure(data, path)
    return data


def write_figure(data: CurveData, path: Path) -> None:
    """The head as text to read, every panel on one line: a picture's numbers are many."""
    head = data.to_json()
    panels = [json.dumps(panel, separators=(",", ":"), allow_nan=False) for panel in head.pop("panels")]
    start = json.dumps(head, indent=2, allow_nan=False, ensure_ascii=False).removesuffix("\n}")
    write_atomic(path, (start + ',\n  "panels": [\n' + ",\n".join(panels) + "\n  ]\n}\n").encode())
