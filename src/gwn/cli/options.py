"""The options that say where a graph comes from and how tables are read: the same words in every command."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

Edges = Annotated[Path | None, typer.Option(help="Your graph: a CSV or Parquet table of edges.")]
Nodes = Annotated[
    Path | None, typer.Option("--nodes", "--nodes-file", help="Your graph: a CSV or Parquet table of nodes.")
]
GraphFile = Annotated[Path | None, typer.Option(help="Your graph as one file: NPZ, or a PyG Data object (.pt).")]
SkipUnknown = Annotated[
    bool, typer.Option("--skip-unknown", help="Leave out edges that name nodes which the node table does not have.")
]
Directed = Annotated[bool, typer.Option("--directed", help="Keep edges as stored instead of making them undirected.")]
LabelColumn = Annotated[str | None, typer.Option(help="Column of the class; empty cells are nodes to predict.")]
IdColumn = Annotated[str | None, typer.Option(help="Column of the node id. Default: the one with the edges' ids.")]
WeightColumn = Annotated[str | None, typer.Option(help="Column of the edge weight. Default: every edge weighs one.")]
SourceColumn = Annotated[str | None, typer.Option(help="Column of the edge's source. Default: by name, else by ids.")]
TargetColumn = Annotated[str | None, typer.Option(help="Column of the edge's target. Default: by name, else by ids.")]
DropColumns = Annotated[
    list[str],
    typer.Option("--drop-column", metavar="NAME", help="A node column that is not a feature; may be repeated."),
]
TextColumns = Annotated[
    list[str],
    typer.Option("--text-column", metavar="NAME", help="A node column whose words are features; may be repeated."),
]
NoHeader = Annotated[
    list[str],
    typer.Option(
        metavar="TABLE", help="edges or nodes: that table begins with data; its columns are column-1, column-2, ..."
    ),
]
Task = Annotated[str, typer.Option(help="classification, or regression: predict the number in the label column.")]
Features = Annotated[
    str | None,
    typer.Option(
        help="Features from the edges: spectral, structure, degree, random-walk, constant; commas join several."
    ),
]

PRIOR_HELP = (
    "Correct answers for classes that are not as frequent elsewhere as among the training nodes: em estimates their "
    "shares from the unlabelled nodes, validation counts validation labels, calibrated also fits a factor to them, "
    "none leaves answers as they are."
)
PRIOR_AND_ROC_AUC = (
    "prior: ROC-AUC asks for the order of the nodes, which a prior does not change; it changes the probabilities alone"
)


@dataclass(frozen=True, kw_only=True)
class GraphSource:
    """Where a graph comes from, as `gwn.cli.source.open_source` takes it; a command gets it with `takes_source`."""

    dataset: Annotated[str | None, typer.Argument(help="A dataset by name (`gwn data list`), or a graph folder.")] = (
        None
    )
    edges: Edges = None
    nodes: Nodes = None
    graph: GraphFile = None
    directed: Directed = False
    label_column: LabelColumn = None
    task: Task = "classification"
    id_column: IdColumn = None
    weight_column: WeightColumn = None
    source_column: SourceColumn = None
    target_column: TargetColumn = None
    drop_columns: DropColumns = field(default_factory=list)
    text_columns: TextColumns = field(default_factory=list)
    features: Features = None
    no_header: NoHeader = field(default_factory=list)
    skip_unknown: SkipUnknown = False

    @property
    def reading(self) -> dict[str, Any]:
        """How the two tables are to be read: what `gwn.data.files.load_files` is told beside the files."""
        elsewhere = {"dataset", "edges", "nodes", "graph", "directed", "features"}
        reading = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name not in elsewhere}
        return {"structural": self.features, **reading}

    @property
    def for_tables(self) -> list[str]:
        """The options that were given and say something of tables alone."""
        everywhere = {"dataset", "edges", "graph", "directed", "task"}
        given = [entry.name for entry in fields(self) if entry.name not in everywhere and getattr(self, entry.name)]
        return [f"--{name.replace('columns', 'column').replace('_', '-')}" for name in given]


def takes_source(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for every field of `GraphSource` in the place of its parameter `source`."""
    kinds = get_type_hints(GraphSource, include_extras=True)
    own = get_type_hints(command, include_extras=True)
    parameters = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name != "source":
            parameters.append(parameter.replace(annotation=own[parameter.name], kind=parameter.KEYWORD_ONLY))
            continue
        for entry in fields(GraphSource):
            default = entry.default if entry.default is not MISSING else []
            parameters.append(
                parameter.replace(
                    name=entry.name, annotation=kinds[entry.name], default=default, kind=parameter.KEYWORD_ONLY
                )
            )

    @functools.wraps(command)
    def call(**given: Any) -> None:
        source = GraphSource(**{entry.name: given.pop(entry.name) for entry in fields(GraphSource)})
        command(source=source, **given)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call
