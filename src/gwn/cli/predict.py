"""`gwn predict`: classes and probabilities from a trained model."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from gwn.spreadsheet import RAW_CELLS_HELP, write_csv


def predict(
    run: str = typer.Argument(..., help="The folder that `gwn train` named, or its name below --runs."),
    edges: Path | None = typer.Option(None, help="A new graph: its edges. Default: the graph it was trained on."),
    nodes: Path | None = typer.Option(None, help="A new graph: its nodes, with the same feature columns."),
    graph: Path | None = typer.Option(None, help="A new graph as one file: NPZ, or a PyG Data object (.pt)."),
    out: Path = typer.Option(Path("predictions.csv"), help="The CSV file to write."),
    number: int | None = typer.Option(None, "--run-number", help="Which run's weights. Default: best on validation."),
    runs: Path = typer.Option(Path("runs"), help="Where `gwn train` put its results."),
    memory: str | None = typer.Option(
        None, help="What a graph folder may take, e.g. 4GB: it is then worked on from file to file."
    ),
    raw_cells: bool = typer.Option(False, "--raw-cells", help=RAW_CELLS_HELP),
    device: str = typer.Option("auto", help="auto, cpu, cuda or mps."),
    as_json: bool = typer.Option(False, "--json", help="Print what was done as JSON."),
) -> None:
    """Write node id, predicted class and probabilities as CSV, for the same graph or a new one.

    Examples:

      gwn predict runs/cora-gwn-sym-0123456789ab --out predictions.csv

      gwn predict runs/mine-gwn-fa-0123456789ab --edges new-edges.csv --nodes new-nodes.csv
    """
    from gwn.cli.source import changed_files, reopen
    from gwn.io import require_writable
    from gwn.training import find_run_folder, load_trained
    from gwn.training import predict as predict_nodes

    require_writable(out)
    trained = load_trained(find_run_folder(run, runs), number)
    if memory is not None:
        from gwn.cli.source import predict_folder

        written = predict_folder(trained, graph, runs, out, memory, raw_cells)
    else:
        data = reopen(trained.origin, edges, nodes, graph)
        warning = changed_files(trained.config, data) if edges is None and graph is None else ""
        if warning:
            typer.echo(f"gwn: warning: {warning}", err=True)
        if shown := trained.shown_labels(data.graph):
            typer.echo(f"known labels: {shown}", err=True)
        table = predict_nodes(trained, data.graph, device)
        written = write_csv(out, list(table.columns), table.itertuples(index=False), raw=raw_cells)
    if written.note:
        typer.echo(f"gwn: note: {written.note}", err=True)
    done = {"out": str(out), "nodes": written.rows, "run": trained.run.run, "classes": trained.class_names}
    if as_json:
        typer.echo(json.dumps(done))
    else:
        chosen = "best on validation" if number is None else "as asked for"
        typer.echo(f"{written.rows} nodes written to {out} (run {trained.run.run}, {chosen})")
