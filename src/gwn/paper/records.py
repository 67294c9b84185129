"""Measured cells as files under `results/cells/`: whole and unchanged, or refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gwn.errors import GWNError, refuse_newer
from gwn.io import json_sha256, read_json, write_json
from gwn.models import model_spec
from gwn.paper.cell import Cell

RESULTS = Path("results")
FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Workplace:
    """Where results go, and where what they are made from is kept meanwhile.

    storage   of the studies, a database URL; None for a SQLite file each under `studies/`
    """

    results: Path = RESULTS
    runs: Path = Path("runs")
    storage: str | None = None


def cell_file(results: Path, cell: Cell) -> Path:
    return results / "cells" / f"{cell.name}.json"


def write_cell(results: Path, cell: Cell, record: Mapping[str, Any]) -> Path:
    """Keep a record, sealed with a checksum of everything in it."""
    path = cell_file(results, cell)
    whole = {"format": FORMAT, "cell": cell.name, **record}
    write_json(path, {**whole, "sha256": json_sha256(whole)}, sealed=False)
    return path


def read_cell(results: Path, cell: Cell) -> dict[str, Any] | None:
    """The record of a cell; None where it was never measured, one clear line where the file is not what was written."""
    path = cell_file(results, cell)
    if not path.exists():
        return None
    again = f"restore it, or delete it and measure again with `gwn reproduce --cell {cell.name}`"
    try:
        record = read_json(path)
    except GWNError:
        raise GWNError(f"{path} was cut or edited: it is not a JSON object; {again}") from None
    seal = record.pop("sha256", None)
    refuse_newer(path, record.get("format"), FORMAT)
    if record.get("format") != FORMAT:
        raise GWNError(f"{path} has format {record.get('format')!r}, this version reads {FORMAT}; {again}")
    if record.get("cell") != cell.name or seal != json_sha256(record):
        raise GWNError(f"{path} was cut or edited: its checksum does not fit; {again}")
    recipe = record.get("recipe", {})
    if "model" in recipe and "settings" in record:  # as it was sealed, with the names and defaults of that time
        model = model_spec(recipe["model"])
        recipe["model"], record["settings"] = model.name, model.stored(record["settings"])
    return record


def read_cells(results: Path) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """Every measured cell with its record."""
    root = results / "cells"
    for path in sorted(root.glob("*/*/*.json")):
        cell = Cell.parse(path.relative_to(root).with_suffix("").as_posix())
        record = read_cell(results, cell)
        assert record is not None
        yield cell, record


def missing(cells: Sequence[Cell], results: Path) -> list[Cell]:
    """The cells without a record; a record that was cut or edited is an error, not a reason to compute it again."""
    return [cell for cell in cells if read_cell(results, cell) is None]
