"""Datasets that PyTorch Geometric can parse, without its folder of processed files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch_geometric import datasets

from gwn.data.catalogue import DatasetSpec, Loaded
from gwn.data.splits import Split, splits_from_masks
from gwn.graph import Graph
from gwn.sparse import SPARSE_DENSITY, dense_to_csr


def planetoid(root: Path, spec: DatasetSpec) -> Loaded:
    """Cora, CiteSeer, PubMed, with the 20 training nodes a class of their public split."""
    return _with_splits(_processed(datasets.Planetoid, str(root), spec.title), spec.name, "public")


def shchur(root: Path, spec: DatasetSpec) -> Loaded:
    """Computers, Photo and CS, with the one split of a file of its own."""
    data = _processed(datasets.Coauthor if spec.name == "cs" else datasets.Amazon, str(root), spec.title)
    *_, fixed = spec.files
    with np.load(root / fixed, allow_pickle=False) as arrays:
        train, val, test = (torch.from_numpy(arrays[part]) for part in ("train", "valid", "test"))
    split = Split(train=train, val=val, test=test, kind="published", seed=0)
    return _to_graph(data, spec.name), {"published": (split,)}


def geom_gcn(root: Path, spec: DatasetSpec) -> Loaded:
    """Actor, Texas, Cornell and Wisconsin with geom-gcn's ten splits."""
    if spec.name == "actor":
        data = _processed(datasets.Actor, str(root / spec.title))
    else:
        data = _processed(datasets.WebKB, str(root), spec.name)
    return _with_splits(data, spec.name, "geom")


def heterophilous(root: Path, spec: DatasetSpec) -> Loaded:
    """Minesweeper and Tolokers with their ten splits."""
    return _with_splits(_processed(datasets.HeterophilousGraphDataset, str(root), spec.name), spec.name, "published")


def _with_splits(data: Any, name: str, kind: str) -> Loaded:
    return _to_graph(data, name), {kind: splits_from_masks(kind, data.train_mask, data.val_mask, data.test_mask)}


def _processed(base: Any, *args: Any) -> Any:
    """Run `base`'s own `process` on files that are already there and verified, and keep the result in memory.

    PyG writes what it processed beside the raw files and prints while it does: impossible in a read-only folder,
    a race between two processes, and for CS 500 MB on disk in place of 12. Parsing anew takes about a second.
    """
    kept: list[Any] = []
    in_memory = type(
        base.__name__,
        (base,),
        {
            "_download": lambda self: None,
            "_process": lambda self: self.process(),
            "save": lambda self, data_list, path: kept.extend(data_list),
            "load": lambda self, path, *rest: None,
        },
    )
    in_memory(*args)
    (data,) = kept
    return data


def _to_graph(data: Any, name: str) -> Graph:
    """A `Graph` whose features are sparse before it checks them, which spares CS two seconds and 600 MB."""
    if int(torch.count_nonzero(data.x)) < SPARSE_DENSITY * data.x.numel():
        data.x = dense_to_csr(data.x)
    return Graph.from_pyg(data, name=name)
