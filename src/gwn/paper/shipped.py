"""The tuned settings that ship: made from the measured cells, so that every figure has the settings it names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gwn.io import write_toml
from gwn.paper.cell import ROWS, Cell
from gwn.paper.records import read_cell
from gwn.settings import SHIPPED

COMMENT = "Written by `python -m gwn.paper.shipped` from results/cells; scores are shares of 1."


def settings_tables(results: Path) -> dict[str, dict[str, Any]]:
    """Model -> dataset -> split -> table, from every cell that has a search of its own."""
    tables: dict[str, dict[str, Any]] = {}
    for path in sorted((results / "cells").glob("*/*/*.json")):
        cell = Cell.parse("/".join([*path.parts[-3:-1], path.stem]))
        record = read_cell(results, cell)
        if record is None or record["search"] is None:
            continue
        if cell.tau is not None or cell.split != record["recipe"]["split"]:
            continue
        of_model = tables.setdefault(ROWS[cell.row].model, {})
        of_model.setdefault(cell.dataset, {})[cell.split] = _table(record)
    return tables


def _table(record: dict[str, Any]) -> dict[str, Any]:
    test, search = record["summary"]["test"], dict(record["search"])
    search.pop("selected_on_test")
    final = {"runs": len(record["runs"]), "diverged": record["summary"]["diverged"]}
    if test is not None:
        final |= {"validation": record["summary"]["val"]["mean"], "test": test["mean"], "test_sd": test["sd"]}
        final |= {"test_low": test["low"], "test_high": test["high"], "parameters": record["runs"][0]["parameters"]}
    found = {
        "data": record["dataset"]["hash"],
        "metric": record["metric"],
        "date": record["created"][:10],
        "settings": record["settings"],
        "training": record["training"],
        "search": search,
        "final": final,
        "versions": record["environment"]["versions"],
    }
    return {name: _without_none(value) for name, value in found.items()}


def _without_none(value: Any) -> Any:
    return {k: v for k, v in value.items() if v is not None} if isinstance(value, dict) else value


def ship(results: Path, folder: Path = SHIPPED) -> list[Path]:
    """Write one file a model; the files written."""
    files = []
    for model, tables in settings_tables(results).items():
        write_toml(folder / f"{model}.toml", tables, COMMENT)
        files.append(folder / f"{model}.toml")
    return files


if __name__ == "__main__":
    for file in ship(Path("results")):
        print(file.name)
