"""One harness for every part: what it is given, what it gives back, how that is judged, written and printed.

A part is a function from `Settings` to a `Result`: facts, rows and verdicts. `PARTS` in `__main__.py` has them all.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import torch
import typer

from gwn.cli.terminal import print_table
from gwn.data import DATASETS, load_dataset
from gwn.data.download import cache_root
from gwn.errors import GWNError
from gwn.io import read_json
from gwn.registry import require_known
from gwn.training import fixed_threads
from gwn.training.result import environment

FORMAT = 2
"""1 had a layout of its own for each of speed, memory and growth."""

SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a user decides; every part takes what it needs.

    datasets   real graphs by name; None: those a part usually takes, as far as they are at hand
    seconds    a step is repeated for so long
    large      growth up to ten million edges, and the bank from files on the arxiv shape
    shrink     divides the sizes of generated graphs: to try a part out
    time       what `gwn compare` may take for each pair of tables
    tables     pairs of tables to measure; None: all. What was found of the others before is taken from `work`
    work       generated graph folders are kept here from one benchmark to the next
    """

    datasets: Sequence[str] | None = None
    threads: int = 1
    seconds: float = 5.0
    large: bool = False
    shrink: int = 1
    time: str = "10m"
    tables: Sequence[str] | None = None
    work: Path = field(default_factory=lambda: cache_root() / "bench-scale")
    say: Callable[[str], None] = lambda line: None

    def __post_init__(self) -> None:
        if not self.seconds > 0:
            raise GWNError(f"seconds must be greater than 0; got {self.seconds}")
        if self.threads < 1 or self.shrink < 1:
            raise GWNError(f"threads and shrink must be at least 1; got {self.threads} and {self.shrink}")
        for name in self.datasets or ():
            require_known("dataset", name, DATASETS)

    def at_hand(self, usual: Sequence[str]) -> tuple[list[str], list[str]]:
        """The datasets to measure, and a note for each of the usual ones that cannot be loaded."""
        if self.datasets is not None:
            return list(self.datasets), []
        found, notes = [], []
        for name in usual:
            try:
                load_dataset(name)
            except GWNError as error:
                notes.append(f"{name} left out: {error}")
            else:
                found.append(name)
        return found, notes


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A measured value beside its bar; a value that is not a number reaches nothing."""

    subject: str
    what: str
    value: float
    sign: str
    bar: float

    @property
    def passed(self) -> bool:
        return SIGNS[self.sign](self.value, self.bar)

    @property
    def word(self) -> str:
        return "pass" if self.passed else "MISS"

    def to_json(self) -> dict[str, Any]:
        value = self.value if math.isfinite(self.value) else None  # JSON has no NaN
        return {**asdict(self), "value": value, "passed": self.passed}


Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Result:
    """A table of what a part measured, and what it says.

    facts      what all rows share
    rows       one dictionary a line of the table, all with the same keys; a list is a curve
    verdicts   a function of the rows alone
    shown      the columns that are printed; none: all
    details    more figures, written and not printed
    """

    rows: Sequence[Row]
    facts: Mapping[str, Any] = field(default_factory=dict)
    verdicts: Sequence[Verdict] = ()
    notes: Sequence[str] = ()
    shown: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Without the details where there are none."""
        found = {
            "facts": dict(self.facts),
            "rows": [dict(row) for row in self.rows],
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "notes": list(self.notes),
        }
        return {**found, "details": dict(self.details)} if self.details else found


Part = Callable[[Settings], Result]


def measure_parts(
    parts: Mapping[str, Part], settings: Settings, keep: Callable[[Mapping[str, Result]], None] = lambda found: None
) -> dict[str, Result]:
    """What each part finds, one after another, from the same seed; `keep` has all that there is after every part."""
    found: dict[str, Result] = {}
    with fixed_threads(settings.threads):
        for name, measure in parts.items():
            settings.say(name)
            torch.manual_seed(0)
            found[name] = measure(settings)
            keep(found)
    return found


def report(found: Mapping[str, Result], threads: int, older: Path | None = None) -> dict[str, Any]:
    """The results as JSON, each with its date and machine; parts of the file `older` that are not among them stay."""
    with fixed_threads(threads):
        machine = environment(torch.device("cpu"))
    stamp = {"created": datetime.now(timezone.utc).isoformat(timespec="seconds"), "environment": machine}
    kept = read_report(older)["parts"] if older is not None and older.is_file() else {}
    parts = {name: {**result.to_json(), **stamp} for name, result in found.items()}
    return {"format": FORMAT, **stamp, "parts": {**kept, **parts}}


def read_report(path: Path) -> dict[str, Any]:
    """A report in today's format."""
    data = read_json(path)
    if data.get("format") != FORMAT or not isinstance(data.get("parts"), dict):
        raise GWNError(f"{path} is not a benchmark report of format {FORMAT}; give --out another file")
    return data


def print_results(found: Mapping[str, Result]) -> None:
    """For each part its table, its targets with pass or miss, and its notes."""
    for name, result in found.items():
        facts = ", ".join(f"{key.replace('_', ' ')} {readable(value)}" for key, value in result.facts.items())
        if result.rows:
            keys = [key for key in result.shown or result.rows[0] if key in result.rows[0]]
            cells = [[readable(row[key]) for key in keys] for row in result.rows]
            words = sum(isinstance(result.rows[0][key], str) for key in keys)
            title = f"{name}: {facts}" if facts else name
            print_table([key.replace("_", " ") for key in keys], cells, title, left=max(1, words))
        if result.verdicts:
            cells = [[v.subject, v.what, readable(v.value), f"{v.sign} {v.bar:g}", v.word] for v in result.verdicts]
            print_table(["", "target", "measured", "bar", ""], cells, f"{name}: targets", left=2)
        for note in result.notes:
            typer.echo(f"Note: {note}")
    verdicts = [verdict for result in found.values() for verdict in result.verdicts]
    typer.echo(f"{sum(verdict.passed for verdict in verdicts)} of {len(verdicts)} targets reached")


def readable(value: Any) -> str:
    """Whole numbers with commas, others to three digits, a curve by its ends."""
    if isinstance(value, (list, tuple)):
        ends = [readable(value[place]) for place in (0, -1)]
        return ends[0] if ends[0] == ends[1] else " to ".join(ends)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "-" if value is None else str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """`p` of `y ~ x^p` by least squares on logarithms; not a number where that makes no sense."""
    if len(x) < 2 or min(*x, *y) <= 0:
        return math.nan
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
