"""A study in its storage: opened or continued, its trials counted, and those of dead workers given back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count as count_from
from itertools import islice

import numpy as np
import optuna
from optuna.pruners import PercentilePruner
from optuna.samplers import TPESampler
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial, TrialState

from gwn.errors import GWNError
from gwn.models import FORMER_NAMES
from gwn.tuning.objective import REASON, START
from gwn.tuning.plan import Plan, Search
from gwn.tuning.storage import GRACE, MAX_RETRIES

PLAN, BEGAN, PLACE = "plan", "began", "place"
STARTUP = 10
"""Trials drawn at random before the sampler learns from them."""
UNPRUNED = 4
"""Trials finished before any is pruned."""
BEST_SHARE = 40.0
"""Per cent: a trial goes on while it is among the best so many at the same point."""

OnTrials = Callable[[Sequence[FrozenTrial]], None]


def open_study(storage: RDBStorage, name: str, plan: Plan) -> optuna.Study:
    """The study `name`, new or continued; one that was made for another plan is refused."""
    study = optuna.create_study(
        storage=storage,
        study_name=name,
        direction="maximize",
        pruner=PercentilePruner(BEST_SHARE, n_startup_trials=UNPRUNED),
        load_if_exists=True,
    )
    asked = plan.describe()
    # Sibling workers may both find it new: they write the same.
    if PLAN not in study.user_attrs and not study.get_trials(deepcopy=False):
        study.set_user_attr(PLAN, asked)
    stored = dict(study.user_attrs.get(PLAN, {}))
    made_for = str(stored.get("model"))
    stored["model"] = FORMER_NAMES.get(made_for, made_for)
    differing = sorted(key for key in asked if stored.get(key) != asked[key])
    if differing:
        what = "another search space" if {"space", "space_key"} & {*differing} else f"another {differing[0]}"
        raise GWNError(f"study {name!r} was made with {what}; give this one its own --name, or delete the old study")
    return study


def make_sampler(seed: int, place: int) -> TPESampler:
    """The tree-structured Parzen estimator for trial number `place`, the same after a restart as without one."""
    drawn = int(np.random.SeedSequence([seed, place]).generate_state(1)[0])
    return TPESampler(
        n_startup_trials=STARTUP,
        seed=drawn,
        multivariate=True,
        group=True,  # settings that apply together are learned together
        constant_liar=True,  # workers keep clear of what another one is trying
    )


def begin_starts(study: optuna.Study, search: Search) -> None:
    """Have the next of the space's starts tried that is not tried yet, before anything else."""
    trials = study.get_trials(deepcopy=False)
    if any(trial.state == TrialState.WAITING for trial in trials):
        return  # a start, or the trial of a dead worker: that one is next
    begun = {trial.user_attrs.get(START) for trial in trials if is_finished(trial) or trial.state == TrialState.RUNNING}
    for number in range(len(search.space.starts_of(search.model))):
        if number not in begun:
            parameters, _ = search.space.start(number, search.model, search.fixed)
            study.enqueue_trial(parameters, user_attrs={START: number})
            return


def place_of(trial: FrozenTrial) -> int:
    """The number that a trial has in the study without kills; Optuna counts every attempt."""
    return int(trial.user_attrs.get(PLACE, trial.number))


def next_place(study: optuna.Study) -> int:
    """Which trial of the undisturbed study comes next: that of a dead worker, else the first that nobody has.

    A running trial without a place was killed, or is about to say it: the first place that is free is left to it.
    """
    trials = study.get_trials(deepcopy=False)
    for trial in trials:
        if trial.state == TrialState.WAITING and PLACE in trial.user_attrs:
            return int(trial.user_attrs[PLACE])
    held = [trial for trial in trials if is_finished(trial) or trial.state == TrialState.RUNNING]
    taken = {trial.user_attrs.get(PLACE) for trial in held}
    silent = sum(PLACE not in trial.user_attrs for trial in held)
    return next(islice((place for place in count_from(0) if place not in taken), silent, None))


@dataclass(frozen=True, kw_only=True)
class Census:
    """How many trials are done (complete, pruned or failed for a reason), and how many are being worked on."""

    finished: int
    running: int


def count(study: optuna.Study) -> Census:
    trials = study.get_trials(deepcopy=False)
    return Census(
        finished=sum(map(is_finished, trials)),
        running=sum(trial.state == TrialState.RUNNING for trial in trials),
    )


def is_finished(trial: FrozenTrial) -> bool:
    """Whether a trial counts: not so one whose worker was killed or interrupted, unless it was so every time."""
    if trial.state in (TrialState.COMPLETE, TrialState.PRUNED):
        return True
    return trial.state == TrialState.FAIL and (REASON in trial.user_attrs or is_given_up(trial))


def is_given_up(trial: FrozenTrial) -> bool:
    """Whether its worker was killed so often that it is not tried again."""
    often = len(trial.system_attrs.get("retry_history", [])) >= MAX_RETRIES
    return trial.state == TrialState.FAIL and REASON not in trial.user_attrs and often


def reason_of(trial: FrozenTrial) -> str:
    """Why a trial has no score."""
    return str(trial.user_attrs.get(REASON, f"its worker was killed {MAX_RETRIES + 1} times"))


def release_lost(study: optuna.Study, heartbeat: int) -> None:
    """Give back the trials of workers that are gone.

    Optuna does so for all that gave a sign of life; a worker killed in the instant before its first one has begun
    nothing, so its trial is simply ended.
    """
    optuna.storages.fail_stale_trials(study)
    long_ago = datetime.now() - timedelta(seconds=GRACE * heartbeat)
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        began = trial.user_attrs.get(BEGAN) == trial.number  # a retried trial has the attribute of the former one
        if not began and trial.datetime_start is not None and trial.datetime_start < long_ago:
            study.tell(trial.number, state=TrialState.FAIL, skip_if_finished=True)
