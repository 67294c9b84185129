"""The paper's table 2: homophilic datasets and ogbn-arxiv."""

from __future__ import annotations

from gwn.paper.tables.accuracy import accuracy_exhibit

COLUMNS = tuple(f"{dataset}.per-class" for dataset in ("cora", "citeseer", "pubmed", "computers", "photo", "cs"))
EXHIBIT = accuracy_exhibit("table-homophilic", "homophilic", COLUMNS, unmeasured=("ogbn-arxiv.time",))
