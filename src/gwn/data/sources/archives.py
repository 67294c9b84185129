"""Datasets in NumPy archives that PyTorch Geometric has no class for, or would unpickle: read here, as plain arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from gwn.data.catalogue import DatasetSpec, Loaded
from gwn.data.splits import splits_from_masks
from gwn.errors import GWNError
from gwn.graph import Graph, undirected


def filtered(root: Path, spec: DatasetSpec) -> Loaded:
    """Chameleon and Squirrel without their duplicate nodes; every undirected edge is stored once."""
    (path,) = spec.files
    with np.load(root / path, allow_pickle=False) as arrays:
        tensors: dict[str, Any] = {key: torch.from_numpy(arrays[key]) for key in arrays.files}
    graph = Graph(
        x=tensors["node_features"].float(),
        edge_index=tensors["edges"].long().t().contiguous(),
        y=tensors["node_labels"].long(),
        name=spec.name,
    )
    masks = (tensors[f"{part}_masks"].t() for part in ("train", "val", "test"))
    return undirected(graph).compact(), {"published": splits_from_masks("published", *masks)}


def deezer_europe(root: Path, spec: DatasetSpec) -> Loaded:
    """Friendships between users of a music service; the task is their gender."""
    (path,) = spec.files
    try:
        with np.load(root / path, allow_pickle=False) as arrays:
            x, y, edges = (torch.from_numpy(arrays[key]) for key in ("features", "target", "edges"))
    except (ValueError, KeyError, OSError) as error:
        raise GWNError(f"{path} in {root} is not an archive of plain arrays features, target, edges") from error
    graph = Graph(x=x.float(), edge_index=edges.long().t().contiguous(), y=y.long(), name=spec.name)
    return graph.compact(), {}
