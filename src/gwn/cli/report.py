"""`gwn report`: every table and figure of the paper as one page, or the page of one run."""

from __future__ import annotations

from pathlib import Path

import typer

from gwn.errors import GWNError


def report(
    run: str | None = typer.Argument(
        None, help="A run's folder, or its name below --runs. Default: the paper's report."
    ),
    results: Path = typer.Option(Path("results"), help="The paper's report: folder of the measured results."),
    out: Path | None = typer.Option(None, help="Where to write. Default: report/, or report.html in the run's folder."),
    node: list[str] = typer.Option([], help="Of a run: a node to explain; may be repeated. Default: its mistakes."),
    number: int | None = typer.Option(None, "--run-number", help="Of a run: which one. Default: best on validation."),
    runs: Path = typer.Option(Path("runs"), help="Where `gwn train` put its results."),
) -> None:
    """Write a page that opens from the disk: of one run, or of all tables and figures of the paper.

    The page of a run has its score with interval, learning curves, confusion matrix, calibration, most confident
    mistakes, reasons for some predictions, and the wave around a node. It is one file and asks no network for anything.

    Examples:

      gwn report runs/mine-gwn-fa-0123456789ab

      gwn report runs/mine-gwn-fa-0123456789ab --node u17 --node u4 --out mine.html

      gwn report --results results --out public
    """
    if run is None and (node or number is not None):
        raise GWNError("--node and --run-number are of a run, and none was named; name its folder: gwn report RUN")
    if run is None:
        from gwn.io import require_writable
        from gwn.paper.report import write_report

        folder = out or Path("report")
        require_writable(folder / "index.html")
        typer.echo(f"Open {write_report(results, folder)}")
        return
    from gwn.cli.run import open_run
    from gwn.graph import find_node
    from gwn.io import require_writable
    from gwn.runs.page import write_run_page

    opened = open_run(run, runs, number)
    target = out or opened.folder / "report.html"
    require_writable(target)
    page = write_run_page(
        target,
        folder=opened.folder,
        trained=opened.trained,
        data=opened.data,
        graph=opened.graph,
        split=opened.split,
        columns=opened.feature_columns(),
        nodes=[find_node(opened.graph, name, "--node") for name in node],
    )
    opened.say_changes()
    typer.echo(f"Open {page}")
