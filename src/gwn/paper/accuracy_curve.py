"""Accuracy over a setting, for `figure-depth` and `figure-stability`: means, intervals, divergence, the best peer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from gwn.paper.cell import ROWS, Cell
from gwn.paper.compare import view
from gwn.paper.curve_data import Series, numbers
from gwn.training import RunResult, summarise

ALL_DIVERGED = "diverged"
"""The mark of a place where no run finished; where some did, it says how many did not, "2 of 5 diverged"."""


FEW = 3
"""Fewer runs than this have no interval: that of two, with one degree of freedom, would fill the panel."""


def accuracy_series(label: str, key: str, points: Sequence[tuple[float, Sequence[RunResult]]]) -> Series:
    """The mean test accuracy in per cent over x, with its 95 % interval, of the runs that finished."""
    finished = [[run for run in runs if run.test is not None] for _, runs in points]
    summaries = [
        summarise([run.test for run in runs if run.test is not None], [run.split_sizes[2] for run in runs])
        for runs in finished
    ]
    return Series(
        label=label,
        key=key,
        x=numbers([x for x, _ in points]),
        y=numbers([None if s is None else 100 * s.mean for s in summaries]),
        low=numbers([None if s is None or s.low is None or s.count < FEW else 100 * s.low for s in summaries]),
        high=numbers([None if s is None or s.high is None or s.count < FEW else 100 * s.high for s in summaries]),
        marks=tuple(_mark(len(runs), len(kept)) for (_, runs), kept in zip(points, finished, strict=True)),
    )


def _mark(runs: int, finished: int) -> str:
    if finished == runs:
        return ""
    return f"{runs - finished} of {runs} diverged" if finished else ALL_DIVERGED


def runs_a_point(points: Iterable[Sequence[RunResult]]) -> str:
    """ "5 runs", or "1 to 5 runs": how much is behind each point of a panel."""
    counts = sorted({len(runs) for runs in points})
    if not counts:
        return "not run"
    several = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
    return f"{several} run{'s' if counts[-1] > 1 else ''}"


class BestPeer(NamedTuple):
    """The model with the highest mean test score, in per cent, among those measured that are no wave networks."""

    title: str
    score: float
    among: int


def best_peer(results: Path, dataset: str, split: str) -> BestPeer | None:
    """Of the measured cells of a column, each with the settings of its own search; None where there are none. Our own
    network without edges, or as heat, is no peer."""
    found = [
        (seen.test["mean"], row.title)
        for row in ROWS.values()
        if row.group != "wave" and not row.name.startswith("gwn-") and row.name != "majority"
        if (seen := view(results, Cell(dataset=dataset, split=split, row=row.name))).test is not None
    ]
    return BestPeer(max(found)[1], max(found)[0], len(found)) if found else None


def peer_line(peer: BestPeer, across: Sequence[float]) -> Series:
    """Level over the whole panel."""
    return Series(
        label="best peer",
        key="best-peer",
        x=numbers([min(across), max(across)]),
        y=numbers([peer.score, peer.score]),
        marks=("", f"{peer.title} {peer.score:.1f}"),
    )
