"""Datasets by name, splits, and anyone's own graph from files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gwn.data.catalogue import DATASETS, DatasetSpec
from gwn.registry import exports_on_demand

if TYPE_CHECKING:
    from gwn.data.dataset import Dataset, load_dataset, make_splits
    from gwn.data.sources.csbm import contextual_sbm
    from gwn.data.splits import PUBLISHED, SPLITS, Split
    from gwn.graph import undirected

__all__ = [
    "DATASETS",
    "PUBLISHED",
    "SPLITS",
    "Dataset",
    "DatasetSpec",
    "Split",
    "contextual_sbm",
    "load_dataset",
    "make_splits",
    "undirected",
]

__getattr__ = exports_on_demand(
    __name__,
    {
        **dict.fromkeys(("Dataset", "load_dataset", "make_splits"), "gwn.data.dataset"),
        **dict.fromkeys(("PUBLISHED", "SPLITS", "Split"), "gwn.data.splits"),
        "contextual_sbm": "gwn.data.sources.csbm",
        "undirected": "gwn.graph",
    },
)
