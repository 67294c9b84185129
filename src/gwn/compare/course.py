"""The course of a comparison: its time is shared out among searches and final runs, and every finished task is kept."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gwn.compare.blend import CANDIDATES, Blend, make_blend
from gwn.compare.pool import Here, Pool, Processes
from gwn.compare.record import Record
from gwn.compare.search import ModelSearch, Trial, space_of
from gwn.compare.worker import Answer, Workshop
from gwn.data import Dataset, Split
from gwn.models import ModelSpec, model_spec
from gwn.training.metrics import METRICS
from gwn.training.result import Gain, paired_gain
from gwn.tuning.objective import CHECKPOINTS
from gwn.tuning.plan import SEARCH_SEED

FEWEST_EPOCHS = 10
"""A model of which so many epochs do not fit into its share of the time is left out."""
TRAININGS = 5
"""A training takes at most this part of a model's share of the time, the share being that of the models that are still
searched: on a large table a training that is not cut is worth more than another trial."""
FINAL_SHARE = 0.4
"""Of the time, for the final runs; the search ends early enough for that, or for as many runs as were asked for."""
FEWEST_RUNS = 4
FEWEST_JUDGED = 3
"""Final runs from which a change is tried: the interval of two differences is so wide that nothing would be kept."""
RUNS_OF_OTHERS = 2
"""Final runs of a model that was not searched to the end: enough to say how far behind it is."""
MOST_FINAL = 0.55
"""Of the time, where even the fewest runs need more than their share."""
LAST_SHARE = 0.03
"""Of the time, for the blend and the verdict."""
RUNGS = ((0.3, 0.5), (0.6, 0.25))
"""After this part of the search's time, this share of the models goes on searching: the best on validation."""
FEWEST_SEARCHED = 2
CHANGES: dict[str, dict[str, str]] = {
    "known labels as input": {"labels": "masked"},
    "correct-and-smooth": {"smooth": "correct"},
}
"""What is tried with the best model in the end, and kept where validation gains more than its interval."""


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
    """The comparison as it stands; `left` is what is left of its time, in seconds, and scores are of `metric`."""

    phase: str
    left: float
    standings: tuple[Standing, ...]
    metric: str = "accuracy"


OnSnapshot = Callable[[Snapshot], None]


def search_splits(split: Split) -> int:
    """On how many splits settings are scored: the fewer validation nodes there are, the more."""
    return 3 if split.val.numel() >= 500 else 5 if split.val.numel() >= 150 else 8


class Course:
    """One call of `compare` until all is measured."""

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
                space_of(spec, dataset),
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
        self.rungs, self.narrowed = list(RUNGS), False
        self.measured: dict[str, list[dict[str, Any]]] = {}
        self.folders: dict[str, str] = {}
        self.lost: dict[str, str] = {}
        """Models that could not be measured, and why."""
        self.changed: dict[str, tuple[str, dict[str, str]]] = {}
        """Model -> the change that was kept, its name and settings."""
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
        """Seconds that one training may take; more for the models that are searched on, once others are not."""
        return self.jobs * 0.85 * self.seconds / max(1, len(self.searching)) / TRAININGS

    def run(self) -> int:
        """Search and measure; on how many final splits all models were measured, at least one."""
        pool = self._pool()
        try:
            self._search(pool)
            runs = self._measure(pool, 0, changes=True)
            self._change(pool, runs)
            runs = self._measure(pool, runs, changes=False)
        finally:
            pool.close()
            self.keep()
        return max(1, runs)

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

    def keep(self) -> None:
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
        left = max(0.0, self.left)
        self.on_snapshot(Snapshot(phase=self.phase, left=left, standings=tuple(standings), metric=self.dataset.metric))

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
                if self.narrowed and self.rungs:  # the time was over before all could be judged again
                    self._keep_the_best(self.rungs[-1][1])
                return
            for key, answer in pool.wait(0.5):
                self._take(key, busy.pop(key)[0], answer)
                self.keep()
            self._say()

    def _next(self, busy: Mapping[tuple[str, int, int], tuple[Trial, float]]) -> tuple[str, Trial, int] | None:
        """The next task: of the models that have something to try, the one that has used the least time."""
        room = self.left - self._reserve()
        now = time.monotonic()
        running = dict.fromkeys(self.searches, 0.0)
        for (name, _, _), (_, since) in busy.items():
            running[name] += max(now - since, self._usual(name))
        for name in sorted(self.searching, key=lambda name: (self.used[name] + running[name], self.place(name))):
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

    def place(self, name: str) -> int:
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
        level, last = self._level(list(self.searches)), self._level(list(self.searching))
        if last == 0.0:
            return FINAL_SHARE * self.seconds
        wanted = min(len(self.final), max(FEWEST_RUNS, 1 + int((FINAL_SHARE * self.seconds - level) / last)))
        needed = 1.15 * (level + (wanted - 1) * last) + self._for_changes(wanted)
        return min(needed, MOST_FINAL * self.seconds) + LAST_SHARE * self.seconds

    def _for_changes(self, runs: int) -> float:
        """Seconds for trying the changes with the model that is ahead."""
        ahead = max(self.searches, key=self._standing)
        if not model_spec(ahead).gradients or runs < FEWEST_JUDGED:
            return 0.0
        return 1.2 * runs * self._of_run(ahead) * math.ceil(len(CHANGES) / self.jobs)

    def _narrow(self) -> None:
        """Have the better models alone go on, once all are judged and a part of the search's time is over."""
        if not self.rungs or not all(self.searches[name].judged for name in self.searching):
            return
        if self.elapsed > self.rungs[0][0] * (self.seconds - self._reserve()):
            self._keep_the_best(self.rungs.pop(0)[1])
            for name in self.searching:
                self.searches[name].lengthen()

    def _keep_the_best(self, share: float) -> None:
        ranked = sorted(self.searches, key=self._standing, reverse=True)
        self.searching &= {*ranked[: max(FEWEST_SEARCHED, round(share * len(ranked)))]}
        self.narrowed = True

    def _standing(self, name: str) -> float:
        best = self.searches[name].best
        return -float("inf") if best is None else best.mean

    # The final runs

    def _measure(self, pool: Pool, done: int, changes: bool) -> int:
        """Best settings on one more split after another, while there is time, from `done` on; on how many there are.

        Those are the runs of the models that were searched to the end. The others have one, and a second one after the
        fewest runs of these; what time is left in the end is theirs.

        changes   whether time is kept for trying changes
        """
        ranked = sorted(self.searches, key=self._standing, reverse=True)
        for name in ranked:
            search = self.searches[name]
            if search.best is None:
                self.lost[name] = search.failure or next(
                    (t.ended for t in search.trials if t.failed), "no time was left"
                )
        self._say("final runs")

        def fits(names: Sequence[str], runs: int) -> bool:
            later = self._for_changes(runs) if changes and runs > FEWEST_RUNS else 0.0
            if names and all(self._on_disk(name) >= runs for name in names):
                return True
            return bool(names) and self.left > 1.1 * self._level(names) + later + LAST_SHARE * self.seconds

        def there(searched: bool) -> list[str]:
            return [name for name in ranked if name not in self.lost and (name in self.searching) == searched]

        def others(most: int) -> None:
            for runs in range(2, most + 1):
                names = [name for name in there(False) if len(self.measured[name]) < runs]
                if names and fits(names, runs):
                    self._run_level(pool, names, runs)

        for runs in range(done + 1, len(self.final) + 1):
            names = there(True) + (there(False) if runs == 1 else [])
            if not names or not (runs == 1 or fits(names, runs)):
                break
            self._run_level(pool, names, runs)
            if any(len(self.measured[name]) < runs for name in names if name not in self.lost):
                break
            done = runs
            if done == FEWEST_RUNS:
                others(RUNS_OF_OTHERS)
        if not changes:
            others(done)
        return done

    def _run_level(self, pool: Pool, names: Sequence[str], runs: int) -> None:
        """Run number `runs` of these models; of the first one, as many as there is time for, and one in any case."""
        waiting = list(names) if runs == 1 else sorted(names, key=self._of_run, reverse=True)
        busy: set[str] = set()
        while waiting or busy:
            while waiting and pool.free:
                name = waiting.pop(0)
                if runs == 1 and self.left <= 0 and (self.measured or busy) and not self._on_disk(name):
                    self.lost[name] = "no time was left for its final runs"
                    continue
                busy.add(name)
                # one run in any case, the others as far as the time goes
                limit = 10 * self.limit + 60 if runs == 1 else max(1.0, self.left)
                pool.submit(name, self._final_task(name, runs), limit)
            for name, answer in pool.wait(0.5):
                busy.discard(name)
                self.used[name] += float(answer.get("seconds", 0.0))
                if "failed" not in answer:
                    self.measured[name], self.folders[name] = answer["runs"], answer["folder"]
                    there = max(len(answer["runs"]), self._on_disk(name))
                    self.record.finals[name] = {"runs": there, "trial": self._trial(name)}
                    if all(run["status"] != "ok" for run in answer["runs"]):
                        self.lost[name] = answer["runs"][0]["reason"]
                    self.keep()
                elif not (answer.get("died") and name in self.measured):  # else the runs of before count
                    self.lost[name] = answer["failed"]
            self._say()

    def _trial(self, name: str) -> int:
        """The number of the trial whose settings are measured."""
        best = self.searches[name].best
        assert best is not None
        return best.number

    def _on_disk(self, name: str) -> int:
        """How many final runs a call that was stopped has left, with these settings."""
        left = self.record.finals.get(name, {"runs": 0, "trial": -1})
        return left["runs"] if left["trial"] == self._trial(name) else 0

    def _final_task(self, name: str, runs: int, change: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The best settings of a model over the first `runs` final splits."""
        best, kept = self.searches[name].best, self.changed.get(name, ("", {}))[1]
        assert best is not None
        return {
            "do": "measure",
            "model": name,
            "settings": best.settings,
            "training": {**best.training, **(kept if change is None else change)},
            "runs": runs,
            "settings_from": {"comparison": self.record.path.parent.name, "trial": best.number},
        }

    # What may be added to the best one

    def _change(self, pool: Pool, runs: int) -> None:
        """Train the best model with each change on the same splits, and keep the one that validation likes more."""
        if self.dataset.task != "classification" or not runs or self.all_lost:
            return
        best = self.ahead(runs)
        if {"features", "edges"} <= {*model_spec(best).ignores}:
            return
        if not model_spec(best).gradients:
            self.notes.append(f"{model_spec(best).title} cannot take {' or '.join(CHANGES)}, so neither was tried.")
            return
        if runs < FEWEST_JUDGED:
            self.notes.append(
                f"{' and '.join(CHANGES).capitalize()} were not tried: that takes {FEWEST_JUDGED} final runs, "
                f"and there {'was 1' if runs == 1 else f'were {runs}'}."
            )
            return
        if any(run["status"] != "ok" for run in self.measured[best][:runs]):
            said = " and ".join(CHANGES).capitalize()
            self.notes.append(f"{said} were not tried: a run of {model_spec(best).title} diverged.")
            return
        if self.left < self._for_changes(runs):
            self.notes.append(f"No time was left to try {' and '.join(CHANGES)} with {model_spec(best).title}.")
            return
        self._say("trying known labels")
        usual = [run["val"] for run in self.measured[best][:runs]]
        waiting, busy, gains = list(CHANGES), set[str](), dict[str, tuple[Gain, Answer]]()
        while waiting or busy:
            while waiting and pool.free:
                name = waiting.pop(0)
                busy.add(name)
                pool.submit(name, self._final_task(best, runs, CHANGES[name]), max(1.0, self.left))
            for name, answer in pool.wait(0.5):
                busy.discard(name)
                self.used[best] += float(answer.get("seconds", 0.0))
                if "failed" in answer or any(run["status"] != "ok" for run in answer["runs"]):
                    why = answer.get("failed") or "a run diverged"
                    self.notes.append(f"{model_spec(best).title} with {name} could not be trained: {why}")
                else:
                    gains[name] = paired_gain([run["val"] for run in answer["runs"][:runs]], usual), answer
            self._say()
        text = METRICS[self.dataset.metric].text
        kept = max(
            (name for name, (gain, _) in gains.items() if gain.kept), key=lambda n: gains[n][0].mean, default=None
        )
        for name, (gain, answer) in gains.items():
            interval = f"95 % interval {text(gain.low or 0.0, 1)} to {text(gain.high or 0.0, 1)}"
            change = f"{text(abs(gain.mean), 1)} {'less' if gain.mean < 0 else 'more'} on validation"
            says = f"{model_spec(best).title} with {name}: {change} ({interval})"
            self.notes.append(f"{says}, {'kept' if name == kept else 'not kept'}.")
            if name == kept:
                self.measured[best], self.folders[best] = answer["runs"], answer["folder"]
                self.changed[best] = name, CHANGES[name]

    def blend(self, runs: int) -> Blend | None:
        """What is saved: the best models on validation together, or the best alone; None for numbers."""
        if self.dataset.task != "classification" or self.all_lost:
            return None
        whole = {
            name: found[:runs]
            for name, found in self.measured.items()
            if name not in self.lost and len(found) >= runs and all(run["status"] == "ok" for run in found[:runs])
        }
        ranked = sorted(whole, key=lambda name: -sum(run["val"] for run in whole[name]))
        ahead = self.ahead(runs)
        if ahead not in whole:
            return None
        self._say("blending")
        names = [ahead, *(name for name in ranked if name != ahead)][:CANDIDATES]
        return make_blend(self.dataset, self.final[:runs], {name: self.root / self.folders[name] for name in names})

    @property
    def all_lost(self) -> bool:
        """Whether no model has a final run that counts: `judge` then says why."""
        return self.measured.keys() <= self.lost.keys()

    def ahead(self, runs: int) -> str:
        """The model that is best on validation, among those that finished the most runs; ties go to the lower loss."""
        finished = {
            name: [run for run in found[: max(1, runs)] if run["status"] == "ok"]
            for name, found in self.measured.items()
            if name not in self.lost
        }
        whole = max(len(found) for found in finished.values())

        def standing(name: str) -> tuple[float, float]:
            found = finished[name]
            return sum(run["val"] for run in found) / len(found), -sum(run["val_loss"] for run in found) / len(found)

        return max((name for name, found in finished.items() if len(found) == whole), key=standing)
