"""`gwn explore`: a page on which the wave can be watched."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from gwn.cli.options import GraphSource, takes_source
from gwn.cli.terminal import print_prose
from gwn.errors import GWNError

if TYPE_CHECKING:
    from gwn.explore.subject import Subject
    from gwn.graph import Graph


@takes_source
def explore(
    source: GraphSource,
    model: str = typer.Option("gwn-fa", "--model", "-m", help="A wave network to train now, or none: impulse only."),
    run: str | None = typer.Option(None, help="A trained run instead: its folder under runs/."),
    runs: Path = typer.Option(Path("runs"), help="Where `gwn train` puts its results."),
    limit: int = typer.Option(3000, help="Draw at most so many nodes; of a larger graph, a neighbourhood."),
    centre: str | None = typer.Option(None, help="The node that the impulse strikes. Default: the one of most edges."),
    out: Path | None = typer.Option(None, help="Folder of the page, or its .html file. Default: explore/NAME."),
    animate: Path | None = typer.Option(None, help="Write the pulse as a film instead of a page: a GIF."),
    serve: bool = typer.Option(False, "--serve", help="Serve it on this machine until Ctrl-C."),
    port: int = typer.Option(0, help="Port for --serve; 0 takes any that is free."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Write a page on which waves travel over the graph: a pulse at any node, and the wave of a trained network.

    It is one file, computes in the browser and asks no network for anything.

    Examples:

      gwn explore cora --model gwn-fa

      gwn explore --run runs/cora-gwn-fa-0123456789ab --serve

      gwn explore pubmed --model none --limit 2000 --centre 7

      gwn explore digits --animate wave.gif
    """
    from gwn.cli.progress import TerminalBar
    from gwn.explore.layout import check_limit, choose_nodes
    from gwn.explore.page import loopback_server, page_file, write_explorer
    from gwn.graph import find_node
    from gwn.io import require_writable, safe_name

    if serve:
        if out is not None and page_file(out) == out:  # what else lies beside a file would be served with it
            raise GWNError(f"--serve serves a folder; got --out {out}: give a folder, the page is its index.html")
        loopback_server(Path(), port).server_close()  # a port that cannot be had is told before the work
    if animate is not None:
        from gwn.explore.animate import check_film, write_film

        if serve or out is not None or run is not None:
            raise GWNError("--animate writes a film and no page; leave out --out, --serve and --run")
        check_film(animate)
        require_writable(animate, option="--animate")
        model = "none"  # a pulse needs no network
    else:
        require_writable(page_file(out or Path("explore")))
    if source.nodes is not None and str(source.nodes).isdecimal():
        print_prose(
            f"gwn: --nodes names a table of nodes; to draw at most {source.nodes} of them, say --limit {source.nodes}",
            err=True,
        )
        limit, source = int(str(source.nodes)), replace(source, nodes=None)
    check_limit(limit)

    def middle_of(graph: Graph) -> int | None:
        middle = None if centre is None else find_node(graph, centre, "--centre")
        choose_nodes(graph, limit, middle)  # what cannot be drawn is told before the work
        return middle

    subject = _subject(source, model, run, runs, quiet, middle_of)
    middle = middle_of(subject.graph)
    if animate is not None:
        with TerminalBar("drawing", 1, "", quiet=quiet) as bar:
            write_film(subject, animate, limit=limit, centre=middle, on_progress=bar.phase)
        typer.echo(f"Open {animate}")
        return
    target = out or Path("explore") / safe_name(subject.name)
    with TerminalBar("drawing", 1, "", quiet=quiet) as bar:
        page = write_explorer(subject, target, limit=limit, centre=middle, on_progress=bar.phase)
    typer.echo(f"Open {page}")
    if serve:
        _serve(target, port)


def _subject(
    source: GraphSource, model: str, run: str | None, runs: Path, quiet: bool, check: Callable[[Graph], object]
) -> Subject:
    """The graph and its wave: of a run, of a network trained now, or of an impulse; `check` refuses other graphs."""
    from gwn.cli.progress import TrainingProgress
    from gwn.cli.run import open_run
    from gwn.cli.source import how_it_was_read, open_source, print_summary
    from gwn.explore.subject import Subject, require_wave, subject_of_run, train_for
    from gwn.models import model_spec
    from gwn.training import TrainConfig

    command = shlex.join(["gwn", *sys.argv[1:]])
    if run is None:
        spec = None if model == "none" else model_spec(model)
        if spec is not None:
            require_wave(spec)
        data, origin = open_source(source)
        if not quiet and (decisions := how_it_was_read(origin)):
            print_prose(decisions, err=True)
            print_summary(data)
        if spec is None:
            return Subject(graph=data.pictured, name=data.name, directed=data.directed, command=command)
        if data.graph.y is None:
            raise GWNError(f"{data.name} has no classes to train on; give --label-column, or --model none for a pulse")
        check(data.pictured)
        with TrainingProgress(1, TrainConfig().epochs, quiet=quiet) as progress:
            run = str(train_for(spec, data, origin, runs, progress.on_epoch))
    elif any((source.dataset, source.edges, source.nodes, source.graph)):
        raise GWNError("a dataset and --run were given; a run knows its own graph, so give one of the two")
    opened = open_run(run, runs)
    opened.say_changes()
    return subject_of_run(opened.folder, opened.trained, opened.data, opened.split, command)


def _serve(folder: Path, port: int) -> None:
    from gwn.explore.page import address, loopback_server

    with loopback_server(folder, port) as server:
        typer.echo(f"Serving on {address(server)} for this machine alone; Ctrl-C ends it")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo("stopped", err=True)
