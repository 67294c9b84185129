"""Which model is best on this graph: a search for each within a stated time, the same splits for all, one verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import Timeout

from gwn.compare.blend import BLEND, Blend
from gwn.compare.course import Course, OnSnapshot
from gwn.compare.record import Record
from gwn.compare.search import space_of
from gwn.compare.verdict import against_best, by_reason, listed, sentence
from gwn.data import Dataset, make_splits
from gwn.data.dataset import repeated_splits
from gwn.errors import GWNError
from gwn.io import content_key, machine_lock
from gwn.models import ModelSpec, model_spec
from gwn.training.config import TrainConfig, effective_settings, parse_settings
from gwn.training.metrics import METRICS
from gwn.training.outputs import cost_of_shift_in_words
from gwn.training.result import Summary, summarise

SHELF = (
    *("majority", "logistic", "logistic-hops", "boosted-hops", "mlp", "sign", "gcn"),
    *("gwn-sym", "gwn-fa", "gwn-plus", "gwn-bank", "gcn-tuned", "sage-tuned", "gat-tuned"),
)
"""What is compared unless others are named."""

MANY_LABELS = 1000
"""From so many labelled nodes on, a tenth of them validates and a tenth tests instead of a fifth, and a twentieth is
set aside until the end."""

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
    best     the model that is best on validation, or "blend", which is taken where it is not told apart from that
    folder   of the comparison: `gwn predict` takes it and answers with its `predictor`
    record   the file that has all of this and every trial
    runs     final splits of the models that were searched to the end
    predictor   what was saved: its `title`, its `members` (model, run folder, weight), each as the mean of its final
                runs, and how good all of them are `together`; see `gwn.compare.blend`
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
    predictor: Mapping[str, Any] | None = None

    @property
    def best_model(self) -> Row:
        """The best on validation among the models; a blend is none."""
        return next(row for row in self.rows if row.model != BLEND)

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
    `runs` splits, whose seeds no search has seen. What is best on validation is saved: a model, or a blend of a few
    that is not told apart from it.

    models    names on the shelf
    split     as for training; None for `usual_split`
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
    final = make_splits(dataset, split or usual_split(dataset), runs)
    if final[0].test.numel() == 0:
        raise GWNError(f"split {final[0].kind!r} has no node to test, where models are told apart; use 'stratified'")
    identity = {
        "dataset": {"name": dataset.name, "hash": dataset.graph.content_hash(), "files": dict(dataset.files)},
        "metric": dataset.metric,
        "split": final[0].kind,
        "models": [spec.name for spec in specs],
        "spaces": {spec.name: space_of(spec, dataset).key(spec) for spec in specs},
        "fixed": _fixed(specs, settings),
        "seed": seed,
    }
    if final[0].kind in dataset.published:  # they do not follow from the labels
        identity["splits"] = [one.content_hash() for one in dataset.published[final[0].kind]]
    with _alone(root, identity):
        record = Record.open(root, identity)
        if (found := _finished(record, seconds, trials, runs, root)) is not None:
            return found
        course = Course(dataset, specs, record, final, seconds, trials, jobs, root, origin, on_snapshot)
        done = course.run()
        found = judge(course, done, seconds, course.blend(done))
        record.result, record.asked = found.to_json(), {"trials": trials, "runs": runs}
        course.keep()
        return found


@contextmanager
def _alone(root: Path, identity: Mapping[str, Any]) -> Iterator[None]:
    """Refuse a comparison that another process is making: each would write its record over the other's."""
    try:
        with machine_lock(f"comparison {root.resolve()} {content_key(identity)}").acquire(timeout=0):
            yield
    except Timeout:
        raise GWNError(
            f"this comparison is being made in {root} by another process; wait for it, or take another --out"
        ) from None


def usual_split(dataset: Dataset) -> str:
    """The dataset's; of many labels that nobody split, a tenth is enough to validate and to test, and more train."""
    many = int(dataset.graph.labelled.sum()) >= MANY_LABELS
    return "set-aside" if many and dataset.default_split == "stratified" else dataset.default_split


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
            spec.build(1, 2, **effective_settings(spec, of_model))  # a value beyond reason is said before any work
            TrainConfig(**{**spec.training, **of_training})
        if not known:
            raise refused
    return found


def _check(models: Sequence[str], **least: float) -> None:
    if not models:
        raise GWNError("no model to compare; name some with --models, or leave it out for the usual ones")
    for name, value in least.items():
        if not value > 0:
            raise GWNError(f"{name} must be greater than 0; got {value:g}")


def _finished(record: Record, seconds: float, trials: int, runs: int, root: Path) -> Comparison | None:
    """The verdict that is there, unless more time, trials or runs are given now or a run folder is gone."""
    if record.result is None or record.result["time"] < seconds:
        return None
    if record.asked.get("trials", trials) < trials or record.asked.get("runs", runs) < runs:
        return None
    found = Comparison.from_json(record.result)
    there = all(
        (root / row.folder / "result.json").is_file() for row in found.rows if row.model != BLEND and row.folder
    )
    return found if there else None


def judge(course: Course, runs: int, seconds: float, blend: Blend | None) -> Comparison:
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
        way = "give more time with --time" if "time" in why else "once that is mended, the same command goes on"
        raise GWNError(f"no model could be measured ({why}); {way}")
    split, metric = course.final[0], METRICS[course.dataset.metric]
    nodes = {"val": split.val.numel(), "test": split.test.numel()}

    def summary(found: Sequence[Mapping[str, Any]], part: str) -> Summary | None:
        return summarise([run[part] for run in found], [nodes[part]] * len(found) if metric.percent else ())

    val = {name: summary(found, "val") for name, found in measured.items()}
    means = {name: found.mean for name, found in val.items() if found is not None}
    ahead = best = course.ahead(runs)
    scores = {  # by the number of the run: a published split may serve several of them
        name: {place: run["test"] for place, run in enumerate(course.measured[name][:runs]) if run["status"] == "ok"}
        for name in measured
    }
    if blend is not None and len(blend.weights) > 1:
        best = BLEND
        val[best], means[best] = summarise(blend.val, [nodes["val"]] * runs), float(np.mean(blend.val))
        scores[best] = dict(enumerate(blend.test))
    differences = against_best(best, scores, split.test.numel(), split.train.numel(), shares=metric.percent)
    order = sorted(course.searches, key=lambda name: (name != best, -means.get(name, -1e9), course.place(name)))
    titles = {spec.name: spec.title for spec in course.specs}
    titles |= {
        name: f"{titles[name]} + {'labels' if 'labels' in c else 'smoothing'}"
        for name, (_, c) in course.changed.items()
    }
    if blend is not None:
        titles[BLEND] = blend.title(titles)
    rows = [] if blend is None or best != BLEND else [_row_of(blend, course, titles, val[best], nodes["test"])]
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
    repeated = repeated_splits(course.dataset, split.kind, runs)
    shifted = cost_of_shift_in_words(measured[ahead])
    unjudged = [name for name in order if name != best and name not in differences]
    return Comparison(
        dataset=course.dataset.name,
        metric=course.dataset.metric,
        split=split.kind,
        rows=tuple(rows),
        best=best,
        folder=str(course.record.path.parent),
        record=str(course.record.path),
        runs=runs,
        search_splits=course.splits,
        jobs=course.jobs,
        seconds=round(course.elapsed, 1),
        time=seconds,
        verdict=sentence(
            best,
            metric.text(means[best], 1),
            differences,
            titles,
            unjudged,
            (ahead, metric.text(means[ahead], 1)) if means[ahead] > means[best] else None,
        ),
        notes=(
            *_effort(course),
            *course.notes,
            *([f"{titles[ahead]}, {shifted}."] if shifted else []),
            *([f"{repeated}."] if repeated else []),
        ),
        predictor=_predictor(blend, course, titles, ahead),
    )


def _row_of(blend: Blend, course: Course, titles: Mapping[str, str], val: Summary | None, tested: int) -> Row:
    """The line of a blend in the table."""
    test = summarise(blend.test, [tested] * len(blend.test))
    return Row(
        model=BLEND,
        title=blend.title(titles),
        status="ok",
        reason="",
        settings={"weights": dict(blend.weights)},
        training={},
        trials=0,
        complete=0,
        seconds=0.0,
        folder=course.record.path.parent.name,
        val=None if val is None else asdict(val),
        test=None if test is None else asdict(test),
        against=None,
        parameters=sum(course.measured[name][0]["parameters"] for name in blend.weights),
    )


def _predictor(blend: Blend | None, course: Course, titles: Mapping[str, str], ahead: str) -> dict[str, Any]:
    """What `gwn predict` does with the folder of the comparison."""
    weights = {ahead: 1.0} if blend is None else blend.weights
    return {
        "title": titles[ahead] if blend is None else blend.title(titles),
        "members": [{"model": n, "folder": course.folders[n], "weight": weight} for n, weight in weights.items()],
        "together": None if blend is None else dict(blend.together),
    }


def _effort(course: Course) -> list[str]:
    """How equal the search was, and what the time cut."""
    title = {spec.name: spec.title for spec in course.specs}
    most = max(search.limit for search in course.searches.values())
    again = any(trial.again for search in course.searches.values() for trial in search.trials)
    besides = ", besides cut ones that were tried again" if again else ""
    found = [f"At most {most} trials a model{besides}, in equal shares of the time."]
    if course.narrowed:
        last = listed([title[name] for name in course.searches if name in course.searching])
        found.append(
            "Once every model had a score on validation, the better half was searched on with longer trainings, "
            f"then the best quarter ({last}). The others have fewer final runs, and are judged with "
            "the spread of the models that have more."
        )
    cut = []
    for name, search in course.searches.items():
        if search.best is not None and search.best.training["epochs"] < search.fixed["epochs"]:
            cut.append(f"{title[name]} ({search.best.training['epochs']})")
    if cut:
        found.append(f"Epochs were cut to fit the time: {listed(cut)}.")
    return found
