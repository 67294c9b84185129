"""`gwn export`: a trained network as one file that runs without this package."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from gwn.cli.terminal import print_prose
from gwn.errors import GWNError


def export(
    run: str = typer.Argument(..., help="The folder that `gwn train` named, or its name below --runs."),
    kind: str | None = typer.Option(
        None, "--format", help="torch-export, or onnx (extra `export`). Default: by the ending of --out, torch-export."
    ),
    out: Path | None = typer.Option(None, help="The file to write. Default: MODEL.pt2 or MODEL.onnx."),
    number: int | None = typer.Option(None, "--run-number", help="Which run's weights. Default: best on validation."),
    runs: Path = typer.Option(Path("runs"), help="Where `gwn train` put its results."),
    as_json: bool = typer.Option(False, "--json", help="Print what was done as JSON."),
) -> None:
    """Write a run's network as one file that takes x, edge_index and edge_weight of a graph of any size.

    The file is read again and compared with the network. A JSON file beside it says how to feed it: classes, features,
    and how the columns of a table become numbers.

    Examples:

      gwn export runs/mine-gwn-fa-0123456789ab --out mine.pt2

      gwn export runs/mine-gwn-fa-0123456789ab --format onnx --out mine.onnx
    """
    from gwn.cli.run import files_behind, open_run
    from gwn.export import FORMATS, export_run
    from gwn.io import require_writable
    from gwn.registry import lookup

    known = FORMATS if kind is None else {kind: lookup("format", kind, FORMATS)}
    fitting = [name for name, form in known.items() if out is None or out.suffix.lower() == form.ending]
    if not fitting:
        allowed = " or ".join(f"{form.ending} ({name})" for name, form in known.items())
        raise GWNError(f"{out} does not end as its format does; let the name that --out gives end in {allowed}")
    kind = fitting[0]
    form = FORMATS[kind]
    form.require(kind)
    opened = open_run(run, runs, number)
    target = out or Path(f"{opened.trained.config['model']}{form.ending}")
    for file in (target, target.with_suffix(".json")):
        require_writable(file, reading=files_behind(opened.folder))
    about, difference = export_run(opened.trained, opened.graph, kind, target)
    opened.say_changes()
    if as_json:
        typer.echo(json.dumps({"out": str(target), "about": str(about), "difference": difference}))
        return
    print_prose(
        f"Written to {target} ({kind}, any number of nodes and edges); it differs from the network by at most "
        f"{difference:.0e} of the largest logit\nHow to feed it: {about}"
    )
