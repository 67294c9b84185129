"""The play-off: scores that neither the choice of an epoch nor the choice of a trial has flattered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from optuna.distributions import FloatDistribution
from optuna.trial import FrozenTrial, TrialState, create_trial
from torch import Tensor

from gwn import GWNError
from gwn.training import Fit
from gwn.training.metrics import cross_fitted
from gwn.tuning import Search
from gwn.tuning.objective import SETTINGS, TRAINING
from gwn.tuning.playoff import PLAYOFF_SEED, finalists, play_off, score_finalist

MakeSearch = Callable[..., Search]


def trial(value: float, dropout: float, state: TrialState = TrialState.COMPLETE) -> FrozenTrial:
    return create_trial(
        state=state,
        value=value,
        params={"dropout": dropout},
        distributions={"dropout": FloatDistribution(0, 1)},
        user_attrs={SETTINGS: {"dropout": dropout, "hidden_channels": 8}, TRAINING: {"epochs": 5, "lr": 0.05}},
    )


def test_epochs_of_pure_chance_earn_chance() -> None:
    """The best of two hundred coin-tossing epochs looks good on its own nodes, and no better than a coin on others."""
    y = torch.randint(2, (40,))
    logits = torch.randn(200, 40, 2)
    flattered = max(float((epoch.argmax(1) == y).float().mean()) for epoch in logits)
    earned = [cross_fitted(torch.randn(200, 40, 2), y) for _ in range(20)]
    assert flattered > 0.65
    assert abs(sum(earned) / len(earned) - 0.5) < 0.05


def test_an_epoch_that_is_right_is_found() -> None:
    y = torch.randint(3, (30,))
    logits = torch.randn(20, 30, 3)
    logits[7] = 5 * torch.nn.functional.one_hot(y, 3)
    assert cross_fitted(logits, y) == 1.0


def test_of_equal_scores_the_lower_loss_chooses() -> None:
    y = torch.tensor([0, 1] * 10)
    sure = 3 * torch.nn.functional.one_hot(y, 2).float()
    right_but_unsure_of_some = sure.clone()
    right_but_unsure_of_some[:10] *= 0.1
    assert cross_fitted(torch.stack([right_but_unsure_of_some, sure]), y) == 1.0


def test_finalists_are_the_best_distinct_settings_in_order() -> None:
    trials = [trial(0.7, 0.1), trial(0.9, 0.2), trial(0.9, 0.2), trial(0.8, 0.3), trial(0.95, 0.4, TrialState.PRUNED)]
    assert [one.value for one in finalists(trials, 2)] == [0.9, 0.8]
    assert [one.params["dropout"] for one in finalists(trials, 9)] == [0.2, 0.3, 0.1]
    assert finalists([], 3) == []


def test_a_finalist_trains_on_splits_the_search_never_saw(
    make_search: MakeSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = make_search(model="mlp")
    seen: list[int] = []
    asked = score_finalist.__globals__["make_splits"]

    def watched(dataset: object, kind: str, runs: int, seed: int) -> object:
        splits = asked(dataset, kind, runs, seed)
        seen.extend(split.seed for split in splits)
        return splits

    monkeypatch.setitem(score_finalist.__globals__, "make_splits", watched)
    first = score_finalist(search, trial(0.9, 0.2), 3)
    assert seen == [PLAYOFF_SEED, PLAYOFF_SEED + 1, PLAYOFF_SEED + 2]
    assert not {*seen} & {*search.plan.search_seeds}
    assert first.score is not None
    assert 0.0 < first.score <= 1.0
    assert score_finalist(search, trial(0.9, 0.2), 3).score == first.score


@pytest.mark.parametrize("select", ["score", "loss"])
def test_the_epoch_is_chosen_as_training_chooses_it(
    select: str, make_search: MakeSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    finalist, asked = trial(0.9, 0.2), []
    finalist.user_attrs[TRAINING]["select"] = select

    def watched(logits: Tensor, y: Tensor, metric: str, select: str = "score") -> float:
        asked.append(select)
        return cross_fitted(logits, y, metric, select)

    monkeypatch.setitem(score_finalist.__globals__, "cross_fitted", watched)
    assert score_finalist(make_search(model="mlp"), finalist, 1).score is not None
    assert asked == [select]


def test_a_smoothed_finalist_has_the_score_of_its_smoothed_answers(
    make_search: MakeSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    finalist, train = trial(0.9, 0.2), score_finalist.__globals__["fit"]
    finalist.user_attrs[TRAINING]["smooth"] = "correct"

    def watched(*given: Any, **named: Any) -> Fit:
        fitted: Fit = train(*given, **named)
        return replace(fitted, val=0.123)  # as no epoch scores

    monkeypatch.setitem(score_finalist.__globals__, "fit", watched)
    assert score_finalist(make_search(model="mlp"), finalist, 1).score == 0.123


def test_one_that_cannot_be_trained_has_no_score(make_search: MakeSearch) -> None:
    broken = trial(0.9, 0.2)
    broken.user_attrs[TRAINING]["lr"] = 1e30
    assert score_finalist(make_search(model="mlp"), broken, 2).score is None


def test_the_best_score_wins_and_all_are_recorded(make_search: MakeSearch) -> None:
    search = make_search(model="mlp")
    broken, good = trial(0.9, 0.2), trial(0.8, 0.3)
    broken.user_attrs[TRAINING]["lr"] = 1e30
    winner, record = play_off([(search, broken), (search, good)], 2)
    assert winner.trial is good
    assert record == {"splits": 2, "finalists": 2, "scores": [winner.score], "won": winner.score}
    with pytest.raises(GWNError, match="nobody to play off"):
        play_off([], 2)
