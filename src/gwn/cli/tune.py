"""`gwn tune`: search for settings on validation, measure the winner with fresh seeds, keep it for `gwn train`."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gwn.cli.options import PRIOR_HELP, GraphSource, takes_source
from gwn.cli.terminal import as_word, parse_duration, print_prose, print_table
from gwn.errors import MOST_JOBS, MOST_SEED, MOST_TRIALS, GWNError, require_between
from gwn.html import printable

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

    from gwn.data import Dataset


@takes_source
def tune(
    source: GraphSource,
    model: str = typer.Option("gwn-sym", "--model", "-m", help="A model by name: see `gwn models`."),
    split: str | None = typer.Option(None, help="As for `gwn train`. Default: the dataset's."),
    space: str | None = typer.Option(
        None,
        help="paper, standard (weight decay also small), extended, waves (extended without heat) or peers; -short at "
        "its end: T up to 5; -normalized: on row-normalised features. Default: standard; extended for gwn-plus; peers "
        "for the banks.",
    ),
    trials: int = typer.Option(100, help="How many trials in total, those of earlier calls included."),
    timeout: str | None = typer.Option(None, help="Begin no trial after so long: 90s, 30m, 2h, 1h30m."),
    jobs: int = typer.Option(1, help="Worker processes on this machine."),
    storage: str | None = typer.Option(
        None, help="A database URL, also for several machines. Default: a SQLite file in studies/."
    ),
    name: str | None = typer.Option(None, help="The study's name. Default: made from everything that decides it."),
    search_splits: int = typer.Option(3, help="Splits a trial is scored on; their seeds start at 1000."),
    finalists: int = typer.Option(
        1, help="With several, the best trials play off on ten more splits: for small validation sets."
    ),
    final_runs: int = typer.Option(10, help="Runs of the winner, with seeds 0, 1, ... that the search never saw."),
    seed: int = typer.Option(0, help="The sampler's seed."),
    prior: str = typer.Option("none", help=PRIOR_HELP),
    settings: list[str] = typer.Option([], "--set", metavar="NAME=VALUE", help="A setting to fix: `gwn models NAME`."),
    out: Path = typer.Option(Path("settings"), help="Folder of the tuned settings."),
    runs: Path = typer.Option(Path("runs"), help="Folder of the final runs."),
    log: str | None = typer.Option(None, help="Also log trials: tensorboard, wandb or mlflow (extra `trackers`)."),
    heartbeat: int = typer.Option(
        10, min=1, max=3600, hidden=True, help="Seconds between signs of life of a running trial."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the winner as JSON."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Search for settings by mean validation score; the same command continues a search that was stopped.

    The winner goes to settings/MODEL.toml, where `gwn train` finds it for the same dataset, or the same tables.

    Examples:

      gwn tune cora --model gwn-fa --split per-class --trials 100 --jobs 2

      gwn tune texas --model gwn-plus --split geom --trials 200 --timeout 2h --set epochs=100

      gwn tune texas --model mlp --trials 60 --finalists 5

      gwn tune --edges edges.csv --nodes nodes.csv --label-column topic --model gwn-fa --timeout 10m

      gwn tune cora --model gcn --storage postgresql://user:password@host/studies
    """
    from gwn.cli.progress import TrainingProgress, TuneProgress
    from gwn.cli.source import how_it_was_read, open_source, print_summary
    from gwn.data import make_splits
    from gwn.io import require_writable
    from gwn.models import model_spec
    from gwn.settings import LOCAL
    from gwn.trackers import tracking
    from gwn.training import TrainConfig
    from gwn.tuning import SearchJob, measure, plan_search, run_search, settings_file, write_winner
    from gwn.tuning.plan import SEARCH_SEED
    from gwn.tuning.playoff import PLAYOFF_SPLITS, play_off
    from gwn.tuning.playoff import finalists as best_trials
    from gwn.tuning.storage import FOLDER, default_url, readable

    if str(runs).isdecimal():
        raise GWNError(f"--runs is the folder of the final runs; got {runs}: for their number say --final-runs {runs}")
    require_writable(out / f"{model}.toml")
    require_writable(runs / "run", option="--runs")
    seconds = float("inf") if timeout is None else parse_duration("--timeout", timeout)
    # runs and splits have seeds of their own, up to those of the search and of the play-off
    most = {"--jobs": MOST_JOBS, "--final-runs": SEARCH_SEED, "--search-splits": SEARCH_SEED}
    for option, value in (
        ("--trials", trials),
        ("--jobs", jobs),
        ("--finalists", finalists),
        ("--final-runs", final_runs),
        ("--search-splits", search_splits),
    ):
        require_between(option, value, 1, most.get(option, MOST_TRIALS))
    require_between("--seed", seed, 0, MOST_SEED)
    model = model_spec(model).name
    data, origin = open_source(source)
    if not quiet and (decisions := how_it_was_read(origin)):
        print_prose(decisions, err=True)
    search = plan_search(
        data,
        model,
        origin=origin,
        split=split,
        space=space,
        search_splits=search_splits,
        seed=seed,
        assignments=settings if prior == "none" else [*settings, f"prior={prior}"],
    )
    if not quiet and data.tables is not None:
        print_summary(data, make_splits(data, search.plan.split, 1)[0])
    file = settings_file(out, model)
    study_name = search.plan.name if name is None else name
    url = default_url(study_name) if storage is None else storage
    job = SearchJob(
        plan=search.plan,
        url=url,
        name=study_name,
        trials=trials,
        jobs=min(jobs, trials),
        deadline=time.time() + seconds,
        heartbeat=heartbeat,
    )
    with ExitStack() as stack:
        tracker = stack.enter_context(tracking(log, study_name, FOLDER))
        progress = stack.enter_context(TuneProgress(trials, metric=data.metric, quiet=quiet))

        def on_trial(trial: FrozenTrial, finished: int, best: FrozenTrial | None) -> None:
            progress.on_trial(trial, finished, best)
            tracker.on_trial(trial, None if best is None else best.value)

        done = run_search(job, search, on_trial=on_trial, say=progress.say)
        winner, playoff = None, None
        if finalists > 1:
            entered = [(search, trial) for trial in best_trials(done, finalists)]
            found, playoff = play_off(entered, PLAYOFF_SPLITS, lambda n, of: progress.say(f"finalist {n} of {of}"))
            winner = found.trial
    epochs = TrainConfig(**search.plan.training).epochs
    with TrainingProgress(final_runs, epochs, metric=data.metric, quiet=quiet) as final_progress:
        final_progress.label = "final"
        table, folder = measure(
            search,
            study_name,
            done,
            runs,
            runs=final_runs,
            best=winner,
            on_progress=final_progress.on_epoch,
            on_run=final_progress.on_run,
        )
    if playoff is not None:
        table["search"]["playoff"] = playoff
    place, former = write_winner(file, search, table)
    if as_json:
        where = {"file": str(file), "folder": str(folder), "storage": readable(url)}
        typer.echo(
            json.dumps({"dataset": data.name, "model": model, "split": search.plan.split, **table, **where}, indent=2)
        )
    else:
        _print_winner(data, model, search.plan.split, table)
        typer.echo(f"Saved in {file} [{place}], the final runs in {printable(str(folder))}")
        if former:
            typer.echo(f"It replaces {printable(former)}")
        if file.parent.resolve() != LOCAL.resolve():
            typer.echo(f"`gwn train` looks in {LOCAL}/: give the same command with --out {LOCAL} to have it there too")
        corrected = search.plan.training.get("prior", "none")
        given = "" if corrected == "none" else f" --prior {corrected}"
        typer.echo(f"Use with: gwn train {_as_given(source)} --model {model} --split {search.plan.split}{given}")


def _print_winner(data: Dataset, model: str, split: str, table: dict[str, Any]) -> None:
    """What won, what it had on validation and what on test."""
    from gwn.cli.train import format_summary
    from gwn.data.dataset import repeated_splits
    from gwn.training.metrics import score_text

    search, final = table["search"], table["final"]
    rows = [[key, f"{value:.4g}" if isinstance(value, float) else str(value)] for key, value in _tuned(table).items()]
    print_table(["setting", "value"], rows, f"{model} on {data.name}, {split} split: best of {search['trials']} trials")
    print_prose(
        f"{search['complete']} complete, {search['pruned']} pruned, {search['failed']} failed; "
        f"space {search['space']}, scored on {len(search['seeds'])} splits"
    )
    print_prose(f"validation in the search: {score_text(data.metric, search['validation'])}")
    if "playoff" in search:
        won, of = search["playoff"]["won"], search["playoff"]["finalists"]
        print_prose(f"play-off of {of}: {'no score' if won is None else score_text(data.metric, won)}")
    finished = final["runs"] - final["diverged"]
    if final["test"] is None:
        print_prose(f"The {split} split keeps no node to test on")
    else:
        summary = {"mean": final["test"], "sd": final["test_sd"], "low": final["test_low"], "high": final["test_high"]}
        print_prose(f"test with fresh seeds: {format_summary({**summary, 'count': finished}, data.metric)}")
    if search["same_splits_as_final"]:
        print_prose("Note: the search used the same published splits (never their test nodes) with other model seeds")
    if repeated := repeated_splits(data, split, final["runs"]):
        print_prose(f"Note: {repeated}")


def _as_given(source: GraphSource) -> str:
    """How the same graph is named to another command."""
    words = []
    for name, value in asdict(source).items():
        option = f"--{name.replace('_columns', '_column').replace('_', '-')}"
        if value is True:
            words.append(option)
        elif name == "dataset" and value:
            words.append(as_word(value))
        elif value and (name, value) != ("task", "classification"):
            for one in value if isinstance(value, list) else [value]:
                words.extend([option, as_word(one)])
    return " ".join(words)


def _tuned(table: dict[str, Any]) -> dict[str, Any]:
    together = {**table["settings"], **table["training"]}
    return {name: value for name, value in together.items() if value is not None}
