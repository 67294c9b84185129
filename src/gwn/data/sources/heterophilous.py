"""Minesweeper, Tolokers, and Chameleon and Squirrel without their duplicate nodes (Platonov et al. 2023)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from gwn.data.checksums import checksums
from gwn.data.dataset import DatasetSpec, Loaded, Metric
from gwn.data.sources.pyg import process, to_graph, undirected
from gwn.data.splits import splits_from_masks
from gwn.graph import Graph

URL = "https://github.com/yandex-research/heterophilous-graphs/raw/main/data"


def _spec(
    name: str, path: str, *, nodes: int, edges: int, features: int, classes: int, metric: Metric, caveat: str
) -> DatasetSpec:
    def load(root: Path) -> Loaded:
        return _load_filtered(root / path, name) if name.endswith("-filtered") else _load_pyg(root, name)

    return DatasetSpec(
        name=name,
        title=name.title(),
        nodes=nodes,
        edges=edges,
        features=features,
        classes=classes,
        directed=False,
        default_split="published",
        kind="heterophilic",
        metric=metric,
        source="Platonov, Kuznedelev, Diskin, Babenko, Prokhorenkova: A critical look at the evaluation of GNNs "
        "under heterophily, ICLR 2023",
        load=load,
        files=checksums(path),
        urls={path: f"{URL}/{Path(path).name}"},
        caveat=caveat,
    )


def _load_pyg(root: Path, name: str) -> Loaded:
    from torch_geometric.datasets import HeterophilousGraphDataset

    data = process(HeterophilousGraphDataset, str(root), name)
    published = splits_from_masks("published", data.train_mask, data.val_mask, data.test_mask)
    return to_graph(data, name), {"published": published}


def _load_filtered(path: Path, name: str) -> Loaded:
    """The same layout as the others, but PyG has no class for it; every undirected edge is stored once."""
    with np.load(path, allow_pickle=False) as arrays:
        tensors: dict[str, Any] = {key: torch.from_numpy(arrays[key]) for key in arrays.files}
    graph = Graph(
        x=tensors["node_features"].float(),
        edge_index=tensors["edges"].long().t().contiguous(),
        y=tensors["node_labels"].long(),
        name=name,
    )
    masks = (tensors[f"{part}_masks"].t() for part in ("train", "val", "test"))
    return undirected(graph).compact(), {"published": splits_from_masks("published", *masks)}


MINESWEEPER = _spec(
    "minesweeper",
    "minesweeper/raw/minesweeper.npz",
    nodes=10000,
    edges=39402,
    features=7,
    classes=2,
    metric="roc-auc",
    caveat="Synthetic: a 100 x 100 grid with 20 % mines.",
)
TOLOKERS = _spec(
    "tolokers",
    "tolokers/raw/tolokers.npz",
    nodes=11758,
    edges=519000,
    features=10,
    classes=2,
    metric="roc-auc",
    caveat="",
)
DUPLICATES = "The nodes with identical neighbours, which leak between the parts of the original's splits, are removed."
CHAMELEON = _spec(
    "chameleon-filtered",
    "filtered/chameleon_filtered.npz",
    nodes=890,
    edges=8854,
    features=2325,
    classes=5,
    metric="accuracy",
    caveat=DUPLICATES,
)
SQUIRREL = _spec(
    "squirrel-filtered",
    "filtered/squirrel_filtered.npz",
    nodes=2223,
    edges=46998,
    features=2089,
    classes=5,
    metric="accuracy",
    caveat=DUPLICATES,
)
