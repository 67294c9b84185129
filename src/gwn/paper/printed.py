"""The figures that the paper prints, as data: one file, each table with its place in the paper."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gwn.io import read_toml

FILE = Path(__file__).with_name("paper.toml")


@dataclass(frozen=True, kw_only=True)
class PaperValue:
    """A printed figure in per cent; `sd` and `seconds` where the paper has them."""

    mean: float
    sd: float | None = None
    seconds: float | None = None


@functools.cache
def _tables() -> dict[str, Any]:
    return read_toml(FILE)


def place(table: str) -> str:
    """Where the table stands in the paper."""
    return str(_tables()[table]["place"])


def rows_of(table: str) -> tuple[str, ...]:
    """The rows that the paper's table has, named as ours."""
    return tuple(_tables()[table]["rows"])


def paper_value(table: str, row: str, column: str) -> PaperValue | None:
    """What the paper prints there; None where it has nothing, or ran out of memory, or has no such table."""
    found = _tables().get(table, {"rows": {}})["rows"].get(row, {}).get(column)
    if not isinstance(found, list):
        return None
    return PaperValue(**dict(zip(("mean", "sd", "seconds"), found, strict=False)))


def out_of_memory(table: str, row: str, column: str) -> bool:
    """Whether the paper says so of this cell."""
    return bool(_tables()[table]["rows"].get(row, {}).get(column) == "out of memory")


def elsewhere(column: str) -> tuple[float, str, str] | None:
    """The highest figure found in other papers, the model's name, and how it was selected or measured, if known."""
    found = _tables()["elsewhere"]["rows"].get(column)
    return None if found is None else (float(found[0]), str(found[1]), str(found[2]) if len(found) > 2 else "")


def dataset_counts(dataset: str) -> tuple[int, int, int, int]:
    """Nodes, edges, features and classes as printed."""
    nodes, edges, features, classes = _tables()["datasets"]["rows"][dataset]
    return nodes, edges, features, classes
