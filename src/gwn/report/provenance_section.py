"""Under which versions and with which settings the results were made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from gwn.errors import GWNError
from gwn.experiments.shipped import settings_tables
from gwn.experiments.table import TableData, words
from gwn.training.result import environment
from gwn.training.store import read_json


def environment_table(results: Path) -> TableData:
    """One row an environment that results were made in, and this page's own."""
    found: dict[str, tuple[Mapping[str, Any], int]] = {}
    for record in _environments(results):
        key = repr(sorted(record["versions"].items())) + str(record.get("platform"))
        found[key] = (record, found.get(key, (record, 0))[1] + 1)
    here = environment(torch.device("cpu"))
    rows = [("this page", here), *((f"{count} results", record) for record, count in found.values())]
    packages = list(dict.fromkeys(name for _, record in rows for name in record["versions"]))
    return TableData(
        name="environment",
        title="Environment",
        caption="Versions and machine under which the results on this page were made.",
        columns=("made", "platform", "device", "threads", *packages),
        rows=tuple(
            (
                words(what),
                *(words(str(record.get(name, ""))) for name in ("platform", "device", "threads")),
                *(words(str(record["versions"].get(name, ""))) for name in packages),
            )
            for what, record in rows
        ),
        command="gwn report",
    )


def settings_table(results: Path) -> TableData:
    """One row a model on a dataset and split: the settings its measured figures have."""
    rows = [
        (
            words(model),
            words(dataset),
            words(split),
            words(_assignments(table["settings"])),
            words(_assignments(table["training"])),
        )
        for model, datasets in settings_tables(results).items()
        for dataset, splits in datasets.items()
        for split, table in splits.items()
    ]
    return TableData(
        name="settings",
        title="Settings behind the tables",
        caption="What the search on validation chose; the table cells were measured with exactly these.",
        columns=("model", "dataset", "split", "model settings", "training"),
        rows=tuple(rows),
        command="gwn reproduce table-heterophilic",
    )


def _assignments(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def _environments(results: Path) -> Iterator[Mapping[str, Any]]:
    for path in sorted(results.rglob("*.json")):
        try:
            record = read_json(path)
        except GWNError:
            continue  # the section that needs the file says what is wrong with it
        found = record.get("environment") or (record.get("provenance") or {}).get("environment")
        if isinstance(found, dict) and isinstance(found.get("versions"), dict):
            yield found
