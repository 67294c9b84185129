"""`gwn compare`: which model is best on this graph, within a stated time."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import typer

from gwn.cli.options import PRIOR_HELP, GraphSource, takes_source
from gwn.cli.terminal import as_word, parse_duration, print_prose, print_table, table
from gwn.errors import MOST_JOBS, MOST_RUNS, MOST_SEED, MOST_TRIALS, require_between
from gwn.html import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from gwn.compare import Comparison, Row, Snapshot
    from gwn.training.metrics import Metric


@takes_source
def compare(
    source: GraphSource,
    models: str | None = typer.Option(
        None,
        help="Models by name, commas between them: see `gwn models`. Default: fourteen, from simple to large.",
    ),
    duration: str = typer.Option("10m", "--time", help="For everything: 90s, 10m, 1h30m."),
    split: str | None = typer.Option(
        None, help="As for `gwn train`. Default: the dataset's; of a thousand labels and more in tables, set-aside."
    ),
    trials: int = typer.Option(40, help="The most settings that are tried of a model."),
    runs: int = typer.Option(10, help="The most final runs of a model; fewer where the time does not allow them."),
    jobs: int = typer.Option(2, help="Worker processes, of one thread each."),
    seed: int = typer.Option(0, help="The sampler's seed."),
    prior: str = typer.Option("none", help=PRIOR_HELP),
    settings: list[str] = typer.Option(
        [], "--set", metavar="NAME=VALUE", help="A setting that is not searched, for the models that have it."
    ),
    out: Path = typer.Option(Path("runs"), help="Folder for the results."),
    as_json: bool = typer.Option(False, "--json", help="Print the whole comparison as JSON."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Compare models on a graph: a search for each, the same splits for all, one verdict, and the best one saved.

    Settings, epochs and the winner are chosen on validation alone. Every model has the same limits: an equal share of
    the time, and at most --trials settings. Once each has a score, the better half of the models goes on with longer
    trainings, then the best quarter. What is best on validation is saved: a model, or a blend of a few that is not
    told apart from it. The same command continues a comparison that was stopped.

    Examples:

      gwn compare --edges edges.csv --nodes nodes.csv --label-column topic

      gwn compare cora --time 5m --models gcn,gwn-sym,gwn-fa
    """
    from gwn.cli.source import how_it_was_read, open_source, print_summary
    from gwn.compare import SHELF
    from gwn.compare import compare as compare_models
    from gwn.compare.comparison import usual_split
    from gwn.data import make_splits
    from gwn.data.describe import chance_of_shift, label_shift, shift_in_words
    from gwn.io import require_writable

    require_writable(out / "run")
    seconds = parse_duration("--time", duration)
    for option, value, most in (
        ("--trials", trials, MOST_TRIALS),
        ("--runs", runs, MOST_RUNS),
        ("--jobs", jobs, MOST_JOBS),
    ):
        require_between(option, value, 1, most)
    require_between("--seed", seed, 0, MOST_SEED)
    chosen = SHELF if models is None else [name.strip() for name in models.split(",") if name.strip()]
    data, origin = open_source(source)
    if not quiet and (decisions := how_it_was_read(origin)):
        print_prose(decisions, err=True)
        print_summary(data)
    if not quiet and prior == "none":
        of_split = make_splits(data, split or usual_split(data), 1)[0]
        if shifted := shift_in_words(label_shift(data.graph, of_split), chance_of_shift(data.graph, of_split)):
            print_prose(shifted, err=True)
    with CompareProgress(quiet=quiet) as progress:
        found = compare_models(
            data,
            models=chosen,
            split=split,
            seconds=seconds,
            trials=trials,
            runs=runs,
            jobs=jobs,
            seed=seed,
            settings=settings if prior == "none" else [*settings, f"prior={prior}"],
            root=out,
            origin=origin,
            on_snapshot=progress,
        )
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=2))
    else:
        print_comparison(found)


def print_comparison(found: Comparison) -> None:
    """The table, best on validation first, and what it says."""
    from gwn.compare.verdict import by_reason
    from gwn.training.metrics import METRICS

    metric = METRICS[found.metric]
    title = f"{found.dataset}, {found.split} split, {metric.title}, means over {found.runs} run{'s' * (found.runs > 1)}"
    headings = ["model", "validation", "test", "95 %", "vs best", "trials", "time"]
    print_table(headings, [_line(row, row.model == found.best, metric) for row in found.rows], title)
    print_prose(found.verdict)
    for line in by_reason((row.title, row.reason) for row in found.rows if row.reason):
        print_prose(line)
    for note in found.notes:
        print_prose(note)
    workers = f"{found.jobs} worker{'s' * (found.jobs > 1)}"
    print_prose(f"{found.seconds:.0f} s of {found.time:.0f} s, {workers}; everything is in {found.record}")
    if found.predictor is not None and found.predictor["together"] is not None:
        print_prose(_together(found.predictor, metric))
    typer.echo(f"Saved in {printable(str(found.folder))}")
    typer.echo(f"Predict with: gwn predict {as_word(found.folder)} --out predictions.csv")


def _together(predictor: Mapping[str, Any], metric: Metric) -> str:
    """How good that is which was saved."""
    members, said = predictor["members"], predictor["together"]
    weights = ", ".join(f"{100 * member['weight']:.0f} %" for member in members)
    shares = f" ({weights})" if len(members) > 1 else ""
    interval = f"95 % interval {metric.text(said['low'], 1)} to {metric.text(said['high'], 1)}"
    chosen = "settings and models" if said.get("weighed_apart") or len(members) == 1 else "settings, models and weights"
    nodes = (
        f"{said['tested']:,} nodes that were set aside from the beginning"
        if said.get("aside")
        else f"{said['tested']:,} nodes that were tested, each answered by the runs that had not seen its label "
        f"({chosen} were chosen on validation nodes of all splits, which may be among them)"
    )
    return (
        f"Saved: {predictor['title']}{shares}, the mean over the final runs. On the {nodes}: "
        f"{metric.text(said['mean'], 1)} ({interval})."
    )


def _line(row: Row, best: bool, metric: Metric) -> list[str]:
    effort = [str(row.trials), f"{row.seconds:.0f} s"]
    if row.val is None or row.test is None:
        return [row.title, "-", "-", "-", row.status, *effort]
    low, high = row.test["low"], row.test["high"]
    interval = "-" if low is None else f"{metric.text(low, 1)} to {metric.text(high, 1)}"
    scores = [metric.text(row.val["mean"], 1), metric.text(row.test["mean"], 1), interval]
    return [row.title, *scores, _against(row, best, metric), *effort]


def _against(row: Row, best: bool, metric: Metric) -> str:
    if best:
        return "best"
    if row.against is None:
        return "-"
    mean = row.against["mean"]
    word = "tie" if not row.against["told_apart"] else "worse" if mean < 0 else "better"
    return f"{'+' if mean >= 0 else ''}{metric.text(mean, 1)} {word}"


class CompareProgress:
    """A table that is drawn anew on a terminal; otherwise a line now and then; nothing with `quiet`."""

    EVERY = 10.0
    """Seconds between two lines where there is no terminal."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet, self._said, self._phase = quiet, 0.0, ""
        self._live: Any = None
        if not quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), transient=True, refresh_per_second=4)

    def __call__(self, snapshot: Snapshot) -> None:
        if self._live is not None:
            self._live.update(_standings(snapshot, self._live.console.width))
        elif not self._quiet and (snapshot.phase != self._phase or time.monotonic() - self._said > self.EVERY):
            self._said, self._phase = time.monotonic(), snapshot.phase
            print(_one_line(snapshot), file=sys.stderr, flush=True)

    def __enter__(self) -> CompareProgress:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()


def _one_line(snapshot: Snapshot) -> str:
    from gwn.training.metrics import score_text

    val, title = max(((one.val, one.title) for one in snapshot.standings if one.val is not None), default=(None, ""))
    ahead = "" if val is None else f"; {title} leads with {score_text(snapshot.metric, val, 1)} on validation"
    trials, runs = (sum(getattr(s, what) for s in snapshot.standings) for what in ("trials", "runs"))
    return f"{snapshot.phase}: {_clock(snapshot.left)} left, {trials} trials, {runs} final runs{ahead}"


def _standings(snapshot: Snapshot, width: int) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    from gwn.training.metrics import score_text

    title = f"{snapshot.phase}, {_clock(snapshot.left)} left"
    rows = []
    for standing in sorted(snapshot.standings, key=lambda one: -(one.val if one.val is not None else -1e9)):
        val = "" if standing.val is None else score_text(snapshot.metric, standing.val, 1)
        effort = [str(standing.trials), val, str(standing.runs or ""), f"{standing.seconds:.0f}"]
        rows.append([standing.title, standing.note, *effort])
    headings = ["model", "now", "trials", "validation", "final runs", "seconds"]
    return Group(Text(title, style="bold"), table(headings, rows, 2, width))


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
