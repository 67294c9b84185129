"""`gwn predict`: classes and probabilities, or numbers, from a trained model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from gwn.errors import GWNError
from gwn.spreadsheet import RAW_CELLS_HELP, write_csv


def predict(
    run: str = typer.Argument(..., help="The folder that `gwn train` named, or its name below --runs."),
    edges: Path | None = typer.Option(None, help="A new graph: its edges. Default: the graph it was trained on."),
    nodes: Path | None = typer.Option(None, help="A new graph: its nodes, with the same feature columns."),
    graph: Path | None = typer.Option(None, help="A new graph as one file: NPZ, or a PyG Data object (.pt)."),
    out: Path = typer.Option(Path("predictions.csv"), help="The CSV file to write."),
    number: int | None = typer.Option(None, "--run-number", help="Which run's weights. Default: best on validation."),
    mean: bool = typer.Option(False, "--ensemble", help="The mean of all runs; of a node, those not trained on it."),
    again: bool = typer.Option(False, "--refit", help="Train once more, on all labels, for the median best epoch."),
    calibrate: bool = typer.Option(
        True,
        "--calibrate/--no-calibrate",
        help="Probabilities with the temperature learnt on validation, or as they are.",
    ),
    runs: Path = typer.Option(Path("runs"), help="Where `gwn train` put its results."),
    memory: str | None = typer.Option(
        None, help="What a graph folder may take, e.g. 4GB: it is then worked on from file to file."
    ),
    raw_cells: bool = typer.Option(False, "--raw-cells", help=RAW_CELLS_HELP),
    device: str = typer.Option("auto", help="auto, cpu, cuda or mps."),
    as_json: bool = typer.Option(False, "--json", help="Print what was done as JSON."),
) -> None:
    """Write node id, known label, prediction, confidence and probabilities as CSV, for the same graph or a new one.

    Examples:

      gwn predict runs/cora-gwn-sym-0123456789ab --out predictions.csv

      gwn predict runs/mine-gwn-fa-0123456789ab --edges new-edges.csv --nodes new-nodes.csv
    """
    from gwn.cli.source import changed_files, reopen
    from gwn.io import require_writable
    from gwn.training import ensemble, find_run_folder, load_trained, refit
    from gwn.training.predict import answers, table_of

    asked = [
        name for name, on in (("--run-number", number is not None), ("--ensemble", mean), ("--refit", again)) if on
    ]
    if len(asked) > 1 or (memory is not None and (mean or again)):
        raise GWNError(
            f"{' and '.join([*asked, *(['--memory'] if memory else [])])} do not go together; give one of them"
        )
    require_writable(out)
    folder = find_run_folder(run, runs)
    trained = load_trained(folder, number)
    if memory is not None:
        from gwn.cli.source import predict_folder

        written = predict_folder(trained, graph, runs, out, memory, raw_cells)
        how = _which(trained.run.run, number)
    else:

        def open_(origin: Any) -> Any:
            return reopen(origin, edges, nodes, graph)

        same = edges is None and graph is None
        if mean:
            data, found, trained = ensemble(folder, open_, same=same, device=device, calibrated=calibrate)
            how = "mean of all finished runs"
        elif again:
            learnt = reopen(trained.config.get("origin"), None, None, None)
            trained = refit(folder, learnt, device)
            data = open_(trained.origin)
            found = answers(trained, data.graph, device, calibrate)
            count = int(learnt.graph.labelled.sum())
            how = f"trained on all {count:,} labelled nodes for {trained.run.best_epoch} epochs"
        else:
            data = open_(trained.origin)
            found, how = answers(trained, data.graph, device, calibrate), _which(trained.run.run, number)
        warning = changed_files(trained.config, data) if same else ""
        if warning:
            typer.echo(f"gwn: warning: {warning}", err=True)
        if shown := trained.shown_labels(data.graph):
            typer.echo(f"known labels: {shown}", err=True)
        table = table_of(data.graph, found, trained)
        written = write_csv(out, list(table.columns), table.itertuples(index=False), raw=raw_cells)
    if written.note:
        typer.echo(f"gwn: note: {written.note}", err=True)
    done = {
        "out": str(out),
        "nodes": written.rows,
        "run": None if mean or again else trained.run.run,
        "how": how,
        "task": trained.task,
        "classes": trained.class_names,
        "temperature": trained.run.temperature if calibrate and not mean else None,
    }
    if as_json:
        typer.echo(json.dumps(done))
    else:
        typer.echo(f"{written.rows} nodes written to {out} ({how})")


def _which(run: int, number: int | None) -> str:
    return f"run {run}, {'best on validation' if number is None else 'as asked for'}"
