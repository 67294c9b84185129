"""`gwn explore`: a page on which the wave can be watched."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gwn.errors import GWNError

if TYPE_CHECKING:
    from gwn.explore.subject import Subject


def explore(
    dataset: str | None = typer.Argument(None, help="A dataset by name: see `gwn data list`."),
    model: str = typer.Option("gwn-fa", "--model", "-m", help="A wave network to train now, or none: impulse only."),
    run: str | None = typer.Option(None, help="A trained run instead: its folder under runs/."),
    runs: Path = typer.Option(Path("runs"), help="Where `gwn train` puts its results."),
    edges: Path | None = typer.Option(None, help="Your graph: a CSV or Parquet table of edges."),
    nodes: str | None = typer.Option(None, "--nodes", "--nodes-file", help="Your graph: a table of nodes."),
    label_column: str | None = typer.Option(None, help="Column of the class."),
    graph: Path | None = typer.Option(None, help="Your graph as one file: NPZ, or a PyG Data object (.pt)."),
    limit: int = typer.Option(3000, help="Draw at most so many nodes; of a larger graph, a neighbourhood."),
    centre: str | None = typer.Option(None, help="The node that the impulse strikes. Default: the one of most edges."),
    out: Path | None = typer.Option(None, help="Folder of the page. Default: explore/NAME."),
    serve: bool = typer.Option(False, "--serve", help="Serve it on this machine until Ctrl-C."),
    port: int = typer.Option(0, help="Port for --serve; 0 takes any that is free."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Write a folder with an interactive page: the graph, the wave over time, its spectrum, energy and growth.

    Examples:

      gwn explore cora --model gwn-fa

      gwn explore --run runs/cora-gwn-fa-0123456789ab --serve

      gwn explore pubmed --model none --limit 2000 --centre 7
    """
    from gwn.cli.progress import TerminalBar
    from gwn.explore.layout import check_limit, find_node
    from gwn.explore.page import plotly_script, write_explorer

    if nodes is not None and nodes.isdecimal():
        typer.echo(
            f"gwn: --nodes names a table of nodes; to draw at most {nodes} of them, say --limit {nodes}", err=True
        )
        limit, nodes = int(nodes), None
    check_limit(limit)
    plotly_script()  # what is missing is said before anything is trained
    files = edges, None if nodes is None else Path(nodes), graph
    subject = _subject(dataset, model, run, runs, files, {"label_column": label_column}, quiet)
    target = out or Path("explore") / subject.name
    middle = None if centre is None else find_node(subject.graph, centre)
    with TerminalBar("drawing", 1, "", quiet=quiet) as bar:
        page = write_explorer(subject, target, limit=limit, centre=middle, on_progress=bar.phase)
    typer.echo(f"Open {page}")
    if serve:
        _serve(target, port)


def _subject(
    dataset: str | None,
    model: str,
    run: str | None,
    runs: Path,
    files: tuple[Path | None, Path | None, Path | None],
    columns: dict[str, Any],
    quiet: bool,
) -> Subject:
    """The graph and its wave: of a run, of a network trained now, or of an impulse."""
    from gwn.cli.progress import TrainingProgress
    from gwn.cli.source import open_source, reopen
    from gwn.explore.subject import Subject, require_wave, subject_of_run, train_for
    from gwn.io import read_json
    from gwn.models import model_spec
    from gwn.training import TrainConfig, find_run_folder

    command = shlex.join(["gwn", *sys.argv[1:]])
    edges, nodes, graph = files
    if run is not None:
        if dataset is not None or any(files):
            raise GWNError("a dataset and --run were given; a run knows its own graph, so give one of the two")
        folder = find_run_folder(run, runs)
        data = reopen(read_json(folder / "config.json").get("origin"), None, None, None)
        return subject_of_run(folder, data, command)
    spec = None if model == "none" else model_spec(model)
    if spec is not None:
        require_wave(spec)
    data, origin = open_source(dataset, edges, nodes, graph, False, columns)
    if spec is None:
        return Subject(graph=data.graph, name=data.name, command=command)
    if data.graph.y is None:
        raise GWNError(f"{data.name} has no classes to train on; give --label-column, or --model none for an impulse")
    with TrainingProgress(1, TrainConfig().epochs, quiet=quiet) as progress:
        folder = train_for(spec, data, origin, runs, progress.on_epoch)
    return subject_of_run(folder, data, command)


def _serve(folder: Path, port: int) -> None:
    from gwn.explore.page import address, loopback_server

    with loopback_server(folder, port) as server:
        typer.echo(f"Serving on {address(server)} for this machine alone; Ctrl-C ends it")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo("stopped", err=True)
