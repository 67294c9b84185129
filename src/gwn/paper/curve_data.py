"""A figure as data, `CurveData`: panels of named curves, to JSON and back; a file that was cut or edited is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from gwn.errors import GWNError, refuse_newer
from gwn.io import read_json, write_atomic

FORMAT = 2
"""Of the JSON files under `results/figures/`; a reader refuses a newer one."""

KINDS = ("lines", "points", "path", "steps", "heat", "graph")
SCALES = ("linear", "log", "symlog")

Numbers = tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """What is measured along one side; `names` are the labels of the places 0, 1, 2, ... of a categorical axis, and
    `limits` its ends, where panels are to be compared."""

    label: str
    unit: str = ""
    scale: str = "linear"
    names: tuple[str, ...] = ()
    limits: tuple[float, float] | None = None

    @property
    def text(self) -> str:
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True, kw_only=True)
class Series:
    """One curve, one cloud of points, or one row of a heat map.

    key        what picks colour, line and marker: the same model looks the same in every figure; "" for any
    x, y       equally long; None where there is no value
    low, high  an interval about y, or empty
    marks      a word for a place that has none or an odd value, such as "diverged", or the name of a point; or empty
    z          what the shade of a node says, or empty
    """

    label: str
    x: Numbers
    y: Numbers
    key: str = ""
    low: Numbers = ()
    high: Numbers = ()
    marks: tuple[str, ...] = ()
    z: Numbers = ()


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One pair of axes.

    kind   "lines", "points", "path" (points with their marks as names, those of a series joined), "steps" (a
           histogram's outline), "heat", where every series is a row, or "graph", a series of edges and one of nodes;
           `z` says what the shades of the last two mean, and equal ones share their scale
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


class NotAFigure(ValueError):
    """What is wrong with a record, for the one line that names the file."""


def write_figure(data: CurveData, path: Path) -> None:
    """The head as text to read, every panel and every point's runs on one line: they are many."""
    head, runs = data.to_json(), data.provenance.get("runs")
    panels, head["panels"] = head["panels"], []
    if runs is not None:
        head["provenance"] = {**head["provenance"], "runs": []}
    text = json.dumps(head, indent=2, allow_nan=False, ensure_ascii=False)
    text = text.replace('\n    "runs": []', '\n    "runs": ' + _lines(runs or [], "    "))
    text = text.replace('\n  "panels": []', '\n  "panels": ' + _lines(panels, "  "))
    write_atomic(path, (text + "\n").encode())


def _lines(entries: Any, indent: str) -> str:
    """A JSON list, one entry a line."""
    each = ",\n".join(json.dumps(one, separators=(",", ":"), allow_nan=False) for one in entries)
    return f"[\n{each}\n{indent}]" if each else "[]"


def read_figure(path: Path) -> CurveData:
    """The figure in this file, checked."""
    command = f"gwn reproduce figure-{path.stem}"
    if not path.is_file():
        raise GWNError(f"{path} does not exist; compute it with {command}")
    try:
        data = read_json(path)
    except GWNError:
        reason = "it is not JSON"
    else:
        refuse_newer(path, data.get("format"), FORMAT)
        try:
            return figure_from_json(data)
        except NotAFigure as error:
            reason = str(error)
    raise GWNError(f"{path} was cut or edited ({reason}); compute it again with {command} --recompute")


def figure_from_json(data: Mapping[str, Any]) -> CurveData:
    """Back from `CurveData.to_json`; anything else is `NotAFigure`."""
    version = data.get("format")
    if not isinstance(version, int) or version > FORMAT:
        raise NotAFigure(f"format {version!r} instead of {FORMAT}")
    record = _record(CurveData, {name: value for name, value in data.items() if name != "format"})
    panels = tuple(_panel(panel) for panel in _list(record, "panels"))
    if not panels or not isinstance(record["columns"], int) or record["columns"] < 1:
        raise NotAFigure("no panels, or no columns to set them in")
    if not isinstance(record["provenance"], dict):
        raise NotAFigure("no provenance")
    _require_text(record, ("name", "title", "place", "caption"))
    return CurveData(**{**record, "panels": panels})


def _panel(data: Any) -> Panel:
    record = _record(Panel, data)
    _require_text(record, ("title", "kind", "note"))
    if record["kind"] not in KINDS:
        raise NotAFigure(f"kind of panel {record['kind']!r}")
    record["x"], record["y"] = _axis(record["x"]), _axis(record["y"])
    record["z"] = None if record["z"] is None else _axis(record["z"])
    record["series"] = tuple(_series(series) for series in _list(record, "series"))
    return Panel(**record)


def _axis(data: Any) -> Axis:
    record = _record(Axis, data)
    _require_text(record, ("label", "unit", "scale"))
    if record["scale"] not in SCALES:
        raise NotAFigure(f"scale {record['scale']!r}")
    limits = record["limits"]
    if limits is not None and len(_numbers(record, "limits")) != 2:
        raise NotAFigure(f"limits {limits!r:.40} are not two numbers")
    names = tuple(str(name) for name in _list(record, "names"))
    return Axis(**{**record, "names": names, "limits": None if limits is None else tuple(limits)})


def _series(data: Any) -> Series:
    record = _record(Series, data)
    _require_text(record, ("label", "key"))
    columns = {name: _numbers(record, name) for name in ("x", "y", "low", "high", "z")}
    marks = tuple(str(mark) for mark in _list(record, "marks"))
    length = len(columns["x"])
    if len(columns["y"]) != length or any(len(part) not in (0, length) for part in (*columns.values(), marks)):
        raise NotAFigure(f"series {record['label']!r} has columns of different length")
    return Series(**{**record, **columns, "marks": marks})


def _record(kind: type[Any], data: Any) -> dict[str, Any]:
    known = {field.name: field for field in fields(kind)}
    if not isinstance(data, dict):
        raise NotAFigure(f"{data!r:.40} instead of a {kind.__name__.lower()}")
    required = {name for name, f in known.items() if f.default is MISSING and f.default_factory is MISSING}
    odd = sorted((data.keys() - known.keys()) | (required - data.keys()))
    if odd:
        raise NotAFigure(f"a {kind.__name__.lower()} with missing or unknown entries ({', '.join(odd)})")
    defaults = {n: f.default if f.default_factory is MISSING else f.default_factory() for n, f in known.items()}
    return {**defaults, **data}


def _require_text(record: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for name in names:
        if not isinstance(record[name], str):
            raise NotAFigure(f"{name} {record[name]!r:.40} is not text")


def _list(record: Mapping[str, Any], name: str) -> list[Any]:
    if not isinstance(record[name], (list, tuple)):
        raise NotAFigure(f"{name} {record[name]!r:.40} is not a list")
    return list(record[name])


def _numbers(record: Mapping[str, Any], name: str) -> Numbers:
    values = _list(record, name)
    for value in values:
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise NotAFigure(f"{name} holds {value!r:.40}, which is not a number")
    return tuple(values)
