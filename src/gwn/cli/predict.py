"""`gwn predict`: classes and probabilities, or numbers, from a trained model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gwn.cli.options import SkipUnknown
from gwn.cli.terminal import print_prose
from gwn.errors import GWNError
from gwn.html import printable
from gwn.spreadsheet import RAW_CELLS_HELP, require_csv_name, write_csv

if TYPE_CHECKING:
    from gwn.training import TrainedModel

TABLES = ("--edges", "--nodes")
ALONE = {"--graph": TABLES, "--memory": (*TABLES, "--ensemble", "--refit", "--no-calibrate")}
"""Options, and those that would be passed over beside them."""


def predict(
    run: str = typer.Argument(
        ..., help="The folder that `gwn train` or `gwn compare` named, or its name below --runs."
    ),
    edges: Path | None = typer.Option(None, help="A new graph: its edges. Default: the graph it was trained on."),
    nodes: Path | None = typer.Option(None, help="A new graph: its nodes, with the same feature columns."),
    graph: Path | None = typer.Option(None, help="A new graph as one file: NPZ, or a PyG Data object (.pt)."),
    skip_unknown: SkipUnknown = False,
    out: Path = typer.Option(Path("predictions.csv"), help="The CSV file to write."),
    mean: bool = typer.Option(
        False, "--ensemble", help="The mean of all runs; of a node, of those not trained on it. The default."
    ),
    best: bool = typer.Option(False, "--best", help="Only the run that was best on validation, as `gwn explain` does."),
    number: int | None = typer.Option(None, "--run-number", help="Only this run."),
    again: bool = typer.Option(
        False, "--refit", help="One network trained on all labels, for the median best epoch; kept with the run."
    ),
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
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Write node id, known label, prediction, confidence and probabilities as CSV, for the same graph or a new one.

    Examples:

      gwn predict runs/cora-gwn-sym-0123456789ab --out predictions.csv

      gwn predict runs/mine-gwn-fa-0123456789ab --edges new-edges.csv --nodes new-nodes.csv
    """
    from gwn.cli.progress import TerminalBar
    from gwn.cli.run import files_behind
    from gwn.cli.source import predict_folder, print_reading, reopen
    from gwn.io import require_writable
    from gwn.training import find_run_folder
    from gwn.training.predict import answers, blended, changed_files, finished_runs, predictor_of, table_of

    ways = {"--ensemble": mean, "--best": best, "--run-number": number is not None, "--refit": again}
    asked = [option for option, on in ways.items() if on]
    graphs = {"--graph": graph, "--memory": memory}
    others = {**ways, "--edges": edges, "--nodes": nodes, "--no-calibrate": not calibrate}
    pairs = [[one, other] for one in ALONE if graphs[one] is not None for other in ALONE[one] if others[other]]
    for options in (asked, *pairs):
        if len(options) > 1:
            raise GWNError(f"{' and '.join(options)} do not go together; give one of them")
    if skip_unknown and edges is None:
        raise GWNError("--skip-unknown says how --edges is read; give --edges and --nodes, or leave it out")
    require_csv_name(out)
    require_writable(out, reading=[edges, nodes, graph])
    folder = find_run_folder(run, runs)
    require_writable(out, reading=files_behind(folder))
    members = predictor_of(run, runs) or [(folder, 1.0)]
    count = sum(len(finished_runs(member)) for member, _ in members)
    together = mean or (not asked and memory is None and count > 1)
    if memory is not None:
        trained, how = _one_run(folder, number, count)
        with TerminalBar("reading", 1000, "per mille", quiet=quiet) as bar:
            written = predict_folder(
                trained,
                graph,
                runs,
                out,
                memory,
                raw_cells,
                lambda what, done, total: bar.stage(what, 1000 * done / total, 1000),
                bar.say,
            )
    else:
        same = edges is None and graph is None

        def open_(origin: Any) -> Any:
            return reopen(origin, edges, nodes, graph, skip_unknown)

        if together:
            data, found, trained = blended(members, open_, same=same, device=device, calibrated=calibrate)
            models = f" of {len(members)} models" if len(members) > 1 else ""
            how = f"mean of {count} runs{models}; --best takes the best one alone"
        else:
            trained, how = _refitted(folder, device) if again else _one_run(folder, number, count)
            data = open_(trained.origin)
            found = answers(trained, data.graph, device, calibrate)
        warnings = [changed] if same and (changed := changed_files(trained.config, data)) else []
        if data.tables is not None and (warnings or edges is not None):
            warnings += data.tables.schema.unlike(data.tables.table)
        if edges is not None and nodes is not None and not quiet:
            print_reading(edges, nodes, data)
        for warning in warnings:
            print_prose(f"gwn: warning: {printable(warning)}", err=True)
        if shown := trained.shown_labels(data.graph):
            print_prose(f"known labels: {shown}", err=True)
        table = table_of(data.graph, found, trained)
        written = write_csv(out, list(table.columns), table.itertuples(index=False), raw=raw_cells)
    if written.note:
        print_prose(f"gwn: note: {written.note}", err=True)
    done = {
        "out": str(out),
        "nodes": written.rows,
        "run": None if together or again else trained.run.run,
        "how": how,
        "task": trained.task,
        "classes": trained.class_names,
        "temperature": trained.run.temperature if calibrate and not together else None,
    }
    if as_json:
        typer.echo(json.dumps(done))
    else:
        print_prose(f"{written.rows} nodes written to {out} ({how})")


def _one_run(folder: Path, number: int | None, count: int) -> tuple[TrainedModel, str]:
    """The run with this number, or the best of `count`, and which that is in words."""
    from gwn.training import load_trained

    trained = load_trained(folder, number)
    why = "as asked for" if number is not None else "best on validation" if count > 1 else "the only one"
    return trained, f"run {trained.run.run}, {why}"


def _refitted(folder: Path, device: str) -> tuple[TrainedModel, str]:
    """One network trained on all labels of the graph of the training, and that in words."""
    from gwn.cli.source import reopen
    from gwn.training import load_trained, refit

    learnt = reopen(load_trained(folder).config.get("origin"), None, None, None)
    trained = refit(folder, learnt, device)
    count = int(learnt.graph.labelled.sum())
    return trained, f"trained on all {count:,} labelled nodes for {trained.run.best_epoch} epochs"
