"""The best trials of a search once more, on splits that it never saw: the highest of many noisy scores is mostly noise.

A trial's score is that of the best of two hundred epochs, and the search takes the best of many trials: on forty
validation nodes both favour luck and restless training. In a play-off a few finalists train on fresh splits, and each
is scored on one half of the validation nodes at the epoch that the other half chooses, and the other way round. Of
published splits there are only ten: those are played on again, with other model seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from optuna.trial import FrozenTrial, TrialState
from torch import Tensor

from gwn.data import Split, make_splits
from gwn.errors import GWNError
from gwn.io import content_key
from gwn.training import TrainConfig, build_network, fit, seed_everything
from gwn.training.loop import former_determinism
from gwn.training.metrics import cross_fitted
from gwn.tuning.objective import SETTINGS, TRAINING
from gwn.tuning.plan import Search
from gwn.tuning.study import place_of

PLAYOFF_SEED = 2000
"""The first seed of a play-off; a search has those from 1000, final runs those from 0."""

PLAYOFF_SPLITS = 10

OnFinalist = Callable[[int, int], None]
"""Called with a finalist's number and how many there are, before it trains."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Finalist:
    """A trial of a search, and its score in the play-off; None where it could not be trained."""

    search: Search
    trial: FrozenTrial
    score: float | None


def finalists(trials: Sequence[FrozenTrial], count: int) -> list[FrozenTrial]:
    """The best trials of a search, each setting once."""
    complete = [trial for trial in trials if trial.state == TrialState.COMPLETE and trial.value is not None]
    ranked = sorted(complete, key=lambda trial: (-(trial.value or 0.0), place_of(trial)))
    first: dict[str, FrozenTrial] = {}
    for trial in ranked:
        key = content_key({name: trial.user_attrs[name] for name in (SETTINGS, TRAINING)})
        first.setdefault(key, trial)
    return list(first.values())[:count]


def play_off(
    entered: Sequence[tuple[Search, FrozenTrial]], splits: int, on_finalist: OnFinalist = lambda *_: None
) -> tuple[Finalist, dict[str, Any]]:
    """The finalist with the best score, the earliest of equal ones; and, for the record, all scores that there are."""
    played = []
    for number, (search, trial) in enumerate(entered):
        on_finalist(number + 1, len(entered))
        played.append(score_finalist(search, trial, splits))
    if not played:
        raise GWNError("no trial has a score: there is nobody to play off; allow more trials")
    winner = max(played, key=lambda finalist: float("-inf") if finalist.score is None else finalist.score)
    scores = [finalist.score for finalist in played if finalist.score is not None]
    return winner, {"splits": splits, "finalists": len(played), "scores": scores, "won": winner.score}


def score_finalist(search: Search, trial: FrozenTrial, splits: int) -> Finalist:
    """Train the trial's settings on fresh splits; the mean of its cross-fitted validation scores."""
    config = TrainConfig(**{**search.plan.training, **trial.user_attrs[TRAINING]})
    total = 0.0
    for number, split in enumerate(make_splits(search.dataset, search.plan.split, splits, PLAYOFF_SEED)):
        try:
            with former_determinism():
                seed_everything(PLAYOFF_SEED + number, config.deterministic)
                total += _score(search, trial, split, config)
        except (GWNError, RuntimeError):
            return Finalist(search=search, trial=trial, score=None)
    return Finalist(search=search, trial=trial, score=total / splits)


def _score(search: Search, trial: FrozenTrial, split: Split, config: TrainConfig) -> float:
    graph, epochs = search.on(split), list[Tensor]()
    model = build_network(search.model, trial.user_attrs[SETTINGS], config, graph, split)
    model.to(graph.x.device, config.torch_dtype)
    metric = search.dataset.metric
    fitted = fit(model, graph, split, config, metric, on_validation=lambda logits: epochs.append(logits.clone()))
    if config.smooth != "none":  # no epoch has the smoothed answers; among their strengths `val` is cross-fitted
        return fitted.val
    known = graph.labels[split.val.to(graph.labels.device)]
    return cross_fitted(torch.stack(epochs), known, metric, config.select)
