"""What a figure shows, before anything is drawn: panels of series on named axes, with a caption and a provenance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

FORMAT = 1
"""Of the JSON files under `results/figures/`; a reader refuses a newer one."""

KINDS = ("lines", "points", "path", "steps", "heat")
SCALES = ("linear", "log", "symlog")

Numbers = tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """What is measured along one side; `names` are the labels of the places 0, 1, 2, ... of a categorical axis."""

    label: str
    unit: str = ""
    scale: str = "linear"
    names: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True, kw_only=True)
class Series:
    """One curve, one cloud of points, or one row of a heat map.

    key        what picks colour, line and marker: the same model looks the same in every figure; "" for any
    x, y       equally long; None where there is no value
    low, high  an interval about y, or empty
    marks      a word for a place that has none or an odd value, such as "diverged" or "not run"; or empty
    """

    label: str
    x: Numbers
    y: Numbers
    key: str = ""
    low: Numbers = ()
    high: Numbers = ()
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One pair of axes.

    kind   "lines", "points", "path" (points with their marks as names, those of a series joined), "steps" (a
           histogram's outline), or "heat", where every series is a row and `z` says what the shades mean
    note   a line of text inside the panel
    """

    title: str
    kind: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    z: Axis | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class CurveData:
    """A whole figure: `columns` panels a row, what it shows in words, and what it was computed from."""

    name: str
    title: str
    place: str
    caption: str
    panels: tuple[Panel, ...]
    columns: int = 1
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **asdict(self)}


def numbers(values: Any, digits: int = 5) -> Numbers:
    """As plain numbers of so many significant digits, which is what a picture can show; None for what is not finite."""
    array = np.asarray(
        [np.nan if value is None else value for value in np.asarray(values).ravel().tolist()], dtype=float
    )
    return tuple(float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in array)
