"""Cells are measured: search on validation, take the best, train it with fresh seeds, keep everything in one record.

Each cell is computed once, by whichever process comes first, and none is lost when one is killed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from filelock import Timeout
from optuna.trial import FrozenTrial, TrialState

from gwn.data import load_dataset, make_splits
from gwn.errors import GWNError
from gwn.io import machine_lock
from gwn.models import model_spec
from gwn.paper.cell import Cell, Recipe, recipe_of
from gwn.paper.records import Workplace, cell_file, missing, read_cell, write_cell
from gwn.paper.workers import in_processes
from gwn.training import Experiment, TrainConfig, run_experiment
from gwn.training.config import effective_settings
from gwn.tuning import Search, SearchJob, best_trial, plan_search, run_search, search_summary
from gwn.tuning.objective import SETTINGS, SPLITS, TRAINING
from gwn.tuning.playoff import finalists, play_off
from gwn.tuning.spaces import ON_ROWS
from gwn.tuning.storage import default_url
from gwn.tuning.study import is_finished, place_of

OnStep = Callable[[str], None]
OnCell = Callable[[Cell, str], None]
"""Called with a cell that is finished, and why it could not be measured, "" where it was."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Settings, and the search that they are from."""

    settings: dict[str, Any]
    training: dict[str, Any]
    search: dict[str, Any] | None


def measure_cell(cell: Cell, place: Workplace, on_step: OnStep = lambda _: None) -> dict[str, Any]:
    """The record of a cell, computed where it is not there; a search or runs that were begun are continued."""
    recipe = recipe_of(cell)
    choice = choose(cell, recipe, place, on_step)
    record = {"recipe": asdict(recipe), "search": choice.search, **_final(cell, recipe, choice, place, on_step)}
    write_cell(place.results, cell, record)
    return record


def repeat_cell(cell: Cell, place: Workplace, on_step: OnStep = lambda _: None) -> dict[str, Any]:
    """The final runs of a measured cell once more, computed anew with the settings of its record; nothing is kept."""
    stored = read_cell(place.results, cell)
    assert stored is not None
    choice = Choice(settings=stored["settings"], training=stored["training"], search=stored["search"])
    return _final(cell, Recipe(**stored["recipe"]), choice, place, on_step, force=True)


def choose(cell: Cell, recipe: Recipe, place: Workplace, on_step: OnStep) -> Choice:
    """The settings with the best mean validation score of the searches, or those that win a play-off of the best."""
    model = model_spec(recipe.model)
    if recipe.trials == 0:
        return Choice(settings=effective_settings(model, {}), training={}, search=None)
    if recipe.split != cell.split and (found := _chosen_before(replace(cell, split=recipe.split), recipe, place)):
        return found
    searches = [_search(cell, recipe, recipe.fixed, recipe.trials, place, on_step)]
    if recipe.on_rows:
        on_rows = replace(recipe, space=recipe.space + ON_ROWS)
        searches.append(_search(cell, on_rows, recipe.fixed, recipe.on_rows, place, on_step))
    tried = [trial for _, trials in searches for trial in trials]
    if not recipe.playoff_splits:
        search, trials = max(searches, key=lambda one: _best_score(one[1]))
        return _chosen(search, trials, best_trial(trials), tried)
    entered = [(search, trial) for search, trials in searches for trial in finalists(trials, recipe.finalists)]
    winner, playoff = play_off(
        entered, recipe.playoff_splits, lambda number, of: on_step(f"{cell.name}: finalist {number} of {of}")
    )
    (trials,) = [trials for search, trials in searches if search is winner.search]
    choice = _chosen(winner.search, trials, winner.trial, tried)
    assert choice.search is not None
    choice.search["playoff"] = playoff
    return choice


def _chosen_before(searched: Cell, recipe: Recipe, place: Workplace) -> Choice | None:
    """What the same search chose for the cell of the split that it is scored on, where that was measured."""
    record = read_cell(place.results, searched)
    if record is None:
        return None
    stored = {**record["recipe"], "fixed": tuple(record["recipe"]["fixed"]), "runs": recipe.runs}
    if Recipe(**stored) != recipe:
        return None
    return Choice(settings=record["settings"], training=record["training"], search=record["search"])


def _chosen(search: Search, trials: list[FrozenTrial], best: FrozenTrial, tried: list[FrozenTrial]) -> Choice:
    """The settings of `best`, one of `trials` of a search; `tried` are the trials of all searches."""
    return Choice(
        settings=dict(best.user_attrs[SETTINGS]),
        training=dict(best.user_attrs[TRAINING]),
        search={
            **search_summary(search, search.plan.name, trials, best),
            "trials_in_all": sum(is_finished(trial) for trial in tried),
            "selected_on_test": _selected_on_test(tried),
        },
    )


def _best_score(trials: Sequence[FrozenTrial]) -> float:
    """On validation; below every score where no trial was completed."""
    return max((trial.value or 0.0 for trial in trials if trial.state == TrialState.COMPLETE), default=-1.0)


def _search(
    cell: Cell, recipe: Recipe, fixed: Sequence[str], trials: int, place: Workplace, on_step: OnStep
) -> tuple[Search, list[FrozenTrial]]:
    search = plan_search(
        cell.dataset,
        recipe.model,
        split=recipe.split,
        space=recipe.space,
        search_splits=recipe.search_splits,
        assignments=list(fixed),
    )
    name = search.plan.name
    job = SearchJob(plan=search.plan, url=place.storage or default_url(name), name=name, trials=trials)

    def on_trial(trial: FrozenTrial, finished: int, best: FrozenTrial | None) -> None:
        on_step(f"{cell.name}: trial {finished} of {trials}")

    done = run_search(job, search, on_trial=on_trial, say=lambda _: None)
    # `gwn tune` with the same choices has the same study, and may have tried more than the column's budget.
    return search, [trial for trial in done if place_of(trial) < trials]


def _selected_on_test(trials: Sequence[FrozenTrial]) -> dict[str, Any] | None:
    """What choosing the trial by its test score would have claimed: a warning, never a result."""
    scores = [
        sum(split["test"] for split in trial.user_attrs[SPLITS]) / len(trial.user_attrs[SPLITS])
        for trial in trials
        if trial.state == TrialState.COMPLETE
    ]
    if not scores:
        return None
    return {"test": max(scores)}


def _final(
    cell: Cell, recipe: Recipe, choice: Choice, place: Workplace, on_step: OnStep, force: bool = False
) -> dict[str, Any]:
    dataset = load_dataset(cell.dataset)
    fixed = {name: value for name, value in choice.training.items() if value is not None}
    experiment = Experiment(
        dataset=dataset,
        model=model_spec(recipe.model),
        settings=choice.settings,
        config=TrainConfig(**{**fixed, "prior": recipe.prior}),
        splits=make_splits(dataset, cell.split, recipe.runs),
        origin={"dataset": cell.dataset, "directed": False},
    )
    root = place.runs / f"repeated-{time.time_ns()}" if force else place.runs
    result, _ = run_experiment(
        experiment, root, on_run=lambda run: on_step(f"{cell.name}: run {run.run + 1} of {recipe.runs}")
    )
    kept = ("dataset", "metric", "split", "settings", "training", "selection", "created", "environment", "caveat")
    return {
        **{name: result[name] for name in kept},
        "training": choice.training,
        "config": result["training"],
        "runs": result["runs"],
        "summary": result["summary"],
    }


def measure_missing(
    cells: Sequence[Cell],
    place: Workplace,
    *,
    jobs: int = 1,
    deadline: float = float("inf"),
    on_cell: OnCell,
    on_step: OnStep = lambda _: None,
) -> None:
    """Measure the missing ones of `cells` in order, in this process or in `jobs` others; none is begun after `deadline`
    (`time.time()`).

    A cell that another process is at is left to it.
    """
    in_time = (cell for cell in missing(cells, place.results) if time.time() < deadline)
    if jobs == 1:
        for cell in in_time:
            on_cell(cell, _measure_locked(cell, place, on_step))
        return
    for cell, trouble in in_processes(partial(_measure_locked, place=place), in_time, jobs):
        on_cell(cell, trouble)


def _measure_locked(cell: Cell, place: Workplace, on_step: OnStep = lambda _: None) -> str:
    """Measure a cell unless another process has it or is at it; the reason where it cannot be measured."""
    lock = machine_lock(f"cell {cell_file(place.results, cell).resolve()}")
    try:
        with lock.acquire(timeout=0):
            if read_cell(place.results, cell) is None:
                measure_cell(cell, place, on_step)
    except Timeout:
        return "another process is at it"
    except (GWNError, RuntimeError, MemoryError) as error:
        return " ".join(str(error).split()) or type(error).__name__
    return ""
