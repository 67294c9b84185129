"""A whole graph in one file: NumPy's .npz or a PyTorch Geometric `Data` in .pt, neither of which may run code."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gwn.data.dataset import Dataset
from gwn.data.edges import undirected
from gwn.data.splits import Split, splits_from_masks
from gwn.data.store import sha256
from gwn.data.tables import first_line, read_head
from gwn.errors import GWNError
from gwn.graph import Graph

MASKS = ("train_mask", "val_mask", "test_mask")


def load_graph_file(path: Path, *, directed: bool = False) -> Dataset:
    """A graph from .npz or .pt.

    Keys of an .npz, or attributes of the `Data` in a .pt:

    x            [N, f] features
    edge_index   [2, E] node numbers (source, target)
    y            [N] class numbers, -1 to be predicted; may be left out
    edge_weight  [E]; may be left out
    node_ids     [N] and class_names [C], text; may be left out
    train_mask, val_mask, test_mask   [N] or [N, splits], the file's own splits: then they are the default
    """
    path = Path(path)
    readers = {".npz": _read_npz, ".pt": _read_pt}
    if path.suffix.lower() not in readers:
        raise GWNError(f"{path} is not a graph file; its name must end in {' or '.join(readers)}")
    read_head(path)
    parts = readers[path.suffix.lower()](path)
    for key in ("x", "edge_index"):
        if parts.get(key) is None:
            raise GWNError(f"{path} has no {key!r}; it holds {', '.join(sorted(parts)) or 'nothing'}")
    graph = _graph(path, parts)
    published = _published(parts)
    return Dataset(
        name=graph.name,
        graph=(graph if directed else undirected(graph)).compact(),
        metric="accuracy",
        default_split=next(iter(published), "stratified"),
        directed=directed,
        published=published,
        files={path.name: sha256(path)},
    )


def _graph(path: Path, parts: Mapping[str, Any]) -> Graph:
    names = {key: tuple(str(name) for name in parts[key]) for key in ("node_ids", "class_names") if key in parts}
    try:
        y, weight = parts.get("y"), parts.get("edge_weight")
        x = torch.as_tensor(parts["x"])
        return Graph(
            x=x if x.is_floating_point() else x.float(),
            edge_index=torch.as_tensor(parts["edge_index"]).long(),
            y=None if y is None else torch.as_tensor(y).reshape(-1).long(),
            edge_weight=None if weight is None else torch.as_tensor(weight).float(),
            name=path.stem,
            **names,
        )
    except (TypeError, ValueError, RuntimeError) as error:
        raise GWNError(f"{path.name}: {first_line(error)}") from error


def _published(parts: Mapping[str, Any]) -> dict[str, tuple[Split, ...]]:
    if not all(parts.get(mask) is not None for mask in MASKS):
        return {}
    return {"published": splits_from_masks("published", *(torch.as_tensor(parts[mask]) for mask in MASKS))}


def _read_npz(path: Path) -> dict[str, Any]:
    try:
        arrays = np.load(path, allow_pickle=False)
        if isinstance(arrays, np.ndarray):
            raise ValueError("it holds a single array")
        with arrays:
            return {key: arrays[key] for key in arrays.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise GWNError(
            f"{path} is not an .npz file of plain arrays ({first_line(error)}); write it with numpy.savez"
        ) from error


def _read_pt(path: Path) -> dict[str, Any]:
    """With PyTorch's restricted unpickler, which builds tensors and the parts of a `Data`, and nothing else."""
    from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import GlobalStorage

    torch.serialization.add_safe_globals([DataEdgeAttr, DataTensorAttr, GlobalStorage])  # PyG registers the rest
    try:
        data = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # bytes that are no pickle break the unpickler in any way they like
        raise GWNError(
            f"{path} is not a PyG Data that can be opened safely, without running code from the file; "
            "write it with torch.save(data, path), tensors only"
        ) from error
    if isinstance(data, Mapping):
        return dict(data)
    if not hasattr(data, "to_dict"):
        raise GWNError(f"{path} holds a {type(data).__name__}; a PyG Data or a dictionary of tensors is needed")
    parts: dict[str, Any] = data.to_dict()
    return parts
