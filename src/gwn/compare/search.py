"""The search of one model in a comparison: which settings are tried next, on which split, and which are best so far.

Every trial is scored on one search split first. The better third goes on to the next split, and so on, so that time is
spent on settings that may win and the best ones are known from several splits.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
import optuna
from optuna.trial import FixedTrial, TrialState, create_trial

from gwn.compare.worker import OUT_OF_TIME
from gwn.data import Dataset
from gwn.errors import GWNError
from gwn.models import ModelSpec
from gwn.training import TrainConfig
from gwn.tuning.objective import CHECKPOINTS, START, chosen_settings, tuned_training
from gwn.tuning.spaces import SPACES, Space
from gwn.tuning.storage import silent_optuna
from gwn.tuning.study import BEST_SHARE, UNPRUNED, make_sampler

PROMOTED = 1 / 3
"""The share of the trials on a split that goes on to the next one."""
FIRST = 3
"""So many trials are compared on the first split before one goes on."""

GIVES_UP = 4
"""A model whose first so many trials all fail is not tried further."""


@dataclass(kw_only=True)
class Trial:
    """Settings and what they earned: a validation score for each search split that they were trained on.

    start    which start of the space it is, None where the sampler chose
    curve    checkpoint -> best validation score until then, on the first split
    ended    why it is not trained on further splits, "" where it may be
    failed   whether that is because it could not be trained
    again    whether these are settings of before, which the time had cut, with all their epochs
    """

    number: int
    start: int | None
    parameters: dict[str, Any]
    settings: dict[str, Any]
    training: dict[str, Any]
    scores: list[float] = field(default_factory=list)
    seconds: float = 0.0
    epochs: int = 0
    curve: dict[str, float] = field(default_factory=dict)
    ended: str = ""
    failed: bool = False
    again: bool = False

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores)) if self.scores else -math.inf

    @property
    def seconds_of_split(self) -> float:
        """Of one training; 0 where there was none."""
        return self.seconds / max(1, len(self.scores))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Trial:
        """Back from `to_json`; records of before do not say `again`."""
        whole = {"again": False, **data}
        return cls(**{entry.name: whole[entry.name] for entry in fields(cls)})


def space_of(model: ModelSpec, dataset: Dataset) -> Space:
    """What is searched of a model in a comparison: its own dimensions, or its space with short times for a wave."""
    return SPACES["peers" if model.search or model.kind != "wave" else f"{model.space}-short"].on(dataset)


class ModelSearch:
    """One model's trials.

    space    what is searched of it
    fixed    settings of model and training that are not searched
    splits   how many search splits there are
    limit    the most trials, those that are tried again apart; a model with nothing to set needs one
    """

    def __init__(
        self,
        model: ModelSpec,
        space: Space,
        fixed: Mapping[str, Any],
        *,
        splits: int,
        limit: int,
        seed: int = 0,
        trials: Sequence[Trial] = (),
    ) -> None:
        self.model, self.space, self.fixed, self.splits, self.seed = model, space, dict(fixed), splits, seed
        self.limit = 1 if {"features", "edges"} <= {*model.ignores} else limit
        self.trials = list(trials)
        self.longer: Trial | None = None
        """What was cut and is tried again with all its epochs."""
        self.running: set[tuple[int, int]] = set()
        """(trial, split) that a worker has."""

    @property
    def most(self) -> int:
        """The limit, and what was tried again on top: that takes no other settings' place."""
        return self.limit + sum(trial.again for trial in self.trials)

    @property
    def failure(self) -> str:
        """Why this model cannot be trained: its first trials all failed."""
        failed = [trial for trial in self.trials if trial.failed]
        if len(failed) < min(GIVES_UP, self.most) or any(trial.scores for trial in self.trials):
            return ""
        return failed[0].ended

    @property
    def started(self) -> int:
        """Trials that have a score or failed; all that there can be, once they have."""
        done = sum(bool(trial.scores) or trial.failed for trial in self.trials)
        return sys.maxsize if done >= self.most or self.failure else done

    @property
    def judged(self) -> bool:
        """Whether it can be said how good this model is: on a trial, and on the one that is tried again."""
        return self.started > 0 and (self.longer is None or bool(self.longer.scores) or self.longer.failed)

    @property
    def best(self) -> Trial | None:
        """The best mean score, among the trials that were trained on the most splits; the earliest of equal ones."""
        most = max((len(trial.scores) for trial in self.trials), default=0)
        known = [trial for trial in self.trials if trial.scores and len(trial.scores) == most]
        return max(known, key=lambda trial: (trial.mean, -trial.number), default=None)

    def next(self) -> tuple[Trial, int] | None:
        """A trial and the split that it is to be trained on now; None where nothing is left or all waits."""
        if self.failure:
            return None
        if (waiting := self._waiting()) is not None:
            found = waiting, len(waiting.scores)
        elif len(self.trials) < self.most and (new := self._propose()) is not None:
            found = new, 0
        else:
            return None
        self.running.add((found[0].number, found[1]))
        return found

    def take(self, trial: Trial, split: int, result: Mapping[str, Any]) -> None:
        """What a worker says of a trial on a split."""
        self.running.discard((trial.number, split))
        trial.seconds += float(result.get("seconds", 0.0))
        trial.epochs = max(trial.epochs, int(result.get("epochs", 0)))
        if "failed" in result:
            trial.ended, trial.failed = str(result["failed"]), True
            return
        trial.scores.append(float(result["val"]))
        if split == 0:
            trial.curve = dict(result["curve"])
        trial.ended = str(result["ended"])
        if result["ended"] == OUT_OF_TIME:  # what it is worth is known for so many epochs
            trial.training["epochs"] = min(int(trial.training["epochs"]), int(result["epochs"]))
            trial.ended = ""

    def lengthen(self) -> None:
        """Try the best settings again with all their epochs, where the time had cut them: now there is more of it."""
        best, epochs = self.best, int(self.fixed["epochs"])
        if best is None or not self.judged or int(best.training["epochs"]) >= epochs:
            return
        self.longer = next((one for one in self.trials if one.again and not (one.scores or one.failed)), None)
        if self.longer is not None:  # of a call that was stopped
            return
        training = {**best.training, "epochs": epochs}
        self.longer = Trial(
            number=len(self.trials),
            start=best.start,
            parameters=dict(best.parameters),
            settings=dict(best.settings),
            training=training,
            again=True,
        )
        self.trials.append(self.longer)

    def behind(self, trial: Trial, split: int) -> dict[str, float]:
        """Checkpoint -> the validation score below which a new trial is given up: the best of the others had more."""
        if split > 0 or trial.start is not None:
            return {}
        found = {}
        for checkpoint in map(str, CHECKPOINTS):
            reached = [other.curve[checkpoint] for other in self.trials if checkpoint in other.curve]
            if len(reached) >= UNPRUNED:
                found[checkpoint] = float(np.percentile(reached, 100 - BEST_SHARE))
        return found

    def _waiting(self) -> Trial | None:
        """A trial that was interrupted; or one of the better third on its last split, of most splits first."""
        for trial in self.trials:
            if not (trial.scores or trial.failed or (trial.number, 0) in self.running):
                return trial
        for done in range(self.splits - 1, 0, -1):
            pool = [trial for trial in self.trials if len(trial.scores) >= done]
            if done == 1 and len(pool) < min(FIRST, self.most):
                continue
            pool.sort(key=lambda trial: (-float(np.mean(trial.scores[:done])), trial.number))
            for trial in pool[: math.ceil(PROMOTED * len(pool))]:
                if len(trial.scores) == done and not trial.ended and (trial.number, done) not in self.running:
                    return trial
        return None

    def _propose(self) -> Trial | None:
        """The first start of the space that no trial has had, or what the sampler makes of all trials so far.

        A start is not the number of its trial: what is tried again has a number too.
        """
        number, had = len(self.trials), {trial.start for trial in self.trials}
        start = next((place for place in range(len(self.space.starts_of(self.model))) if place not in had), None)
        with silent_optuna():
            study = optuna.create_study(direction="maximize", sampler=make_sampler(self.seed, number))
            study.add_trials([self._frozen(trial) for trial in self.trials if not trial.failed])
            if start is not None:
                parameters, _ = self.space.start(start, self.model, self.fixed)
                study.enqueue_trial(parameters, user_attrs={START: start})
            asked = study.ask()
            try:
                settings, config = chosen_settings(self.space, self.model, self.fixed, asked, start)
                self.model.build(1, 2, **settings)
            except GWNError as error:
                refused = Trial(number=number, start=start, parameters=dict(asked.params), settings={}, training={})
                refused.ended, refused.failed = str(error), True
                self.trials.append(refused)
                return self._propose() if len(self.trials) < self.most else None
        of_training = {entry.name for entry in fields(TrainConfig)}
        training = tuned_training(config, of_training & self.fixed.keys())
        new = Trial(number=number, start=start, parameters=dict(asked.params), settings=settings, training=training)
        self.trials.append(new)
        return new

    def _frozen(self, trial: Trial) -> optuna.trial.FrozenTrial:
        """A trial as the sampler sees it: by how much it is better than the first one on the splits that both have."""
        fixed = (
            {**self.space.start(trial.start, self.model, self.fixed)[1], **self.fixed}
            if trial.start is not None
            else self.fixed
        )
        asked = FixedTrial(trial.parameters)
        self.space.sample(asked, self.model, fixed)
        if not trial.scores:
            return create_trial(state=TrialState.RUNNING, params=trial.parameters, distributions=asked.distributions)
        first = next(other for other in self.trials if other.scores)
        value = float(np.mean([a - b for a, b in zip(trial.scores, first.scores, strict=False)]))
        return create_trial(value=value, params=trial.parameters, distributions=asked.distributions)
