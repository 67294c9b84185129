"""`gwn data`: which graphs there are and what is in them; graph folders from a formula or from a user's tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from gwn.cli.options import (
    DropColumns,
    GraphSource,
    IdColumn,
    LabelColumn,
    NoHeader,
    SourceColumn,
    TargetColumn,
    TextColumns,
    takes_source,
)
from gwn.cli.terminal import WholeSentences, print_prose, print_table
from gwn.errors import GWNError
from gwn.html import printable
from gwn.registry import require_known

app = typer.Typer(
    cls=WholeSentences, help="List, describe, verify, generate, convert.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("list")
def list_datasets(as_json: bool = typer.Option(False, "--json", help="Print as JSON.")) -> None:
    """The datasets by name, with the paper's counts.

    Homophily is the share of edges that join equal classes. What is not on this disk is downloaded when first used.

    Examples:

      gwn data list

      gwn data list --json
    """
    from gwn.data import DATASETS
    from gwn.data.download import on_disk
    from gwn.data.homophily import homophily

    columns = ("name", "nodes", "edges", "features", "classes", "default_split", "metric", "kind")
    alike = homophily()
    nothing = {"edge_homophily": None, "adjusted_homophily": None}
    rows: list[dict[str, Any]] = [
        {column: getattr(spec, column) for column in columns} | alike.get(name, nothing) | {"on_disk": on_disk(spec)}
        for name, spec in DATASETS.items()
    ]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    cells = [
        [
            *(row["name"], row["metric"], row["default_split"], "yes" if row["on_disk"] else "no"),
            *(f"{row[count]:,}" for count in ("nodes", "edges", "features", "classes")),
            "-" if row["edge_homophily"] is None else f"{row['edge_homophily']:.2f}",
        ]
        for row in rows
    ]
    headings = ["name", "metric", "split", "on disk", "nodes", "edges", "features", "classes", "homophily"]
    print_table(headings, cells, left=4, droppable=("split", "features"))


@takes_source
def describe(
    source: GraphSource,
    split: str | None = typer.Option(None, help="Say how far the training classes of this split are off."),
    as_json: bool = typer.Option(False, "--json", help="Print as JSON."),
) -> None:
    """Read a graph and say what is in it, column by column, and what that suggests; nothing is trained.

    Examples:

      gwn data describe --edges edges.csv --nodes nodes.csv --label-column topic

      gwn data describe texas --directed
    """
    from gwn.cli.source import how_it_was_read, open_source
    from gwn.data import make_splits
    from gwn.data.describe import describe as describe_graph

    data, origin = open_source(source)
    try:
        chosen = make_splits(data, split, 1)[0]
    except GWNError:  # too few labels for the split that would be used: then there is nothing to say about it
        if split is not None:
            raise
        chosen = None
    facts = describe_graph(data, chosen)
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    if decisions := how_it_was_read(origin):
        print_prose(decisions.splitlines()[0])  # the others stand beside their columns
    print_description(facts)


def print_description(facts: Mapping[str, Any]) -> None:
    """Columns where there are some, facts, and suggestions, with names that cannot steer the terminal."""
    facts = dict(facts)
    columns, said = facts.pop("columns"), facts.pop("suggestions")
    if columns:
        rows = [
            [row["column"], row["role"], row["note"], f"{row['missing']:,}", f"{row['features']:,}"] for row in columns
        ]
        print_table(["column", "read as", "", "empty", "features"], rows, left=3)
    facts["files"] = f"{len(facts['files'])} files" if columns else f"{len(facts['files'])} files, hashes checked"
    shown = {
        key: value for key, value in facts.items() if value not in (None, "", {}, []) and (key, value) != ("classes", 0)
    }
    print_table(["fact", "value"], [[key.replace("_", " "), _readable(value)] for key, value in shown.items()], left=2)
    for line in said:
        print_prose(printable(line))


app.command("describe")(describe)
app.command("info", help="The same as `gwn data describe`, under its older name.")(describe)


@app.command("verify")
def verify(
    names: list[str] = typer.Argument(None, help="Datasets; all when none is named."),
    as_json: bool = typer.Option(False, "--json", help="Print as JSON."),
) -> None:
    """Check that every file is there and is the published one, by its SHA-256, without opening it.

    Example:  gwn data verify cora pubmed
    """
    from gwn.data import DATASETS
    from gwn.data.describe import verify as verify_files

    for name in names or ():
        require_known("dataset", name, DATASETS)
    rows = [(name, file, status) for name in names or DATASETS for file, status in verify_files(name)]
    if as_json:
        typer.echo(json.dumps([dict(zip(("dataset", "file", "status"), row, strict=True)) for row in rows], indent=2))
    else:
        print_table(["dataset", "file", "status"], rows, left=3)
    changed = sum(status == "changed" for _, _, status in rows)
    if changed:
        raise GWNError(f"{changed} of {len(rows)} files are not the published ones; delete them to download them again")


def _readable(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_readable(item)}" for key, item in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def generate(
    out: Path = typer.Option(..., help="The folder to write."),
    like: str | None = typer.Option(None, help="Take the sizes of a dataset, for example ogbn-arxiv."),
    nodes: int | None = typer.Option(None, help="How many nodes."),
    edges: int | None = typer.Option(None, help="How many undirected edges."),
    features: int | None = typer.Option(None, help="How many features."),
    classes: int | None = typer.Option(None, help="How many classes."),
    homophily: float | None = typer.Option(None, help="Share of edges drawn within a class."),
    communities: int | None = typer.Option(
        None, help="Cut the node numbers into so many communities, in which most edges stay. Default: none."
    ),
    mixing: float | None = typer.Option(None, help="Share of edges drawn between communities. Default: 0.1."),
    seed: int = typer.Option(0, help="The same seed gives the same bytes."),
    memory: str = typer.Option("1GB", help="What the process may hold."),
    force: bool = typer.Option(False, "--force", help="Replace a graph folder that is already there."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Generate a graph of any size: a degree-corrected block model with features and a split by time.

    Examples:

      gwn data generate --like ogbn-arxiv --out arxiv-like

      gwn data generate --nodes 1000000 --edges 10000000 --features 64 --classes 10 --homophily 0.3 --out large

      gwn data generate --nodes 1000000 --edges 10000000 --communities 500 --mixing 0.05 --out local
    """
    from gwn.cli.progress import TerminalBar
    from gwn.data.folders.generate import BlockModel, generate_folder, model_like
    from gwn.memory import parse_memory

    given = {"nodes": nodes, "edges": edges, "features": features, "classes": classes, "homophily": homophily}
    given |= {"communities": communities, "mixing": mixing}
    if mixing is not None and communities is None:
        raise GWNError("--mixing is the share of edges between communities; give --communities too")
    if like is not None:
        model = model_like(like, **given, seed=seed)
    elif nodes is None or edges is None:
        raise GWNError("give --like DATASET, or at least --nodes and --edges")
    else:
        model = BlockModel(**{k: v for k, v in given.items() if v is not None}, seed=seed)  # type: ignore[arg-type]
    with TerminalBar("generating", 1000, "per mille", quiet=quiet) as bar:
        folder = generate_folder(
            model,
            out,
            memory=parse_memory(memory),
            force=force,
            on_part=lambda what, done, total: bar.stage(f"generating {what}", 1000 * done / max(1, total), 1000),
        )
    print_prose(f"{folder.num_nodes:,} nodes and {folder.num_arcs // 2:,} edges in {out}")


def convert(
    edges: Path = typer.Argument(..., help="A CSV or Parquet table of edges, of any length."),
    nodes: Path = typer.Option(..., help="A CSV or Parquet table of nodes."),
    out: Path = typer.Option(..., help="The folder to write."),
    label_column: LabelColumn = None,
    like: Path | None = typer.Option(
        None, help="Read and encode the tables as those of this graph folder, for a model that was trained on it."
    ),
    id_column: IdColumn = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    drop_columns: DropColumns = [],  # noqa: B006
    text_columns: TextColumns = [],  # noqa: B006
    no_header: NoHeader = [],  # noqa: B006
    memory: str = typer.Option("1GB", help="What the process may hold."),
    force: bool = typer.Option(False, "--force", help="Replace a graph folder that is already there."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Read a table of edges in a stream and write the graph as a folder that larger-than-memory training reads.

    Examples:

      gwn data convert edges.csv --nodes nodes.csv --label-column topic --out my-graph --memory 4GB

      gwn data convert new-edges.csv --nodes new-nodes.csv --like my-graph --out new-graph
    """
    from gwn.cli.progress import TerminalBar
    from gwn.cli.source import how_it_was_read
    from gwn.data.folders.convert import convert as convert_tables
    from gwn.memory import parse_memory

    own = {"--label-column": label_column, "--id-column": id_column, "--no-header": no_header}
    own |= {"--drop-column": drop_columns, "--text-column": text_columns}
    given = [option for option, value in own.items() if value]
    if like is not None and given:
        raise GWNError(f"--like {like} reads the tables as those of that folder; leave out {' and '.join(given)}")
    if like is None and label_column is None:
        raise GWNError("give --label-column, the column of the class, or --like, a folder whose tables were alike")
    warnings: list[str] = []
    with TerminalBar("converting", 1000, "per mille", quiet=quiet) as bar:
        folder = convert_tables(
            edges,
            nodes,
            out,
            label_column=label_column,
            like=like,
            id_column=id_column,
            source_column=source_column,
            target_column=target_column,
            drop_columns=drop_columns,
            text_columns=text_columns,
            no_header=no_header,
            memory=parse_memory(memory),
            force=force,
            on_done=lambda what, share: bar.stage(f"converting {what}", 1000 * share, 1000),
            on_warning=warnings.append,
        )
    if not quiet:
        origin = {"edges": edges, "nodes": nodes, "schema": folder.meta["schema"]}
        print_prose(how_it_was_read(origin, weights=False), err=True)
    for line in warnings:
        print_prose(f"gwn: warning: {printable(line)}", err=True)
    print_prose(f"{folder.num_nodes:,} nodes and {folder.num_arcs // 2:,} edges in {out}")


app.command("generate")(generate)
app.command("convert")(convert)
