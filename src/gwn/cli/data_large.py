"""`gwn data generate` and `gwn data convert`: graph folders, from a formula or from a user's tables."""

from __future__ import annotations

from pathlib import Path

import typer

from gwn.errors import GWNError


def generate(
    out: Path = typer.Option(..., help="The folder to write."),
    like: str | None = typer.Option(None, help="Take the sizes of a dataset, for example ogbn-arxiv."),
    nodes: int | None = typer.Option(None, help="How many nodes."),
    edges: int | None = typer.Option(None, help="How many undirected edges."),
    features: int | None = typer.Option(None, help="How many features."),
    classes: int | None = typer.Option(None, help="How many classes."),
    homophily: float | None = typer.Option(None, help="Share of edges drawn within a class."),
    seed: int = typer.Option(0, help="The same seed gives the same bytes."),
    memory: str = typer.Option("1GB", help="What sorting the edges may take."),
    force: bool = typer.Option(False, "--force", help="Replace a graph folder that is already there."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Generate a graph of any size: a degree-corrected block model with features and a split by time.

    Examples:

      gwn data generate --like ogbn-arxiv --out arxiv-like

      gwn data generate --nodes 1000000 --edges 10000000 --features 64 --classes 10 --homophily 0.3 --out large
    """
    from gwn.cli.bar import TerminalBar
    from gwn.data.large.block_model import BlockModel
    from gwn.data.large.generate import generate_folder, model_like
    from gwn.scale.budget import parse_memory

    given = {"nodes": nodes, "edges": edges, "features": features, "classes": classes, "homophily": homophily}
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
            on_part=lambda what, done, total: bar.update(1000 * done // max(1, total), what),
        )
    typer.echo(f"{folder.num_nodes:,} nodes and {folder.num_arcs // 2:,} edges in {out}")


def convert(
    edges: Path = typer.Argument(..., help="A CSV or Parquet table of edges, of any length."),
    nodes: Path = typer.Option(..., help="A CSV or Parquet table of nodes."),
    out: Path = typer.Option(..., help="The folder to write."),
    label_column: str = typer.Option(..., help="Column of the class; empty cells are nodes to predict."),
    id_column: str | None = typer.Option(None, help="Column of the node id. Default: id, or the row number from 0."),
    source_column: str | None = typer.Option(None, help="Column of the edge's source. Default: found by name."),
    target_column: str | None = typer.Option(None, help="Column of the edge's target. Default: found by name."),
    drop_column: list[str] = typer.Option([], help="A node column that is not a feature; may be repeated."),
    memory: str = typer.Option("1GB", help="What sorting the edges may take."),
    force: bool = typer.Option(False, "--force", help="Replace a graph folder that is already there."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Read a table of edges in a stream and write the graph as a folder that larger-than-memory training reads.

    Example:  gwn data convert edges.csv --nodes nodes.csv --label-column topic --out my-graph --memory 4GB
    """
    from gwn.cli.bar import TerminalBar
    from gwn.data.large.convert import convert as convert_tables
    from gwn.scale.budget import parse_memory

    with TerminalBar("converting", 1000, "per mille", quiet=quiet) as bar:
        folder = convert_tables(
            edges,
            nodes,
            out,
            label_column=label_column,
            id_column=id_column,
            source_column=source_column,
            target_column=target_column,
            drop_columns=drop_column,
            memory=parse_memory(memory),
            force=force,
            on_done=lambda what, share: bar.update(int(1000 * share), what),
        )
    typer.echo(f"{folder.num_nodes:,} nodes and {folder.num_arcs // 2:,} edges in {out}")
