"""Where a graph comes from on the command line: a name, a folder, a pair of tables, or one file."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gwn.cli.options import GraphSource
from gwn.cli.terminal import print_prose
from gwn.data import DATASETS, Dataset, Split
from gwn.data.describe import describe, in_words, isolated_nodes, left_out, reading_in_words
from gwn.data.files import as_trained, load_files, load_graph_file
from gwn.data.folders.folder import GraphFolder, is_folder
from gwn.data.origin import by_name, open_origin
from gwn.data.schema import TASKS, FeatureSchema
from gwn.data.tables import SUFFIXES, suffix_of
from gwn.errors import GWNError
from gwn.html import printable
from gwn.memory import parse_memory
from gwn.outofcore.experiment import FileExperiment, OnColumns, OnDone, predict_to_csv, require_in_memory
from gwn.outofcore.propagate import OnWait
from gwn.outofcore.states import STORED
from gwn.registry import require_known
from gwn.spreadsheet import Written
from gwn.training import Experiment, TrainedModel

Origin = dict[str, Any]


def open_source(source: GraphSource) -> tuple[Dataset, Origin]:
    """The graph, and a plain record from which `reopen` finds it again."""
    dataset, edges, nodes, graph, directed = source.dataset, source.edges, source.nodes, source.graph, source.directed
    given = [what for what, value in (("a name", dataset), ("--edges", edges), ("--graph", graph)) if value is not None]
    if nodes is not None and not given:
        raise GWNError("--nodes needs --edges: a table with one row an edge, its two ends")
    if len(given) != 1:
        what = "nothing was given" if not given else f"{' and '.join(given)} were given"
        raise GWNError(f"{what}; name a dataset (`gwn data list`), or give --edges and --nodes, or --graph")
    require_known("task", source.task, TASKS)
    if edges is None:
        _require_graph(dataset)
        refuse_table_options(source)
    if dataset is not None:
        if source.task != "classification":
            raise GWNError(f"{dataset} has classes and no numbers to predict; leave out --task {source.task}")
        if (folder := open_folder(dataset)) is not None:
            return by_name(dataset, directed), _origin_of(folder)
        return by_name(dataset, directed), {"dataset": dataset, "directed": directed}
    if graph is not None:
        loaded = load_graph_file(graph, directed=directed, task=source.task)
        return loaded, {"graph": str(graph.resolve()), "directed": directed, "task": source.task}
    assert edges is not None
    if nodes is None:
        raise GWNError("--edges needs --nodes: a table with one row a node, its features and its label")
    loaded, schema = load_files(edges=edges, nodes=nodes, directed=directed, **source.reading)
    places = {"edges": str(edges.resolve()), "nodes": str(nodes.resolve())}  # found again from any folder
    return loaded, {**places, "directed": directed, "schema": schema.to_json()}


def _require_graph(dataset: str | None) -> None:
    """Refuse what is neither a dataset nor a graph folder; tables in their place are told how they are given."""
    if dataset is None or dataset in DATASETS:
        return
    place = Path(dataset)
    if suffix_of(place) in SUFFIXES and not place.is_dir():
        raise GWNError(f"{place} is a table and no dataset; give edges with --edges and nodes with --nodes")
    if place.suffix.lower() in (".npz", ".pt") and place.is_file():
        raise GWNError(f"{place} is a graph file and no dataset; give it with --graph")
    if not is_folder(dataset):
        require_known("dataset", dataset, DATASETS)


def refuse_table_options(source: GraphSource) -> None:
    """Refuse options for tables beside a graph that is none: they would be passed over."""
    if source.for_tables:
        named = "a dataset" if source.dataset in DATASETS else "a graph folder"
        what = "a graph file" if source.dataset is None else named
        raise GWNError(
            f"{source.dataset or source.graph} is {what}, and {' and '.join(source.for_tables)} "
            f"{'say' if len(source.for_tables) > 1 else 'says'} how tables are read; leave that out, or give tables "
            f"with --edges and --nodes in its place"
        )


def how_it_was_read(origin: Mapping[str, Any], *, weights: bool = True) -> str:
    """What was decided about a user's tables, a line a decision; nothing for a graph that left nothing to decide.

    weights   whether the command has --weight-column
    """
    if "schema" not in origin:
        return ""
    schema = FeatureSchema.from_json(origin["schema"])
    first = reading_in_words(schema, Path(origin["nodes"]).name, Path(origin["edges"]).name, weights=weights)
    return "\n".join(map(printable, [first, *schema.decisions()]))


def print_reading(edges: Path, nodes: Path, data: Dataset) -> None:
    """How other tables were read by what a run has stored, and what of them was not: a line a decision."""
    assert data.tables is not None
    schema = data.tables.schema
    if schema.label_column not in data.tables.table.columns:
        schema = replace(schema, label_column=None)
    line = how_it_was_read({"edges": edges, "nodes": nodes, "schema": schema.to_json()}, weights=False).splitlines()[0]
    lost = left_out(data.dropped)
    alone = isolated_nodes(data.graph)
    said = [line, *schema.lost_cells(data.tables.table), *([lost] if lost else [])]
    said += [f"{alone:,} of {data.graph.num_nodes:,} nodes without an edge"] if alone else []
    print_prose("\n".join(map(printable, said)), err=True)


def print_summary(data: Dataset, split: Split | None = None) -> None:
    """What was read and what it suggests, a line each, before training."""
    for line in in_words(describe(data, split)):
        print_prose(printable(line), err=True)


def reopen(
    origin: Mapping[str, Any] | None,
    edges: Path | None,
    nodes: Path | None,
    graph: Path | None,
    skip_unknown: bool = False,
) -> Dataset:
    """The graph a model was trained on, or a new one read in the same way."""
    origin = origin or {}
    directed = bool(origin.get("directed", False))
    if (edges is None) != (nodes is None):
        raise GWNError("--edges and --nodes go together: give both, or neither for the graph it was trained on")
    where = origin.get("dataset") if graph is None else str(graph)
    if edges is None and isinstance(where, str) and (folder := open_folder(where)) is not None:
        return _known_to(origin, folder).dataset()
    if graph is not None:
        return load_graph_file(graph, directed=directed, task=origin.get("task", "classification"))
    if edges is not None and nodes is not None:
        if "schema" not in origin:
            raise GWNError("this model was not trained on tables, so it cannot read --edges and --nodes; use --graph")
        return _tables(origin, edges, nodes, directed, skip_unknown)
    return open_origin(origin)


def _tables(origin: Mapping[str, Any], edges: Path, nodes: Path, directed: bool, skip_unknown: bool) -> Dataset:
    schema = FeatureSchema.from_json(origin["schema"])
    with as_trained(schema):
        return load_files(
            edges=edges, nodes=nodes, label_column=None, schema=schema, directed=directed, skip_unknown=skip_unknown
        )[0]


def open_folder(dataset: str | None) -> GraphFolder | None:
    """The graph folder of this name; None for a dataset's name, or where nothing was given."""
    return None if dataset is None or dataset in DATASETS or not is_folder(dataset) else GraphFolder.open(dataset)


def _origin_of(folder: GraphFolder) -> Origin:
    """A graph folder as an origin; found again from any folder, as long as its columns are encoded as now."""
    return {"dataset": str(folder.path.resolve()), "directed": False, "encoding": folder.encoding}


def _known_to(origin: Mapping[str, Any], folder: GraphFolder) -> GraphFolder:
    """The folder, refused where its columns are not encoded as a model knows them; older runs do not say how."""
    if "schema" in origin:
        raise GWNError(
            f"this model was trained on tables, which it encodes in its own way, and {folder.path} is a graph folder; "
            f"give the tables it was made from with --edges and --nodes"
        )
    if origin.get("encoding", folder.encoding) == folder.encoding:
        return folder
    known = Path(str(origin.get("dataset")))
    if folder.path.resolve() == known:
        raise GWNError(f"{folder.path} was made anew since training, and encodes its columns differently; train again")
    raise GWNError(
        f"{folder.path} encodes its columns by its own tables, and this model by those of {known}; make it again with "
        f"`gwn data convert --like {shlex.quote(str(known))}`"
    )


class OnFiles:
    """What `--memory` means for a graph: from file to file with `precompute`, or a check that the whole fits."""

    def __init__(
        self, dataset: str | None, memory: str | None, settings: Mapping[str, Any], stored: str = "float32"
    ) -> None:
        require_known("type of stored states", stored, STORED)
        self.stored = stored
        self.graph = open_folder(dataset)
        self.memory = None if memory is None else parse_memory(memory)
        if self.memory is not None and self.graph is None:
            raise GWNError("--memory goes with a graph folder: make one with `gwn data convert` or `gwn data generate`")
        self.report: OnColumns = lambda done, total: None
        self.say: OnWait = lambda line: None
        self.active = self.memory is not None and bool(settings.get("precompute"))
        if self.graph is not None and self.memory is not None and not self.active:
            require_in_memory(self.graph, int(settings.get("hidden_channels", 1)), self.memory)

    def source(self) -> tuple[Dataset, dict[str, Any]]:
        """Labels and splits, and where the rest is."""
        assert self.graph is not None
        return self.graph.labels(), _origin_of(self.graph)

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
            stored=self.stored,
            on_columns=lambda done, total: self.report(done, total),
            on_wait=lambda line: self.say(line),
        )


def predict_folder(
    trained: TrainedModel,
    graph: Path | None,
    root: Path,
    out: Path,
    memory: str,
    raw_cells: bool = False,
    on_done: OnDone = lambda what, done, total: None,
    on_wait: OnWait = lambda line: None,
) -> Written:
    """Predictions for the folder a model was trained on, or for another one."""
    origin = (trained.config.get("origin") or {}).get("dataset")
    folder = open_folder(origin if graph is None else str(graph))
    if folder is None:
        raise GWNError("--memory goes with a graph folder: name one with --graph, or leave --memory out")
    _known_to(trained.origin, folder)
    return predict_to_csv(
        trained, folder, root, out, memory=parse_memory(memory), raw_cells=raw_cells, on_done=on_done, on_wait=on_wait
    )
