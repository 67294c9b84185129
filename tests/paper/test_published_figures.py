"""The figures of the peers' own papers: every table has a known model, known datasets and a source."""

from __future__ import annotations

from pathlib import Path

import gwn.paper
from gwn.io import read_toml
from gwn.models import MODELS
from gwn.paper.exhibits import beyond

RANDOM_OR_GEOM = {"cora", "citeseer", "actor", "texas", "cornell", "wisconsin"}
WITH_SPLITS = {column.split(".")[0] for column in beyond.COLUMNS}


def test_published_figures_are_whole() -> None:
    tables = read_toml(Path(gwn.paper.__file__).with_name("published.toml"))
    assert {*tables} <= {*MODELS}
    for splits in tables.values():
        for split, table in splits.items():
            figures = {name: figure for name, figure in table.items() if name != "source"}
            assert table["source"]
            assert figures
            assert {*figures} <= (WITH_SPLITS if split == "published" else RANDOM_OR_GEOM)
            assert all(25 < mean < 100 and all(0 < x < 10 for x in sd) for mean, *sd in figures.values())
