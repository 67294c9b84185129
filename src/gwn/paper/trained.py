"""The trained runs behind a figure: trained where they are missing, one point a configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from gwn.data import Dataset, make_splits
from gwn.models import model_spec
from gwn.paper.exhibit import Context
from gwn.settings import find_tuned
from gwn.training import Experiment, RunResult, TrainConfig, run_experiment
from gwn.training.config import effective_settings

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
    """Its runs, and their folder."""

    wanted: Wanted
    dataset: Dataset
    runs: tuple[RunResult, ...]
    folder: Path
    settings: Mapping[str, Any]
    settings_from: Mapping[str, Any] | None

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
            "runs": len(self.runs),
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
    table = find_tuned(model_spec(wanted.tuned_as), wanted.dataset, splits[0].kind, data.graph.content_hash())
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
    """These runs, trained where they are missing."""
    experiment = experiment_of(context, wanted, runs)
    result, folder = run_experiment(experiment, context.runs)
    return Trained(
        wanted=wanted,
        dataset=experiment.dataset,
        runs=tuple(RunResult.from_json(run) for run in result["runs"]),
        folder=folder,
        settings=experiment.settings,
        settings_from=experiment.settings_from,
    )


def train_missing(context: Context, figure: str, work: Sequence[tuple[str, Wanted, int]]) -> None:
    """Every (name, configuration, number of runs to have) in turn, for as long as there is time."""
    for done, (name, wanted, runs) in enumerate(work):
        if context.out_of_time:
            context.say(f"out of time: {len(work) - done} runs of {figure} wait for the next call")
            return
        context.advance(done, len(work), f"{name}, run {runs}")
        if runs_on_disk(context, wanted) < runs:
            result = train(context, wanted, runs).runs[-1]
            score = "diverged" if result.test is None else f"{100 * result.test:.2f}, {result.seconds:.1f} s"
            context.say(f"{name}, run {runs}: {score}")


def runs_on_disk(context: Context, wanted: Wanted) -> int:
    """How many runs of this configuration are there already, from the first on."""
    if not any(context.runs.glob(f"{wanted.dataset}-{wanted.model}-*")):
        return 0  # without reading the dataset, which may be large
    folder, count = experiment_of(context, wanted, 1).folder(context.runs), 0
    while (folder / f"run-{count:02d}.json").is_file():
        count += 1
    return count


@lru_cache(maxsize=4)
def _loaded(load: Any, name: str) -> Dataset:
    dataset: Dataset = load(name)
    return dataset


Point = TypeVar("Point")


def trained_so_far(context: Context, plan: Iterable[tuple[Point, Wanted, int]]) -> dict[Point, Trained]:
    """Of (point, configuration, runs at most) those that have a run; nothing is trained."""
    found: dict[Point, Trained] = {}
    for point, wanted, most in plan:
        count = min(most, runs_on_disk(context, wanted))
        if count:
            found[point] = train(context, wanted, count)
    return found
