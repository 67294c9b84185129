"""The best trial: measured again with seeds that the search never saw, and written where `gwn train` finds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState

from gwn.data import make_splits
from gwn.errors import GWNError
from gwn.io import machine_lock, make_folder, read_toml
from gwn.settings import table_name, write_tuned
from gwn.training import Experiment, TrainConfig, run_experiment
from gwn.training.experiment import OnProgress, OnRun
from gwn.tuning.objective import SETTINGS, SPLITS, TRAINING
from gwn.tuning.plan import SEARCH_SEED, Search
from gwn.tuning.study import is_finished, place_of, reason_of


def best_trial(trials: Sequence[FrozenTrial]) -> FrozenTrial:
    """The complete trial with the highest mean validation score, the earliest of equal ones."""
    complete = [trial for trial in trials if trial.state == TrialState.COMPLETE and trial.value is not None]
    if not complete:
        ended = [trial for trial in trials if is_finished(trial)]
        why = f": {reason_of(ended[-1])}" if ended else " in the time given; allow more with --timeout"
        raise GWNError(f"none of {len(ended)} trials has a score{why}")
    return max(complete, key=lambda trial: (trial.value or 0.0, -place_of(trial)))


def final_experiment(search: Search, name: str, best: FrozenTrial, runs: int) -> Experiment:
    """The winner on `runs` splits with seeds 0, 1, ...: exactly what `gwn train` computes with these settings."""
    if not 1 <= runs <= SEARCH_SEED:
        raise GWNError(f"final runs must be between 1 and {SEARCH_SEED}; got {runs}")
    plan = search.plan
    return Experiment(
        dataset=search.dataset,
        model=search.model,
        settings=best.user_attrs[SETTINGS],
        config=TrainConfig(**{**plan.training, **best.user_attrs[TRAINING]}),
        splits=make_splits(search.dataset, plan.split, runs),
        origin=plan.source,
        settings_from={"study": name, "trial": place_of(best)},
    )


def measure(
    search: Search,
    name: str,
    trials: Sequence[FrozenTrial],
    root: Path,
    *,
    runs: int,
    best: FrozenTrial | None = None,
    on_progress: OnProgress | None = None,
    on_run: OnRun | None = None,
) -> tuple[dict[str, Any], Path]:
    """The table of the winner of study `name`, and the folder of its final runs.

    best   the winner, where it is not simply the trial with the best score
    """
    best = best_trial(trials) if best is None else best
    experiment = final_experiment(search, name, best, runs)
    result, folder = run_experiment(experiment, root, on_progress=on_progress, on_run=on_run)
    if result["summary"]["finished"] == 0:
        raise GWNError(f"none of the {runs} final runs finished: {result['runs'][0]['reason']}")
    return winner_table(search, name, trials, best, result), folder


def winner_table(
    search: Search, name: str, trials: Sequence[FrozenTrial], best: FrozenTrial, result: Mapping[str, Any]
) -> dict[str, Any]:
    """Settings, and beside them everything needed to judge and to repeat them."""
    summary = result["summary"]
    test = summary["test"] or {}  # a split may keep no node to test on
    return {
        "data": search.plan.data,
        "metric": search.dataset.metric,
        "date": date.today().isoformat(),
        "settings": dict(best.user_attrs[SETTINGS]),
        "training": {**_fixed_training(search), **best.user_attrs[TRAINING]},
        "search": search_summary(search, name, trials, best),
        "final": {
            "runs": len(result["runs"]),
            "seeds": [run["seed"] for run in result["runs"]],
            "diverged": summary["diverged"],
            "validation": summary["val"]["mean"],
            "test": test.get("mean"),
            "test_sd": test.get("sd"),
            "test_low": test.get("low"),
            "test_high": test.get("high"),
            "parameters": result["runs"][0]["parameters"],
        },
        "versions": {**result["environment"]["versions"], "optuna": optuna.__version__},
    }


def _fixed_training(search: Search) -> dict[str, Any]:
    """What the search fixed of the training, such as `class_weights`, and `gwn train` must repeat.

    A prior is left out, as settings must not correct in silence: it is in the table's name, and `gwn train` takes it by
    name. So is where it ran.
    """
    return {name: value for name, value in search.plan.training.items() if name not in ("prior", "device", "threads")}


def search_summary(search: Search, name: str, trials: Sequence[FrozenTrial], best: FrozenTrial) -> dict[str, Any]:
    """What was searched, how much of it, and what the best trial had on validation."""
    plan = search.plan
    states = [trial.state for trial in trials if is_finished(trial)]
    return {
        "space": plan.space,
        "space_key": plan.space_key,
        "fixed": sorted({**plan.settings, **plan.training}),
        "study": name,
        "sampler": "Optuna TPE, percentile pruning",
        "sampler_seed": plan.seed,
        "trials": len(states),
        "complete": states.count(TrialState.COMPLETE),
        "pruned": states.count(TrialState.PRUNED),
        "failed": states.count(TrialState.FAIL),
        "best_trial": place_of(best),
        "validation": best.value,
        "validation_of_splits": [split["val"] for split in best.user_attrs[SPLITS]],
        "seeds": list(plan.search_seeds),
        "same_splits_as_final": plan.published,
    }


def settings_file(folder: Path, model: str) -> Path:
    """The model's file in `folder`; refused now, not after hours, where it could not be written."""
    file = folder / f"{model}.toml"
    try:
        make_folder(folder)
        with machine_lock(str(folder.resolve())), (folder / f".{model}.try").open("w"):
            pass
        (folder / f".{model}.try").unlink()
    except OSError as error:
        raise GWNError(f"cannot write {folder}: {error.strerror}; choose another place with --out") from None
    if file.exists():
        read_toml(file)
    return file


def write_winner(file: Path, search: Search, table: Mapping[str, Any]) -> tuple[str, str]:
    """Put the table into the file beside those of other datasets and splits; the name that it has there, and what of
    another study it replaced, in words, or "".

    One that only has another date stays.
    """
    plan = search.plan
    with machine_lock(str(file.resolve())):
        tables = read_toml(file) if file.exists() else {}
        of_dataset = tables.setdefault(plan.dataset, {})
        if not isinstance(of_dataset, dict):
            raise GWNError(f"{file}: {plan.dataset} should be a table; mend or delete the file")
        place = table_name(plan.split, plan.training.get("prior", "none"))
        former = of_dataset.get(place)
        new = _without_none(table)
        if not isinstance(former, dict) or {**former, "date": None} != {**new, "date": None}:
            of_dataset[place] = new
            write_tuned(file, tables, by="gwn tune")
    return f"{plan.dataset}.{place}", _replaced(former, new)


def _replaced(former: Any, new: Mapping[str, Any]) -> str:
    """Of which study other settings were, and what they had on validation."""
    if not isinstance(former, dict):
        return ""
    before, now = (table.get("search") or {} for table in (former, new))
    if not isinstance(before, dict) or before.get("study") == now.get("study"):
        return ""
    score, trials = before.get("validation"), before.get("trials")
    had = f", validation {score:.4f} in {trials} trials" if isinstance(score, float) else ""
    return f"the settings of study {before.get('study', 'unknown')}{had}; this one has {now['validation']:.4f}"


def _without_none(table: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _without_none(value) if isinstance(value, Mapping) else value
        for name, value in table.items()
        if value is not None
    }
