"""A graph opened again from the plain record of where it came from, in another process or on another day."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gwn.data.catalogue import DATASETS
from gwn.data.dataset import Dataset, load_dataset
from gwn.data.files import load_files, load_graph_file
from gwn.data.folders.folder import GraphFolder, is_folder
from gwn.data.schema import FeatureSchema
from gwn.errors import GWNError
from gwn.io import require_shape


def open_origin(origin: Mapping[str, Any] | None) -> Dataset:
    """The dataset, graph folder, file or pair of tables that a record names."""
    origin = origin or {}
    for name in ("dataset", "graph", "edges", "nodes", "task"):
        if name in origin:
            require_shape(origin[name], str, f"{name} in the origin of this run")
    directed = bool(origin.get("directed", False))
    if "dataset" in origin:
        return by_name(origin["dataset"], directed)
    if "graph" in origin:
        return load_graph_file(Path(origin["graph"]), directed=directed, task=origin.get("task", "classification"))
    if "schema" in origin:
        require_shape(origin, {"edges": str, "nodes": str}, "the origin of this run")
        schema = FeatureSchema.from_json(origin["schema"])
        edges, nodes = Path(origin["edges"]), Path(origin["nodes"])
        for gone in (path for path in (edges, nodes) if not path.exists()):
            raise GWNError(
                f"{gone}, which this run was trained on, does not exist any more; put it back, or name tables for "
                f"`gwn predict` with --edges and --nodes"
            )
        return load_files(edges=edges, nodes=nodes, label_column=None, schema=schema, directed=directed)[0]
    raise GWNError("this run does not say which graph it was trained on; name one for `gwn predict` with --graph")


def by_name(dataset: str, directed: bool) -> Dataset:
    """A dataset by its name, or a graph folder by its path."""
    if dataset in DATASETS or not is_folder(dataset):
        return load_dataset(dataset, directed=directed)
    if directed:
        raise GWNError(f"{dataset} is a graph folder, which holds an undirected graph; leave --directed out")
    return GraphFolder.open(dataset).dataset()
