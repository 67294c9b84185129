"""`gwn report`: every table and figure as one page."""

from __future__ import annotations

from pathlib import Path

import typer


def report(
    results: Path = typer.Option(Path("results"), help="Folder of the measured results."),
    out: Path = typer.Option(Path("report"), help="Folder of the page."),
) -> None:
    """Write one folder that opens from the disk: all tables and figures, with settings, commands and environment.

    Examples:

      gwn report

      gwn report --results results --out public
    """
    from gwn.io import require_writable
    from gwn.paper.report import write_report

    require_writable(out / "index.html")
    typer.echo(f"Open {write_report(results, out)}")
