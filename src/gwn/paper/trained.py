"""The trained runs behind a figure: trained where they are missing, one point a configuration.

The record of a figure has the results of its runs. They count as trained on every machine, so that a figure which takes
many hours grows by what each call adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

from gwn.data import Dataset, make_splits
from gwn.errors import GWNError
from gwn.io import read_json
from gwn.models import model_spec
from gwn.paper.curve_data import read_figure
from gwn.paper.exhibit import Context, figure_path, silent
from gwn.paper.workers import in_processes
from gwn.settings import SHIPPED, find_tuned
from gwn.training import Experiment, RunResult, TrainConfig, run_experiment, run_one
from gwn.training.config import effective_settings
from gwn.training.result import ADDED

QUICK: dict[str, Any] = {"epochs": 3, "patience": 3}
PAPER_MAPS = {"readout": "last", "activation": "none"}
"""Encoders and read-out of the paper, so that the operator is the only difference."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """One configuration: a model with settings on a dataset.

    settings, training   what the figure prescribes
    tuned_as             the model whose tuned settings on this dataset are the rest, where a table is there: usually
                         the model itself, or one that differs in its operator alone; otherwise defaults
    """

    dataset: str
    model: str
    settings: Mapping[str, Any]
    tuned_as: str
    training: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Trained:
    """Its runs, and their folder, which has no files of runs that are known from a record alone.

    notes   what the record has beside the runs, such as a number that only their weights could tell again
    """

    wanted: Wanted
    dataset: Dataset
    runs: tuple[RunResult, ...]
    folder: Path
    settings: Mapping[str, Any]
    settings_from: Mapping[str, Any] | None
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def finished(self) -> tuple[RunResult, ...]:
        return tuple(run for run in self.runs if run.status == "ok")

    def describe(self) -> dict[str, Any]:
        """For the provenance of a figure."""
        return {
            "dataset": self.dataset.name,
            "data": self.dataset.graph.content_hash(),
            "model": self.wanted.model,
            "run": self.folder.name,
            "results": [_short(run) for run in self.runs],
            "settings": dict(self.wanted.settings),
            "training": dict(self.wanted.training),
            "rest": "default"
            if self.settings_from is None
            else f"tuned: {self.wanted.tuned_as}, {self.settings_from['table']}",
        }


def experiment_of(context: Context, wanted: Wanted, runs: int) -> Experiment:
    """The experiment of this configuration, on the dataset's default split."""
    data, spec = _loaded(context.load, wanted.dataset), model_spec(wanted.model)
    splits = make_splits(data, None, runs)
    settings, training = dict(wanted.settings), dict(wanted.training)
    # Those that ship alone: of this folder's own `settings/` the record of a figure would not tell.
    table = find_tuned(
        model_spec(wanted.tuned_as), wanted.dataset, splits[0].kind, data.graph.content_hash(), [SHIPPED]
    )
    if table is not None:
        settings, training = table.merge(spec, settings, training)
    return Experiment(
        dataset=data,
        model=spec,
        settings=effective_settings(spec, settings),
        config=replace(TrainConfig(**training), **QUICK) if context.quick else TrainConfig(**training),
        splits=splits,
        origin={"dataset": wanted.dataset},
        settings_from=None if table is None else table.origin([*wanted.settings, *wanted.training]),
    )


def train(context: Context, wanted: Wanted, runs: int) -> Trained:
    """These runs with their weights, trained where they are missing."""
    experiment = experiment_of(context, wanted, runs)
    result, _ = run_experiment(experiment, context.runs)
    return _trained(context, wanted, experiment, [RunResult.from_json(run) for run in result["runs"]])


def _trained(
    context: Context,
    wanted: Wanted,
    experiment: Experiment,
    runs: Sequence[RunResult],
    notes: Mapping[str, Any] | None = None,
) -> Trained:
    return Trained(
        wanted=wanted,
        dataset=experiment.dataset,
        runs=tuple(runs),
        folder=experiment.folder(context.runs),
        settings=experiment.settings,
        settings_from=experiment.settings_from,
        notes=notes or {},
    )


def _short(run: RunResult) -> dict[str, Any]:
    """A run without its confusion matrix and the like, which no figure needs."""
    return {name: value for name, value in run.to_json().items() if name not in ADDED}


class Recorded:
    """What the last record of a figure knows, by the name of a configuration's folder, which says all its settings."""

    def __init__(self, context: Context, figure: str) -> None:
        path = figure_path(figure, context.results)
        self.points: dict[str, Mapping[str, Any]] = {}
        try:
            found = read_figure(path).provenance.get("runs", []) if path.exists() else []
        except GWNError as error:
            context.say(f"computed without the last record: {error}")
            found = []
        for point in found:
            if isinstance(point, dict) and "results" in point:
                self.points[point["run"]] = point

    def knows(self, wanted: Wanted) -> bool:
        """Whether there is anything of this model on this dataset: told without reading the dataset."""
        return any(name.startswith(f"{wanted.dataset}-{wanted.model}-") for name in self.points)

    def runs(self, folder: Path) -> dict[int, RunResult]:
        point = self.points.get(folder.name, {"results": []})
        return {run["run"]: RunResult.from_json(run) for run in point["results"]}

    def notes(self, folder: Path) -> dict[str, Any]:
        """What an exhibit added to `Trained.describe`."""
        return dict(self.points.get(folder.name, {}).get("notes", {}))


def train_missing(context: Context, figure: str, work: Sequence[tuple[str, Wanted, int]]) -> None:
    """Every (name, configuration, number of runs to have) in turn while there is time, `context.jobs` at once."""
    recorded = Recorded(context, figure)

    def missing() -> Iterator[tuple[str, Wanted, int]]:
        for done, (name, wanted, runs) in enumerate(work):
            if context.out_of_time:
                context.say(f"out of time: {len(work) - done} runs of {figure} wait for the next call")
                return
            context.advance(done, len(work), f"{name}, run {runs}")
            if len(known_runs(context, recorded, wanted)) < runs:
                yield name, wanted, runs

    # what tells of progress stays in this process
    train = partial(_train_run, replace(context, say=silent, advance=silent))
    pairs = (
        in_processes(train, missing(), context.jobs) if context.jobs > 1 else ((one, train(one)) for one in missing())
    )
    for (name, _, runs), result in pairs:
        score = "diverged" if result.test is None else f"{100 * result.test:.2f}, {result.seconds:.1f} s"
        context.say(f"{name}, run {runs}: {score}")


def _train_run(context: Context, work: tuple[str, Wanted, int]) -> RunResult:
    _, wanted, runs = work
    return run_one(experiment_of(context, wanted, runs), runs - 1, context.runs)[0]


def known_runs(context: Context, recorded: Recorded, wanted: Wanted) -> list[RunResult]:
    """The runs of this configuration that are on the disk or in the record, from the first on."""
    if not recorded.knows(wanted) and not any(context.runs.glob(f"{wanted.dataset}-{wanted.model}-*")):
        return []  # without reading the dataset, which may be large
    folder = experiment_of(context, wanted, 1).folder(context.runs)
    there, found = recorded.runs(folder), list[RunResult]()
    while True:
        path = folder / f"run-{len(found):02d}.json"
        if path.is_file():
            found.append(RunResult.from_json(read_json(path)))
        elif len(found) in there:
            found.append(there[len(found)])
        else:
            return found


@lru_cache(maxsize=4)
def _loaded(load: Any, name: str) -> Dataset:
    dataset: Dataset = load(name)
    return dataset


Point = TypeVar("Point")


def trained_so_far(context: Context, figure: str, plan: Iterable[tuple[Point, Wanted, int]]) -> dict[Point, Trained]:
    """Of (point, configuration, runs at most) those that have a run; nothing is trained."""
    recorded, found = Recorded(context, figure), dict[Point, Trained]()
    for point, wanted, most in plan:
        if runs := known_runs(context, recorded, wanted)[:most]:
            experiment = experiment_of(context, wanted, len(runs))
            notes = recorded.notes(experiment.folder(context.runs))
            found[point] = _trained(context, wanted, experiment, runs, notes)
    return found
