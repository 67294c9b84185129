"""One trial: choose settings, train on every search split, report the mean validation score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import optuna

from gwn.errors import GWNError
from gwn.models import ModelSpec
from gwn.training import TrainConfig, build_network, fit, seed_everything
from gwn.training.config import effective_settings
from gwn.training.loop import OnEpoch
from gwn.tuning.plan import SEARCH_SEED, Search
from gwn.tuning.spaces import Space

REASON, SETTINGS, TRAINING, SPLITS = "reason", "settings", "training", "splits"
START = "start"
"""The trial's attributes: why it was not finished, with what it ran, what each split gave, and which start of its space
it is."""


class TrialFailed(Exception):
    """A trial that could not be finished, diverged for instance; its reason is among its attributes."""


def score_trial(search: Search, trial: optuna.Trial) -> float:
    """The mean validation score over the search splits; pruned where it falls behind the others on the way.

    The test score of each split is recorded beside it and never looked at here: it tells later what selecting on it
    would have pretended.
    """
    settings, config = choose(search, trial)
    trial.set_user_attr(SETTINGS, settings)
    trial.set_user_attr(TRAINING, tuned_training(config))
    splits: list[dict[str, Any]] = []
    mean = 0.0
    for number in range(len(search.splits)):
        try:
            splits.append(train_on_split(search, settings, config, number, _pruning(trial, splits)))
        except (GWNError, RuntimeError, MemoryError) as error:
            _explain(trial, error)
            raise TrialFailed from None
        trial.set_user_attr(SPLITS, splits)
        mean = sum(split["val"] for split in splits) / len(splits)
    return mean


CHECKPOINTS = (30, 60, 100)
"""Epochs of each split at which a trial is compared with the others."""


def _pruning(trial: optuna.Trial, before: Sequence[Mapping[str, Any]]) -> OnEpoch:
    """Reports the best validation score so far, averaged with those of the splits before, and ends a trial that is
    not among the best of the others at the same point."""
    best = float("-inf")

    def on_epoch(epoch: int, score: float) -> None:
        nonlocal best
        best = max(best, score)
        if epoch not in CHECKPOINTS:
            return
        trial.report((sum(split["val"] for split in before) + best) / (len(before) + 1), 1000 * len(before) + epoch)
        # Starts are anchors: what learns slowly there must not keep the search away from its whole neighbourhood.
        if START not in trial.user_attrs and trial.should_prune():
            trial.set_user_attr(REASON, f"behind the best in epoch {epoch} of split {len(before) + 1}")
            raise optuna.TrialPruned

    return on_epoch


TUNED_TRAINING = (
    "epochs",
    "lr",
    "weight_decay",
    "group_lr",
    "group_weight_decay",
    "batch_size",
    "stopping",
    "patience",
)
"""What a tuned table says of the training; device, threads and the like belong to a machine."""


def tuned_training(config: TrainConfig, also: Iterable[str] = ()) -> dict[str, Any]:
    """What is kept of a trial's training: `TUNED_TRAINING`, labels where they are input, and `also`, without what is
    not set."""
    labels = ("labels",) if config.labels != TrainConfig.labels else ()
    kept = {name: getattr(config, name) for name in (*TUNED_TRAINING, *labels, *also)}
    return {name: value for name, value in kept.items() if value is not None}


def choose(search: Search, trial: optuna.Trial) -> tuple[dict[str, Any], TrainConfig]:
    """The trial's settings, all of them; a combination that the model refuses is pruned with the reason."""
    try:
        start = trial.user_attrs.get(START)
        settings, config = chosen_settings(search.space, search.model, search.fixed, trial, start)
        search.model.build(search.graph.num_features, search.graph.num_outputs, **settings)
    except GWNError as error:
        _explain(trial, error)
        raise optuna.TrialPruned from None
    return settings, config


def chosen_settings(
    space: Space, model: ModelSpec, fixed: Mapping[str, Any], trial: optuna.trial.BaseTrial, start: int | None
) -> tuple[dict[str, Any], TrainConfig]:
    """What a trial is trained with: all settings of the model, and those of the training.

    start   which start of the space it is, None for a choice of the sampler
    """
    if start is not None:
        fixed = {**space.start(start, model, fixed)[1], **fixed}
    chosen = space.sample(trial, model, fixed)
    of_training = {field.name for field in fields(TrainConfig)}
    for_model = {name: value for name, value in chosen.items() if name not in of_training}
    config = TrainConfig(**{name: value for name, value in chosen.items() if name in of_training})
    return effective_settings(model, for_model), config


def train_on_split(
    search: Search, settings: dict[str, Any], config: TrainConfig, number: int, on_epoch: OnEpoch | None = None
) -> dict[str, Any]:
    """Train on search split `number` with that split's seed."""
    split = search.splits[number]
    graph = search.on(split)
    seed_everything(SEARCH_SEED + number, config.deterministic)
    model = build_network(search.model, settings, config, graph, split)
    model.to(graph.x.device, config.torch_dtype)
    fitted = fit(model, graph, split, config, search.dataset.metric, on_epoch)
    return {
        "val": fitted.val,
        "test": fitted.test,
        "best_epoch": fitted.best_epoch,
        "epochs": fitted.epochs,
        "seconds": round(fitted.seconds, 3),
    }


def _explain(trial: optuna.Trial, error: BaseException) -> None:
    text = " ".join(str(error).split()) or type(error).__name__
    trial.set_user_attr(REASON, text[:500])
