"""An exhibit of the paper, a table or a figure: what it needs, how it is computed from that, and what it shows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import torch

from gwn.data import Dataset, load_dataset
from gwn.paper.cell import Cell
from gwn.paper.curve_data import CurveData, Panel, read_figure, write_figure
from gwn.paper.table import TableData
from gwn.training.result import environment

Shown = TableData | CurveData
"""What an exhibit is made of: `gwn.paper.table` writes the one as text, `gwn.paper.drawing` draws the other."""

FIGURE = "figure-"


def silent(*_: object) -> None:
    """Progress that nobody asked for."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context:
    """What an exhibit is computed with.

    results   folder of committed results: cells below `cells/`, data of figures below `figures/`
    runs      folder of trained runs, content-addressed: what is there is not trained again
    quick     a few epochs and runs: to see that everything works, not to learn anything
    seconds   after so long no further run is started where a figure can do without: its place stays empty, and the
              same command fills it later
    load      a dataset by name
    jobs      so many runs of a figure are trained at once, each in a process of its own
    say       told one line about what was done
    advance   told how much is done of how much, and what is being done
    """

    results: Path
    runs: Path = Path("runs")
    quick: bool = False
    seconds: float | None = None
    jobs: int = 1
    load: Callable[[str], Dataset] = load_dataset
    say: Callable[[str], None] = silent
    advance: Callable[[int, int, str], None] = silent
    started: float = field(default_factory=time.monotonic)

    @property
    def out_of_time(self) -> bool:
        return self.seconds is not None and time.monotonic() - self.started > self.seconds


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One exhibit.

    name      `table-NAME` or `figure-NAME`
    place     where the paper has it
    compute   what it shows: tables, the main one first, or one figure, whose missing runs are trained first
    cells     measured before that where they are missing, cheapest first
    beyond    further cells, shown where they are measured: `--all` measures these too
    """

    name: str
    title: str
    place: str
    compute: Callable[[Context], tuple[Shown, ...]]
    cells: tuple[Cell, ...] = ()
    beyond: tuple[Cell, ...] = ()

    @property
    def is_figure(self) -> bool:
        return self.name.startswith(FIGURE)

    def contents(self, context: Context, *, compute: bool = True, recompute: bool = False) -> tuple[Shown, ...]:
        """What it shows. Tables are made from the cells each time; the data of a figure, which may take hours, are
        kept: read where they are there, otherwise computed, unless `compute` forbids it."""
        if not self.is_figure:
            return self.compute(context)
        path = figure_path(self.name, context.results)
        if not recompute and (path.exists() or not compute):
            return (read_figure(path),)
        (data,) = self.compute(context)
        assert isinstance(data, CurveData)
        stamp = {
            "command": f"gwn reproduce {self.name}",
            "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "environment": environment(torch.device("cpu")),
            "quick": context.quick,
        }
        data = replace(data, provenance={**stamp, **data.provenance})
        write_figure(data, path)
        return (data,)

    def figure(
        self, *, caption: str, panels: Sequence[Panel], columns: int, provenance: Mapping[str, Any]
    ) -> tuple[CurveData]:
        """What the `compute` of a figure returns: its data under the exhibit's name, title and place."""
        return (
            CurveData(
                name=self.name.removeprefix(FIGURE),
                title=self.title,
                place=self.place,
                caption=caption,
                panels=tuple(panels),
                columns=columns,
                provenance=provenance,
            ),
        )


def figure_path(name: str, results: Path) -> Path:
    """Where the data of the figure `figure-NAME` are kept."""
    return results / "figures" / f"{name.removeprefix(FIGURE)}.json"
