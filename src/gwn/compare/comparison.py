"""Which model is best on this graph: a search for each within a stated time, the same splits for all, one verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gwn.compare.pool import Here, Pool, Processes
from gwn.compare.record import Record
from gwn.compare.search import FIRST, ModelSearch, Trial, space_of
from gwn.compare.verdict import against_best, sentence
from gwn.compare.worker import Answer, Workshop
from gwn.data import Dataset, Split, make_splits
from gwn.errors import GWNError
from gwn.models import ModelSpec, model_spec
from gwn.training.config import parse_settings
from gwn.training.result import summarise
from gwn.tuning.objective import CHECKPOINTS
from gwn.tuning.plan import SEARCH_SEED

SHELF = (
    *("majority", "logistic", "logistic-hops", "mlp", "sign", "gcn"),
    *("gwn-sym", "gwn-fa", "gwn-plus", "gcn-tuned", "sage-tuned", "gat-tuned"),
)
"""What is compared unless others are named."""

EPOCHS = 500
"""The most epochs of a training; most stop before, 50 epochs after their best one."""
FEWEST_EPOCHS = 10
"""A model of which so many epochs do not fit into its share of the time is left out."""
TRAININGS = 7
"""A training takes at most this part of a model's share of the time: three final runs and a few trials have room."""
FINAL_SHARE = 0.4
"""Of the time, for the final runs; the search ends early enough for that, or for as many runs as were asked for."""
FEWEST_RUNS = 3
MOST_FINAL = 0.6
"""Of the time, where even the fewest runs need more than their share."""
RUNGS = ((0.45, 0.5), (0.75, 0.25))
"""After this part of the search's time, this share of the models goes on searching: the best on validation."""
FEWEST_SEARCHED = 2


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


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A model while the comparison runs: what was tried, the best validation score, and what it is doing."""

    title: str
    trials: int
    val: float | None
    seconds: float
    runs: int
    note: str


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The comparison as it stands; `left` is what is left of its time, in seconds."""

    phase: str
    left: float
    standings: tuple[Standing, ...]


OnSnapshot = Callable[[Snapshot], None]


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
    specs = [model_spec(name) for name in dict.fromkeys(models)]
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
    course = _Course(dataset, specs, record, final, seconds, trials, jobs, root, origin, on_snapshot)
    return course.run()


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


def search_splits(split: Split) -> int:
    """On how many splits settings are scored: the fewer validation nodes there are, the more."""
    return 3 if split.val.numel() >= 500 else 5 if split.val.numel() >= 150 else 8


class _Course:
    """One call of `compare` from its beginning to its verdict."""

    def __init__(
        self,
        dataset: Dataset,
        specs: Sequence[ModelSpec],
        record: Record,
        final: Sequence[Split],
        seconds: float,
        trials: int,
        jobs: int,
        root: Path,
        origin: Mapping[str, Any] | None,
        on_snapshot: OnSnapshot,
    ) -> None:
        self.dataset, self.specs, self.record, self.final = dataset, specs, record, final
        self.seconds, self.jobs, self.root, self.origin = seconds, jobs if origin else 1, root, origin
        self.on_snapshot = on_snapshot
        self.started, self.before = time.monotonic(), record.spent
        if record.result is not None:  # whose runs are gone, or which is given more time
            self.before = min(record.spent, (1 - FINAL_SHARE) * seconds)
        self.splits = search_splits(final[0])
        self.searches = {
            spec.name: ModelSearch(
                spec,
                record.identity["fixed"][spec.name],
                splits=self.splits,
                limit=trials,
                seed=record.identity["seed"],
                trials=record.trials.get(spec.name, ()),
            )
            for spec in specs
        }
        self.used = {name: sum(t.seconds for t in search.trials) for name, search in self.searches.items()}
        self.searching = {spec.name for spec in specs}
        self.rungs = list(RUNGS)
        self.measured: dict[str, list[dict[str, Any]]] = {}
        self.folders: dict[str, str] = {}
        self.lost: dict[str, str] = {}
        """Models that could not be measured, and why."""
        self.notes: list[str] = []
        self.phase = "starting"

    @property
    def elapsed(self) -> float:
        return self.before + time.monotonic() - self.started

    @property
    def left(self) -> float:
        return self.seconds - self.elapsed

    @property
    def limit(self) -> float:
        """Seconds that one training may take."""
        return self.jobs * 0.85 * self.seconds / len(self.specs) / TRAININGS

    def run(self) -> Comparison:
        """Search, measure, judge."""
        pool = self._pool()
        try:
            self._search(pool)
            runs = self._measure(pool)
        finally:
            pool.close()
            self._keep()
        found = self._judge(runs)
        self.record.result = found.to_json()
        self._keep()
        return found

    def _pool(self) -> Pool:
        if self.origin is None:
            return Here(Workshop(self.dataset, self.final[0].kind, self.splits, SEARCH_SEED, self.root, None))
        start = {
            "reopen": "gwn.data.origin:open_origin",
            "origin": dict(self.origin),
            "data": self.dataset.graph.content_hash(),
            "split": self.final[0].kind,
            "splits": self.splits,
            "seed": SEARCH_SEED,
            "root": str(self.root),
        }
        return Processes(self.jobs, start)

    def _keep(self) -> None:
        self.record.write(self.elapsed, {name: search.trials for name, search in self.searches.items()})

    def _say(self, phase: str | None = None) -> None:
        self.phase = phase or self.phase
        standings = []
        for spec in self.specs:
            search = self.searches[spec.name]
            best, runs = search.best, self.measured.get(spec.name, ())
            note = self.lost.get(spec.name) or search.failure or ("training" if search.running else "")
            standings.append(
                Standing(
                    title=spec.title,
                    trials=sum(bool(trial.scores) or trial.failed for trial in search.trials),
                    val=None if best is None else best.mean,
                    seconds=self.used[spec.name],
                    runs=len(runs),
                    note=note,
                )
            )
        self.on_snapshot(Snapshot(phase=self.phase, left=max(0.0, self.left), standings=tuple(standings)))

    # The search

    def _search(self, pool: Pool) -> None:
        """Trials for all models in equal shares of the time, until it is used up or everybody has had all trials."""
        busy: dict[tuple[str, int, int], tuple[Trial, float]] = {}
        self._say("searching")
        while True:
            self._narrow()
            while pool.free and (chosen := self._next(busy)) is not None:
                name, trial, split = chosen
                busy[name, trial.number, split] = trial, time.monotonic()
                search = self.searches[name]
                task = {
                    "do": "search",
                    "model": name,
                    "settings": trial.settings,
                    "training": trial.training,
                    "split": split,
                    "limit": self.limit,
                    "checkpoints": CHECKPOINTS,
                    "behind": search.behind(trial, split),
                }
                pool.submit((name, trial.number, split), task, self.limit)
            if not busy and (pool.free or self.left <= 0):
                return
            for key, answer in pool.wait(0.5):
                self._take(key, busy.pop(key)[0], answer)
                self._keep()
            self._say()

    def _next(self, busy: Mapping[tuple[str, int, int], tuple[Trial, float]]) -> tuple[str, Trial, int] | None:
        """The next task: of the models that have something to try, the one that has used the least time."""
        room = self.left - self._reserve()
        now = time.monotonic()
        running = dict.fromkeys(self.searches, 0.0)
        for (name, _, _), (_, since) in busy.items():
            running[name] += max(now - since, self._usual(name))
        for name in sorted(self.searching, key=lambda name: (self.used[name] + running[name], self._place(name))):
            if room < self._usual(name) and self.searches[name].best is not None:
                continue
            if room < 0 and self.left < FINAL_SHARE * self.seconds:
                return None
            found = self.searches[name].next()
            if found is not None:
                return name, *found
        return None

    def _take(self, key: tuple[str, int, int], trial: Trial, answer: Answer) -> None:
        name, _, split = key
        if "failed" not in answer and answer["ended"] and answer["epochs"] < FEWEST_EPOCHS:
            each = answer["seconds"] / max(1, answer["epochs"])
            answer = {"failed": f"an epoch takes {each:.2g} s: too few fit into its share of the time", **answer}
        self.searches[name].take(trial, split, answer)
        self.used[name] += float(answer.get("seconds", self.limit))

    def _place(self, name: str) -> int:
        return list(self.searches).index(name)

    def _usual(self, name: str) -> float:
        """Seconds that one training of this model takes, as far as is known."""
        search = self.searches[name]
        done = sum(len(trial.scores) for trial in search.trials)
        return sum(trial.seconds for trial in search.trials) / done if done else 0.0

    def _of_run(self, name: str) -> float:
        """Seconds that a final run will take."""
        taken = [run["seconds"] for run in self.measured.get(name, ()) if run["seconds"]]
        if taken:
            return float(max(taken))
        best = self.searches[name].best
        return 0.0 if best is None else best.seconds_of_split

    def _level(self, names: Sequence[str]) -> float:
        """Seconds until every one of these models has had one more final run."""
        each = [self._of_run(name) for name in names]
        return max(sum(each) / self.jobs, max(each, default=0.0))

    def _reserve(self) -> float:
        """Seconds that the search leaves for the final runs."""
        level = self._level(list(self.searches))
        if level == 0.0:
            return FINAL_SHARE * self.seconds
        wanted = min(len(self.final), max(FEWEST_RUNS, int(FINAL_SHARE * self.seconds / level)))
        return min(1.15 * wanted * level, MOST_FINAL * self.seconds) + 0.02 * self.seconds

    def _narrow(self) -> None:
        """Have the better models alone go on, once a part of the search's time is over."""
        until = self.seconds - self._reserve()
        if any(search.started < FIRST for name, search in self.searches.items() if name in self.searching):
            return
        while self.rungs and self.elapsed > self.rungs[0][0] * until:
            share = self.rungs.pop(0)[1]
            ranked = sorted(self.searches, key=lambda name: self._standing(name), reverse=True)
            stay = max(FEWEST_SEARCHED, round(share * len(ranked)))
            self.searching = {*ranked[:stay]} & self.searching

    def _standing(self, name: str) -> float:
        best = self.searches[name].best
        return -float("inf") if best is None else best.mean

    # The final runs

    def _measure(self, pool: Pool) -> int:
        """Every model's best settings on one more split after another, while there is time; on how many all of them."""
        ranked = sorted(self.searches, key=self._standing, reverse=True)
        for name in ranked:
            search = self.searches[name]
            if search.best is None:
                self.lost[name] = search.failure or next(
                    (t.ended for t in search.trials if t.failed), "no time was left"
                )
        self._say("final runs")
        done = 0
        for runs in range(1, len(self.final) + 1):
            names = [name for name in ranked if name not in self.lost]
            if runs > 1 and self.left < 1.1 * self._level(names):
                break
            self._run_level(pool, names, runs)
            if any(len(self.measured[name]) < runs for name in names if name not in self.lost):
                break
            done = runs
        return done

    def _run_level(self, pool: Pool, names: Sequence[str], runs: int) -> None:
        """Run number `runs` of these models; of the first one, as many as there is time for, and one in any case."""
        waiting = list(names) if runs == 1 else sorted(names, key=self._of_run, reverse=True)
        busy: set[str] = set()
        while waiting or busy:
            while waiting and pool.free:
                name = waiting.pop(0)
                if runs == 1 and self.left <= 0 and (self.measured or busy):
                    self.lost[name] = "no time was left for its final runs"
                    continue
                best = self.searches[name].best
                assert best is not None
                task = {
                    "do": "measure",
                    "model": name,
                    "settings": best.settings,
                    "training": best.training,
                    "runs": runs,
                    "settings_from": {"comparison": self.record.path.parent.name, "trial": best.number},
                }
                busy.add(name)
                pool.submit(name, task, 10 * self.limit + 60)
            for name, answer in pool.wait(0.5):
                busy.discard(name)
                self.used[name] += float(answer.get("seconds", 0.0))
                if "failed" in answer:
                    self.lost[name] = answer["failed"]
                else:
                    self.measured[name], self.folders[name] = answer["runs"], answer["folder"]
                    if all(run["status"] != "ok" for run in answer["runs"]):
                        self.lost[name] = answer["runs"][0]["reason"]
            self._say()

    # The verdict

    def _judge(self, runs: int) -> Comparison:
        measured = {
            name: [run for run in found[: max(1, runs)] if run["status"] == "ok"]
            for name, found in self.measured.items()
            if name not in self.lost
        }
        if not measured:
            why = "; ".join(f"{model_spec(name).title}: {reason}" for name, reason in self.lost.items())
            raise GWNError(f"no model could be measured ({why}); give more time with --time")
        whole = max(len(found) for found in measured.values())
        val = {name: summarise([run["val"] for run in found]) for name, found in measured.items()}
        means = {name: found.mean for name, found in val.items() if found is not None}
        losses = {name: sum(run["val_loss"] for run in found) / len(found) for name, found in measured.items() if found}
        complete = [name for name in means if len(measured[name]) == whole]
        best = max(complete, key=lambda name: (means[name], -losses[name]))
        scores = {name: {run["split_hash"]: run["test"] for run in found} for name, found in measured.items()}
        split = self.final[0]
        differences = against_best(best, scores, split.test.numel(), split.train.numel())
        order = sorted(self.searches, key=lambda name: (name != best, -means.get(name, -1e9), self._place(name)))
        titles = {spec.name: spec.title for spec in self.specs}
        rows = []
        for name in order:
            search, trial = self.searches[name], self.searches[name].best
            found = measured.get(name, [])
            test = summarise([run["test"] for run in found])
            difference, of_val = differences.get(name), val.get(name)
            diverged = min(len(self.measured.get(name, ())), max(1, runs)) - len(found)
            rows.append(
                Row(
                    model=name,
                    title=titles[name],
                    status="ok" if found else "failed" if search.failure or name in self.measured else "not measured",
                    reason=self.lost.get(name, f"{diverged} of {runs} runs diverged" if diverged else ""),
                    settings={} if trial is None else trial.settings,
                    training={} if trial is None else trial.training,
                    trials=sum(bool(one.scores) or one.failed for one in search.trials),
                    complete=sum(len(one.scores) == self.splits for one in search.trials),
                    seconds=round(self.used[name], 2),
                    folder=self.folders.get(name, ""),
                    val=None if of_val is None else asdict(of_val),
                    test=None if test is None else asdict(test),
                    against=None if difference is None else {**asdict(difference), "told_apart": difference.told_apart},
                    parameters=found[0]["parameters"] if found else 0,
                )
            )
        unjudged = [name for name in order if name != best and name not in differences]
        return Comparison(
            dataset=self.dataset.name,
            metric=self.dataset.metric,
            split=split.kind,
            rows=tuple(rows),
            best=best,
            folder=str(self.root / self.folders[best]),
            record=str(self.record.path),
            runs=max(1, runs),
            search_splits=self.splits,
            jobs=self.jobs,
            seconds=round(self.elapsed, 1),
            time=self.seconds,
            verdict=sentence(best, f"{100 * means[best]:.1f}", differences, titles, unjudged),
            notes=tuple(self.notes),
        )
