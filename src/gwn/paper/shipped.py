"""The tuned settings that ship: made from the measured cells, so that every figure has the settings it names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from gwn.models import ModelSpec, model_spec
from gwn.paper.cell import Cell
from gwn.paper.records import RESULTS, cell_file, read_cells
from gwn.settings import SHIPPED, table_name, write_tuned
from gwn.training.config import TrainConfig

COMMAND = "python -m gwn.paper.shipped"


def searched_cells(results: Path) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """Every cell that has a search of its own, with its record."""
    for cell, record in read_cells(results):
        if record["search"] is not None and cell.tau is None and cell.split == record["recipe"]["split"]:
            yield cell, record


def settings_tables(results: Path) -> dict[str, dict[str, Any]]:
    """Model -> dataset -> split -> what `gwn train` needs: settings, training, their data and where the record is."""
    tables: dict[str, dict[str, Any]] = {}
    for cell, record in searched_cells(results):
        model = model_spec(cell.row)
        of_dataset = tables.setdefault(model.name, {}).setdefault(cell.dataset, {})
        of_dataset[table_name(cell.split, cell.prior)] = {
            "data": record["dataset"]["hash"],
            "record": cell_file(RESULTS, cell).as_posix(),
            "settings": _other_than(_usual_settings(model), record["settings"]),
            "training": _other_than(_usual_training(model), record["training"]),
        }
    return tables


def _other_than(usual: dict[str, Any], chosen: dict[str, Any]) -> dict[str, Any]:
    """What has to be said: the rest is as it is without tuning."""
    return {k: value for k, value in chosen.items() if value is not None and (k not in usual or usual[k] != value)}


def _usual_settings(model: ModelSpec) -> dict[str, Any]:
    """What a table that does not name it is read as; a wave's scheme, tau and time are always said."""
    dynamics = ("scheme", "tau", "time") if model.kind == "wave" else ()
    read_as = {**model.defaults(), **model.former_defaults}
    return {name: value for name, value in read_as.items() if name not in dynamics}


def _usual_training(model: ModelSpec) -> dict[str, Any]:
    """Without what the model has other defaults for: there the search's choice is always said."""
    return {field.name: field.default for field in fields(TrainConfig) if field.name not in model.training}


def ship(results: Path, folder: Path = SHIPPED) -> list[Path]:
    """Write one file a model; the files written."""
    files = []
    for model, tables in settings_tables(results).items():
        files.append(write_tuned(folder / f"{model}.toml", tables, by=COMMAND))
    return files


if __name__ == "__main__":
    for file in ship(RESULTS):
        print(file.name)
