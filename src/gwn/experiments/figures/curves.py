"""Accuracy against what was varied: one point a configuration, from the runs that are there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from gwn.experiments.figures.data import Series, numbers
from gwn.experiments.figures.exhibit import FigureContext
from gwn.experiments.figures.trained import Trained, Wanted, runs_on_disk, train
from gwn.training import summarise

Cell = TypeVar("Cell")


def trained_so_far(context: FigureContext, plan: Iterable[tuple[Cell, Wanted, int]]) -> dict[Cell, Trained]:
    """Of (cell, configuration, runs at most) those that have a run; nothing is trained."""
    found: dict[Cell, Trained] = {}
    for cell, wanted, most in plan:
        count = min(most, runs_on_disk(context, wanted))
        if count:
            found[cell] = train(context, wanted, count)
    return found


def accuracy_series(label: str, key: str, points: Sequence[tuple[float, Trained]]) -> Series:
    """The mean test accuracy in per cent over x, with its 95 % interval; a cross where every run diverged."""
    summaries = [summarise([100 * run.test for run in t.finished if run.test is not None]) for _, t in points]
    return Series(
        label=label,
        key=key,
        x=numbers([x for x, _ in points]),
        y=numbers([None if s is None else s.mean for s in summaries]),
        low=numbers([None if s is None else s.low for s in summaries]),
        high=numbers([None if s is None else s.high for s in summaries]),
        marks=tuple("diverged" if s is None else "" for s in summaries),
    )
