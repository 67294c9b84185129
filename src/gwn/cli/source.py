"""Where a graph comes from on the command line: a name, a folder, a pair of tables, or one file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gwn.cli.large import open_folder
from gwn.data import Dataset, load_dataset
from gwn.data.files import load_files, load_graph_file
from gwn.data.schema import FeatureSchema
from gwn.errors import GWNError

Origin = dict[str, Any]


def open_source(
    dataset: str | None,
    edges: Path | None,
    nodes: Path | None,
    graph: Path | None,
    directed: bool,
    columns: Mapping[str, Any],
) -> tuple[Dataset, Origin]:
    """The graph, and a plain record from which `reopen` finds it again."""
    given = [what for what, value in (("a name", dataset), ("--edges", edges), ("--graph", graph)) if value is not None]
    if len(given) != 1:
        what = "nothing was given" if not given else f"{' and '.join(given)} were given"
        raise GWNError(f"{what}; name a dataset (`gwn data list`), or give --edges and --nodes, or --graph")
    if dataset is not None:
        return by_name(dataset, directed), {"dataset": dataset, "directed": directed}
    if graph is not None:
        return load_graph_file(graph, directed=directed), {"graph": str(graph), "directed": directed}
    assert edges is not None
    if nodes is None:
        raise GWNError("--edges needs --nodes: a table with one row a node, its features and its label")
    loaded, schema = load_files(edges=edges, nodes=nodes, directed=directed, **columns)
    origin = {"edges": str(edges), "nodes": str(nodes), "directed": directed, "schema": schema.to_json()}
    return loaded, origin


def reopen(origin: Mapping[str, Any] | None, edges: Path | None, nodes: Path | None, graph: Path | None) -> Dataset:
    """The graph a model was trained on, or a new one read in the same way."""
    origin = origin or {}
    directed = bool(origin.get("directed", False))
    if graph is not None:
        return load_graph_file(graph, directed=directed)
    if (edges is None) != (nodes is None):
        raise GWNError("--edges and --nodes go together: give both, or neither for the graph it was trained on")
    if edges is not None and nodes is not None:
        if "schema" not in origin:
            raise GWNError("this model was not trained on tables, so it cannot read --edges and --nodes; use --graph")
        return _tables(origin, edges, nodes, directed)
    if "dataset" in origin:
        return by_name(origin["dataset"], directed)
    if "graph" in origin:
        return load_graph_file(Path(origin["graph"]), directed=directed)
    if "schema" in origin:
        return _tables(origin, Path(origin["edges"]), Path(origin["nodes"]), directed)
    raise GWNError("this run does not say which graph it was trained on; give --edges and --nodes, or --graph")


def by_name(dataset: str, directed: bool) -> Dataset:
    """A dataset by its name, or a graph folder by its path."""
    folder = open_folder(dataset)
    if folder is None:
        return load_dataset(dataset, directed=directed)
    if directed:
        raise GWNError(f"{dataset} is a graph folder, which holds an undirected graph; leave --directed out")
    return folder.dataset()


def _tables(origin: Mapping[str, Any], edges: Path, nodes: Path, directed: bool) -> Dataset:
    schema = FeatureSchema.from_json(origin["schema"])
    loaded, _ = load_files(edges=edges, nodes=nodes, label_column=None, schema=schema, directed=directed)
    return loaded
