"""A finished run, opened again: its model, the graph as that run saw it, and which nodes it was trained on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gwn.cli.source import reopen
from gwn.cli.terminal import print_prose
from gwn.data import Dataset, Split, make_splits
from gwn.data.schema import FeatureSchema
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.html import printable
from gwn.io import read_json
from gwn.training import TrainedModel, find_run_folder, load_trained
from gwn.training.predict import changed_files


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenRun:
    """What is needed to look into a run."""

    folder: Path
    trained: TrainedModel
    data: Dataset
    split: Split
    changed: str = ""

    def say_changes(self) -> None:
        """Warn, once nothing is left to refuse, where the files are no longer those of the training."""
        if self.changed:
            print_prose(f"gwn: warning: {printable(self.changed)}", err=True)

    @property
    def graph(self) -> Graph:
        """The graph as this run saw it."""
        return self.data.graph

    @property
    def schema(self) -> FeatureSchema | None:
        """How the columns of a user's table became features; None for other graphs."""
        found = self.trained.origin.get("schema")
        return None if found is None else FeatureSchema.from_json(found)

    def feature_columns(self) -> list[str]:
        """For every feature, the column it was made from."""
        schema, graph = self.schema, self.graph
        if schema is None:
            return list(graph.feature_names or (f"feature {index}" for index in range(graph.num_features)))
        names = [column.name for column in schema.columns for _ in column.feature_names]
        return names + [f"{schema.structural} (from the edges)"] * (graph.num_features - len(names))

    def cells(self, node: int) -> dict[str, str]:
        """A node's row of the user's table, as it was written; nothing for other graphs."""
        if self.schema is None or self.data.tables is None:
            return {}
        table = self.data.tables.table
        return {column.name: table.cell(column.name, node) for column in self.schema.columns}


def files_behind(folder: Path) -> list[str | Path]:
    """The files of a run and those of the graph that it was trained on: whatever is written, they are to be kept."""
    origin = read_json(folder / "config.json").get("origin")
    places = [origin.get(name) for name in ("edges", "nodes", "graph")] if isinstance(origin, dict) else []
    own = [*folder.glob("run-*"), folder / "config.json", folder / "result.json"]
    return [*own, *(place for place in places if isinstance(place, str))]


def open_run(run: str, runs: Path, number: int | None = None) -> OpenRun:
    """The run by its folder or name."""
    folder = find_run_folder(run, runs)
    trained = load_trained(folder, number)
    config = trained.config
    data = reopen(trained.origin, None, None, None)
    split = make_splits(data, config["split"], trained.run.run + 1, config["seed"])[trained.run.run]
    if split.content_hash() != trained.run.split_hash:
        raise GWNError(
            f"the labels of {data.name} are not those that {folder.name} was trained on, so its training nodes are not "
            f"known; put the files back, or train again"
        )
    return OpenRun(folder=folder, trained=trained, data=data, split=split, changed=changed_files(config, data))
