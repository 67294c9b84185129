"""Which model is best on this graph: a search for each within a stated time, the same splits for all, one verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gwn.compare.course import Course, OnSnapshot
from gwn.compare.record import Record
from gwn.compare.search import space_of
from gwn.compare.verdict import against_best, by_reason, listed, sentence
from gwn.data import Dataset, make_splits
from gwn.errors import GWNError
from gwn.models import ModelSpec, model_spec
from gwn.training.config import parse_settings
from gwn.training.metrics import METRICS
from gwn.training.result import Summary, summarise

SHELF = (
    *("majority", "logistic", "logistic-hops", "boosted-hops", "mlp", "sign", "gcn"),
    *("gwn-sym", "gwn-fa", "gwn-plus", "gwn-bank", "gcn-tuned", "sage-tuned", "gat-tuned"),
)
"""What is compared unless others are named."""

EPOCHS = 500
"""The most epochs of a training; most stop before, 50 epochs after their best one."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One model in a comparison.

    status       "ok", "failed" or "not measured"; `reason` says why it is not ok
    trials       settings that were tried; `complete` of them on all search splits
    seconds      of all workers, for its search and its final runs
    val, test    mean, sd, low, high and count over the final splits
    against      the difference to the best on test: mean, low, high, p after correction, told_apart
    """

    model: str
    title: str
    status: str
    reason: str
    settings: Mapping[str, Any]
    training: Mapping[str, Any]
    trials: int
    complete: int
    seconds: float
    folder: str
    val: Mapping[str, Any] | None
    test: Mapping[str, Any] | None
    against: Mapping[str, Any] | None
    parameters: int


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A finished comparison.

    rows     best on validation first
    best     the model that is best on validation
    folder   the run folder of that model, for `gwn predict`
    record   the file that has all of this and every trial
    runs     final splits of every row
    seconds  how long it took; `time` is what was given
    notes    what a reader should know: what was left out, cut or stopped
    """

    dataset: str
    metric: str
    split: str
    rows: tuple[Row, ...]
    best: str
    folder: str
    record: str
    runs: int
    search_splits: int
    jobs: int
    seconds: float
    time: float
    verdict: str
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Comparison:
        rows = tuple(Row(**row) for row in data["rows"])
        return cls(**{**data, "rows": rows, "notes": tuple(data["notes"])})


def compare(
    dataset: Dataset,
    *,
    models: Sequence[str] = SHELF,
    split: str | None = None,
    seconds: float = 600.0,
    trials: int = 40,
    runs: int = 10,
    jobs: int = 2,
    seed: int = 0,
    settings: Sequence[str] = (),
    root: Path = Path("runs"),
    origin: Mapping[str, Any] | None = None,
    on_snapshot: OnSnapshot = lambda snapshot: None,
) -> Comparison:
    """Compare models on a dataset within a time; the same call continues one that was interrupted.

    Every model is searched on validation alone with the same limits, then its best settings are trained on the same
    `runs` splits, whose seeds no search has seen. The best on validation is saved as an ordinary run folder.

    models    names on the shelf
    split     as for training; None for the dataset's
    seconds   for everything, those of interrupted calls included
    trials    the most settings that are tried of a model
    runs      the most final splits; fewer where the time does not allow them
    jobs      worker processes; they need `origin`, without it all is done in this process
    settings  `name=value` that are not searched, for the models that have them
    root      folder of the runs, and of the comparison's own record
    origin    where the dataset came from, as `gwn.data.origin.open_origin` takes it
    """
    _check(models, seconds=seconds, trials=trials, runs=runs, jobs=jobs)
    specs = [model_spec(name).for_task(dataset.task) for name in dict.fromkeys(models)]
    final = make_splits(dataset, split, runs)
    identity = {
        "dataset": {"name": dataset.name, "hash": dataset.graph.content_hash(), "files": dict(dataset.files)},
        "metric": dataset.metric,
        "split": final[0].kind,
        "models": [spec.name for spec in specs],
        "spaces": {spec.name: space_of(spec).key(spec) for spec in specs},
        "fixed": _fixed(specs, settings),
        "seed": seed,
    }
    record = Record.open(root, identity)
    if (found := _finished(record, seconds, root)) is not None:
        return found
    course = Course(dataset, specs, record, final, seconds, trials, jobs, root, origin, on_snapshot)
    found = judge(course, course.run(), seconds)
    record.result = found.to_json()
    course.keep()
    return found


def _fixed(specs: Sequence[ModelSpec], assignments: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Model -> what is not searched: what was asked for where it has that, and how long it may train."""
    found: dict[str, dict[str, Any]] = {spec.name: {"epochs": EPOCHS} for spec in specs}
    for assignment in assignments:
        known = 0
        for spec in specs:
            try:
                of_model, of_training = parse_settings(spec, [assignment])
            except GWNError as error:
                refused = error
                continue
            found[spec.name] |= {**of_model, **of_training}
            known += 1
        if not known:
            raise refused
    return found


def _check(models: Sequence[str], **least: float) -> None:
    if not models:
        raise GWNError("no model to compare; name some with --models, or leave it out for the usual ones")
    for name, value in least.items():
        if not value > 0:
            raise GWNError(f"{name} must be greater than 0; got {value:g}")


def _finished(record: Record, seconds: float, root: Path) -> Comparison | None:
    """The verdict that is there, unless more time is given now or a run folder is gone."""
    if record.result is None or record.result["time"] < seconds:
        return None
    found = Comparison.from_json(record.result)
    there = all((root / row.folder / "result.json").is_file() for row in found.rows if row.folder)
    return found if there else None


def judge(course: Course, runs: int, seconds: float) -> Comparison:
    """What was measured as a table and a sentence."""
    measured = {
        name: [run for run in found[:runs] if run["status"] == "ok"]
        for name, found in course.measured.items()
        if name not in course.lost
    }
    if not measured:
        why = "; ".join(
            by_reason(
                (model_spec(name).for_task(course.dataset.task).title, reason) for name, reason in course.lost.items()
            )
        )
        raise GWNError(f"no model could be measured ({why}); give more time with --time")
    split, metric = course.final[0], METRICS[course.dataset.metric]
    nodes = {"val": split.val.numel(), "test": split.test.numel()}

    def summary(found: Sequence[Mapping[str, Any]], part: str) -> Summary | None:
        return summarise([run[part] for run in found], [nodes[part]] * len(found) if metric.percent else ())

    val = {name: summary(found, "val") for name, found in measured.items()}
    means = {name: found.mean for name, found in val.items() if found is not None}
    best = course.ahead(runs)
    scores = {name: {run["split_hash"]: run["test"] for run in found} for name, found in measured.items()}
    differences = against_best(best, scores, split.test.numel(), split.train.numel())
    order = sorted(course.searches, key=lambda name: (name != best, -means.get(name, -1e9), course.place(name)))
    titles = {spec.name: spec.title for spec in course.specs}
    titles |= {
        name: f"{titles[name]} + {'labels' if 'labels' in c else 'smoothing'}"
        for name, (_, c) in course.changed.items()
    }
    rows = []
    for name in order:
        search, trial = course.searches[name], course.searches[name].best
        found = measured.get(name, [])
        test = summary(found, "test")
        difference, of_val = differences.get(name), val.get(name)
        diverged = min(len(course.measured.get(name, ())), runs) - len(found)
        rows.append(
            Row(
                model=name,
                title=titles[name],
                status="ok" if found else "failed" if search.failure or name in course.measured else "not measured",
                reason=course.lost.get(name, f"{diverged} of {runs} runs diverged" if diverged else ""),
                settings={} if trial is None else trial.settings,
                training={} if trial is None else {**trial.training, **course.changed.get(name, ("", {}))[1]},
                trials=sum(bool(one.scores) or one.failed for one in search.trials),
                complete=sum(len(one.scores) == course.splits for one in search.trials),
                seconds=round(course.used[name], 2),
                folder=course.folders.get(name, ""),
                val=None if of_val is None else asdict(of_val),
                test=None if test is None else asdict(test),
                against=None if difference is None else {**asdict(difference), "told_apart": difference.told_apart},
                parameters=found[0]["parameters"] if found else 0,
            )
        )
    unjudged = [name for name in order if name != best and name not in differences]
    return Comparison(
        dataset=course.dataset.name,
        metric=course.dataset.metric,
        split=split.kind,
        rows=tuple(rows),
        best=best,
        folder=str(course.root / course.folders[best]),
        record=str(course.record.path),
        runs=runs,
        search_splits=course.splits,
        jobs=course.jobs,
        seconds=round(course.elapsed, 1),
        time=seconds,
        verdict=sentence(best, metric.text(means[best], 1), differences, titles, unjudged),
        notes=(*_effort(course), *course.notes),
    )


def _effort(course: Course) -> list[str]:
    """How equal the search was, and what the time cut."""
    title = {spec.name: spec.title for spec in course.specs}
    most = max(search.limit for search in course.searches.values())
    found = [f"At most {most} trials a model, in equal shares of the time."]
    if course.narrowed:
        last = listed([title[name] for name in course.searches if name in course.searching])
        found.append(f"The better half of the models was searched on after half of that time, {last} to its end.")
    cut = []
    for name, search in course.searches.items():
        if search.best is not None and search.best.training["epochs"] < search.fixed["epochs"]:
            cut.append(f"{title[name]} ({search.best.training['epochs']})")
    if cut:
        found.append(f"Epochs were cut to fit the time: {listed(cut)}.")
    return found
