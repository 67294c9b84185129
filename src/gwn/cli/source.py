"""Graph folders on the command line: which arguments are one, and how much of it may be in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gwn.data import DATASETS, Dataset, load_dataset
from gwn.data.files import load_files, load_graph_file
from gwn.data.folders.folder import GraphFolder, is_folder
from gwn.data.schema import FeatureSchema
from gwn.errors import GWNError
from gwn.outofcore.experiment import FileExperiment, OnColumns, predict_to_csv, require_in_memory
from gwn.training import Experiment, TrainedModel
from gwn.training.memory import parse_memory

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


def open_folder(dataset: str | None) -> GraphFolder | None:
    """The graph folder of this name; None for a dataset's name, or where nothing was given."""
    return None if dataset is None or dataset in DATASETS or not is_folder(dataset) else GraphFolder.open(dataset)


class OnFiles:
    """What `--memory` means for a graph: from file to file with `precompute`, or a check that the whole fits."""

    def __init__(self, dataset: str | None, memory: str | None, settings: Mapping[str, Any]) -> None:
        self.graph = open_folder(dataset)
        self.memory = None if memory is None else parse_memory(memory)
        if self.memory is not None and self.graph is None:
            raise GWNError("--memory goes with a graph folder: make one with `gwn data convert` or `gwn data generate`")
        self.report: OnColumns = lambda done, total: None
        self.active = self.memory is not None and bool(settings.get("precompute"))
        if self.graph is not None and self.memory is not None and not self.active:
            require_in_memory(self.graph, int(settings.get("hidden_channels", 1)), self.memory)

    def source(self) -> tuple[Dataset, dict[str, Any]]:
        """Labels and splits, and where the rest is."""
        assert self.graph is not None
        return self.graph.labels(), {"dataset": str(self.graph.path), "directed": False}

    def experiment(self, out: Path, **fields: Any) -> Experiment:
        """The experiment on files, or the usual one."""
        if not self.active:
            return Experiment(**fields)
        assert self.graph is not None
        assert self.memory is not None
        return FileExperiment(
            **fields,
            graph=self.graph,
            memory=self.memory,
            root=out,
            on_columns=lambda done, total: self.report(done, total),
        )


def predict_folder(trained: TrainedModel, graph: Path | None, root: Path, out: Path, memory: str) -> int:
    """Predictions for the folder a model was trained on, or for another one; how many nodes."""
    origin = (trained.config.get("origin") or {}).get("dataset")
    folder = open_folder(origin if graph is None else str(graph))
    if folder is None:
        raise GWNError("--memory goes with a graph folder: name one with --graph, or leave --memory out")
    return predict_to_csv(trained, folder, root, out, memory=parse_memory(memory))
