"""The paper's table 3: heterophilic datasets, WebKB on two kinds of splits."""

from __future__ import annotations

from gwn.paper.tables.accuracy import accuracy_exhibit

WEBKB = ("texas", "cornell", "wisconsin")
COLUMNS = (
    "actor.per-class",
    *(f"{dataset}.{split}" for dataset in WEBKB for split in ("geom", "per-class")),
    "deezer-europe.per-class",
)
EXHIBIT = accuracy_exhibit("table-heterophilic", "heterophilic", COLUMNS)
