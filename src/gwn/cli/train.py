"""`gwn train`: one model on one graph over several splits."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gwn.cli.options import PRIOR_AND_ROC_AUC, PRIOR_HELP, GraphSource, takes_source
from gwn.cli.processes import training_processes
from gwn.cli.terminal import as_word, print_prose, print_table
from gwn.errors import MOST_RUNS, MOST_SEED, GWNError, require_between
from gwn.html import printable

if TYPE_CHECKING:
    from gwn.training import RunResult
    from gwn.training.metrics import Metric


@takes_source
def train(
    source: GraphSource,
    model: str = typer.Option("gwn-sym", "--model", "-m", help="A model by name: see `gwn models`."),
    split: str | None = typer.Option(
        None,
        help="per-class, uniform, stratified, tenfold, set-aside, validate-20 (no test), or one that came with the "
        "data: geom, public, published, time. Default: the dataset's.",
    ),
    runs: int = typer.Option(10, help="How many runs; each has its own split and seed."),
    seed: int = typer.Option(0, help="The first run's seed; run r uses seed + r."),
    settings: list[str] = typer.Option([], "--set", metavar="NAME=VALUE", help="A setting: see `gwn models NAME`."),
    labels: str | None = typer.Option(
        None,
        show_default="none",
        help="masked: show the network the training labels of other nodes; none: features alone.",
    ),
    smooth: str | None = typer.Option(
        None, show_default="none", help="correct: correct and smooth what the trained network says, or none."
    ),
    prior: str = typer.Option("none", help=PRIOR_HELP),
    select: str | None = typer.Option(
        None,
        show_default="score",
        help="Which epoch is kept: score, the highest validation score, or loss, the lowest validation loss.",
    ),
    class_weights: str | None = typer.Option(
        None,
        show_default="none",
        help="balanced: each class weighs as much as the others, which helps rare ones; none: each node does.",
    ),
    device: str = typer.Option("auto", help="auto, cpu, cuda or mps."),
    dtype: str = typer.Option("float32", help="float32 or float64."),
    precompute: bool = typer.Option(
        False, "--precompute", help="Train without propagating: for a fixed operator and linear maps."
    ),
    memory: str | None = typer.Option(
        None, help="What a graph folder may take, e.g. 4GB; with --precompute it is worked on from file to file."
    ),
    stored: str = typer.Option(
        "float32", help="With --memory and gwn-bank: states on disk as float32, or as float16 in half the room."
    ),
    deterministic: bool = typer.Option(False, "--deterministic", help="Refuse operations that are not repeatable."),
    processes: int | None = typer.Option(
        None, help="Share the graph among so many processes on this machine; several machines: torchrun."
    ),
    partition: str = typer.Option("auto", help="Which process owns which nodes: metis, contiguous or auto."),
    checkpoint: float = typer.Option(60.0, help="Seconds between checkpoints of a run; an interrupted one goes on."),
    tuned: bool = typer.Option(True, "--tuned/--no-tuned", help="Use tuned settings where there are any, or not."),
    out: Path = typer.Option(Path("runs"), help="Folder for the results."),
    force: bool = typer.Option(False, "--force", help="Compute again what is already there."),
    details: bool | None = typer.Option(
        None, "--details/--no-details", help="A table of the classes on test. Default: for your own graphs."
    ),
    log: str | None = typer.Option(None, help="Also log epochs and runs: tensorboard, wandb or mlflow (`trackers`)."),
    as_json: bool = typer.Option(False, "--json", help="Print the whole result as JSON."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Train a model and measure it over several splits; the epoch is chosen on validation alone.

    Examples:

      gwn train cora --model gwn-sym --runs 10

      gwn train texas --model gwn-fa --split geom --set tau=0.5 --set time=3

      gwn train --edges edges.csv --nodes nodes.csv --label-column topic

      gwn train FOLDER --model gwn-sym --precompute --memory 4GB --runs 1

      gwn train FOLDER --model gwn-fa --processes 2 --runs 1
    """
    require_between("--runs", runs, 1, MOST_RUNS)
    require_between("--seed", seed, 0, MOST_SEED)
    require_between("--checkpoint", checkpoint, 0, 1e9)
    with training_processes(processes, device=device, partition=partition) as leader:
        from gwn.cli.progress import TrainingProgress
        from gwn.cli.source import OnFiles, how_it_was_read, open_source, print_summary, refuse_table_options
        from gwn.data import make_splits
        from gwn.models import model_spec
        from gwn.settings import find_tuned
        from gwn.trackers import tracking
        from gwn.training import TrainConfig, run_experiment
        from gwn.training.config import effective_settings, parse_settings

        spec = model_spec(model)
        for_model, for_training = parse_settings(spec, [*settings, "precompute=true"] if precompute else settings)
        options = {"device": device, "dtype": dtype, "deterministic": deterministic, "prior": prior}
        by_option = {name: value for name, value in options.items() if value != getattr(TrainConfig, name)}
        of_choice = {"labels": labels, "smooth": smooth, "select": select, "class_weights": class_weights}
        # Also where it is the default: whoever says "none" means it, whatever tuned settings say.
        for_training = {
            **by_option,
            **{name: value for name, value in of_choice.items() if value is not None},
            **for_training,
        }
        config = TrainConfig(**{**spec.training, **for_training})
        chosen = effective_settings(spec, for_model)
        spec.build(1, 2, **chosen)  # a wrong setting is said before any data is read
        files = OnFiles(source.dataset, memory, chosen, stored)
        on_disk = files.active or (leader is not None and files.graph is not None)
        if on_disk:
            refuse_table_options(source)
        data, origin = files.source() if on_disk else open_source(source)
        if not quiet and (decisions := how_it_was_read(origin)):
            print_prose(decisions, err=True)
        splits = make_splits(data, split, runs, seed)
        if not quiet and config.prior != "none" and data.metric == "roc-auc":
            print_prose(PRIOR_AND_ROC_AUC, err=True)
        if not quiet and data.tables is not None:
            print_summary(data, splits[0])
        table = None
        if tuned:
            known_as, content = source.dataset or data.name, data.graph.content_hash()
            table = find_tuned(spec, known_as, splits[0].kind, content, prior=config.prior)
        if table is not None:
            if not quiet:
                print_prose(
                    f"using tuned settings from {table.file} [{table.place}]; --no-tuned for the defaults", err=True
                )
            merged, of_training = table.merge(spec, for_model, for_training)
            chosen, config = effective_settings(spec, merged), replace(config, **of_training)
            spec.build(1, 2, **chosen)
        experiment = files.experiment(
            out,
            dataset=data,
            model=spec,
            settings=chosen,
            config=config,
            splits=splits,
            seed=seed,
            origin=origin,
            settings_from=None if table is None else table.origin([*for_model, *for_training]),
        )
        if leader is not None:
            from gwn.distributed.runs import DistributedExperiment

            experiment = DistributedExperiment.of(experiment, leader, files.graph)

        def on_epoch(run: int, epoch: int, score: float) -> None:
            progress.on_epoch(run, epoch, score)
            tracker.on_epoch(run, epoch, score)

        def on_run(done: RunResult) -> None:
            progress.on_run(done)
            tracker.on_run(done)

        with (
            tracking(log, experiment.folder(out).name, out) as tracker,
            TrainingProgress(runs, config.epochs, metric=data.metric, quiet=quiet) as progress,
        ):
            files.report, files.say = progress.on_columns, progress.say
            result, folder = run_experiment(
                experiment,
                out,
                force=force,
                checkpoint_seconds=checkpoint,
                on_progress=on_epoch,
                on_run=on_run,
                say=(lambda line: None) if quiet else (lambda line: print_prose(line, err=True)),
            )
    if as_json:
        typer.echo(json.dumps({**result, "folder": str(folder)}, indent=2))
    else:
        print_result(result, folder, details=source.dataset is None if details is None else details)
    for line in result["warnings"]:
        print_prose(f"gwn: warning: {printable(line)}", err=True)
    if result["summary"]["finished"] == 0:
        raise GWNError(f"none of the {runs} runs finished: {result['runs'][0]['reason']}")


def print_result(result: dict[str, Any], folder: Path, details: bool = False) -> None:
    """The runs as a table, their summary below it, and, with `details`, how good the answers are class by class."""
    from gwn.training.metrics import METRICS

    data, runs = result["dataset"], result["runs"]
    metric = METRICS[result["metric"]]
    title = f"{result['model']} on {data['name']}, {result['split']} split, {metric.title}"
    if (prior := result["training"].get("prior", "none")) != "none":
        title += f", shift corrected (prior {prior})"
    headings = ["run", "seed", "validation", "test", "epochs", "seconds", "peak MiB"]
    print_table(headings, [_row(run, metric) for run in runs], title, left=0)
    for part, name in (("val", "validation"), ("test", "test")):
        if result["summary"][part] is not None:
            print_prose(f"{name:>10}: {format_summary(result['summary'][part], result['metric'])}")
    if details and result["summary"]["details"] is not None:
        print_details(result["summary"]["details"], result["classes"])
    size = runs[0]["parameters"]
    print_prose(
        f"{size:,} parameter{'s' * (size != 1)}; data {data['hash'][:12]}, device {result['environment']['device']}"
    )
    if result["caveat"]:
        print_prose(f"Note: {result['caveat']}")
    if result["summary"]["finished"]:
        typer.echo(f"Saved in {printable(str(folder))}")
        typer.echo(f"Predict with: gwn predict {as_word(folder)} --out predictions.csv")


MOST_ROWS = 20
"""Classes in the table of a result; the others are in result.json."""


def print_details(found: dict[str, Any], classes: list[str]) -> None:
    """What the runs' answers on test are like, class by class, or in the units of the numbers."""
    from gwn.training.metrics import number_text

    if "support" not in found:
        absolute, squared = number_text(found["mae"]), number_text(found["mse"])
        print_prose(f"      test: mean absolute error {absolute}, mean squared error {squared}")
        return
    order = sorted(range(len(classes)), key=lambda index: -found["support"][index])
    rows = [
        [classes[index], *(_share(found[name][index]) for name in ("precision", "recall", "f1")), f"{count:,}"]
        for index in order[:MOST_ROWS]
        if (count := found["support"][index]) > 0
    ]
    print_table(["class", "precision", "recall", "F1", "test nodes"], rows, "test, class by class, mean over runs in %")
    if len(order) > MOST_ROWS:
        print_prose(f"and {len(order) - MOST_ROWS} other classes, see result.json")
    print_prose(
        f"  balanced: accuracy {_share(found['balanced_accuracy'])}, F1 {_share(found['macro_f1'])}; log loss "
        f"{found['log_loss']:.3f}, calibration error {_share(found['calibration_error'])}"
    )


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _row(run: dict[str, Any], metric: Metric) -> list[str]:
    start = [str(run["run"]), str(run["seed"])]
    if run["status"] != "ok":
        return [*start, "diverged", "-", "-", "-", "-"]
    memory = "-" if run["peak_memory_mib"] is None else f"{run['peak_memory_mib']:.0f}"
    return [
        *start,
        metric.text(run["val"]),
        "-" if run["test"] is None else metric.text(run["test"]),
        str(run["epochs"]),
        f"{run['seconds']:.2f}",
        memory,
    ]


def format_summary(summary: dict[str, Any], metric: str = "accuracy") -> str:
    """`88.12 ± 1.10 (95 % interval 87.33 to 88.91)`, in per cent or in the metric's own numbers."""
    from gwn.training.metrics import METRICS

    text = METRICS[metric].text(summary["mean"])
    if summary["sd"] is None:
        return f"{text} (one run)"
    sd, low, high = (METRICS[metric].text(summary[part]) for part in ("sd", "low", "high"))
    return f"{text} ± {sd} (95 % interval {low} to {high}, {summary['count']} runs)"
