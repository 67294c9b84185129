"""How good answers are, class by class, against scikit-learn and by hand; and what is pointed out about them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss

from graphs import normal
from gwn import GWNError
from gwn.graph import as_targets
from gwn.training.config import TrainConfig
from gwn.training.loss import Scaling, balanced_weights, plain_loss, weighted_loss
from gwn.training.outputs import Outputs, calibration_error, judge_classes, probabilities, warnings_of
from gwn.training.predict import mean_answers

LOGITS = normal(60, 3)
Y = torch.arange(60) % 3


def outputs(logits: torch.Tensor = LOGITS, y: torch.Tensor = Y, scaling: Scaling | None = None) -> Outputs:
    return Outputs(val=logits, y_val=y, test=logits, y_test=y, scaling=scaling)


def test_scores_of_classes_are_those_of_scikit_learn() -> None:
    found, shares = judge_classes(LOGITS, Y, 1.0), probabilities(LOGITS).numpy()
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(Y, shares.argmax(1)))
    assert found["macro_f1"] == pytest.approx(f1_score(Y, shares.argmax(1), average="macro"))
    assert found["log_loss"] == pytest.approx(log_loss(Y, shares))
    assert np.sum(found["confusion"]) == 60
    assert found["support"] == [20, 20, 20]


def test_calibration_error_by_hand() -> None:
    shares = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6]])
    # two of confidence 0.9, one of them right: a gap of 0.4 for two of three; one of 0.6, right
    assert calibration_error(shares, np.array([0, 1, 1])) == pytest.approx((2 * 0.4 + 0.4) / 3)


def test_the_temperature_undoes_a_scale_and_changes_no_answer() -> None:
    drawn = torch.multinomial(LOGITS.repeat(50, 1).softmax(1), 1, generator=torch.Generator().manual_seed(0)).flatten()
    known = outputs(LOGITS.repeat(50, 1) * 4, drawn)
    found = known.temperature()
    assert found == pytest.approx(4, rel=0.15)
    assert torch.equal(probabilities(known.val, found).argmax(1), known.val.argmax(1))
    details = known.details(found)["test"]
    assert details["calibration_error"] < details["calibration_error_uncalibrated"]
    assert details["log_loss"] < details["log_loss_uncalibrated"]


def test_a_handful_of_right_answers_does_not_make_a_network_certain() -> None:
    found = outputs(torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 1])).temperature()
    assert found is not None
    assert 0.3 < found < 1


def test_numbers_are_judged_in_their_own_units() -> None:
    y = torch.tensor([1e6, 3e6, 5e6], dtype=torch.float64)
    scaling = Scaling.of(y, torch.arange(3))
    assert scaling is not None
    scaled = scaling.apply(y, torch.float32)
    found = outputs(scaled.unsqueeze(1) + 10 / scaling.spread, scaled, scaling)
    assert found.temperature() is None
    assert found.details(None)["test"]["mae"] == pytest.approx(10, rel=0.1)
    assert Scaling.of(torch.tensor([0, 1]), torch.tensor([0])) is None


@pytest.mark.parametrize("number", [0.0, 0.1, 0.7])
def test_equal_numbers_have_no_spread_that_is_left_by_rounding(number: float) -> None:
    equal = Scaling.of(torch.full((24,), number, dtype=torch.float64), torch.arange(24))
    assert equal is not None
    assert equal.spread == 1.0


def test_balanced_weights_make_classes_equal() -> None:
    y, config = torch.tensor([0, 0, 0, 1]), TrainConfig(class_weights="balanced")
    weights = balanced_weights(y, 3, config)
    assert weights is not None
    assert weights.tolist() == pytest.approx([2 / 3, 2, 0])
    assert balanced_weights(y, 3, TrainConfig()) is None
    logits = normal(4, 3)
    each = torch.nn.functional.cross_entropy(logits, y, reduction="none")
    assert weighted_loss(logits, y, weights) == pytest.approx(float((each[:3].mean() + each[3]) / 2))
    assert plain_loss(logits, y) == pytest.approx(float(each.mean()))
    with pytest.raises(GWNError, match="needs classes"):
        balanced_weights(torch.tensor([0.5]), 0, config)


def record(logits: torch.Tensor = LOGITS, y: torch.Tensor = Y, **changes: Any) -> dict[str, Any]:
    return {"status": "ok", "loss_fell": True, "details": outputs(logits, y).details(1.0), **changes}


def test_what_makes_a_score_worth_less_is_said() -> None:
    names = ("a", "b", "c")
    perfect = torch.nn.functional.one_hot(Y, 3).double()
    assert warnings_of([record(perfect)], names) == []
    assert "never fell" in warnings_of([record(perfect, loss_fell=False), record(perfect)], names)[0]
    assert "1 of 2 runs" in warnings_of([record(perfect, loss_fell=False), record(perfect)], names)[0]
    assert "blew up" in warnings_of([record(perfect * 1e6)], names)[0]
    assert "for everybody ('b')" in warnings_of([record(torch.tensor([[0.0, 1.0, 0.0]]).repeat(60, 1))], names)[0]
    without = perfect.clone()
    without[Y == 2] = perfect[0]
    (said,) = warnings_of([record(without)], names)
    assert "never found on test in any run: 'c'" in said
    assert warnings_of([record(without), record(perfect)], names) == [], "another run finds it"


def test_the_mean_of_runs_leaves_out_those_that_trained_on_a_node() -> None:
    one, two = np.array([[1.0, 0.0]] * 3), np.array([[0.0, 1.0]] * 3)
    found = mean_answers([(one, torch.tensor([0, 2])), (two, torch.tensor([1, 2]))])
    assert found.tolist() == [[0, 1], [1, 0], [0.5, 0.5]]
    assert mean_answers([(one, None), (two, None)]).tolist() == [[0.5, 0.5]] * 3


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array([0.5, 1.0]), "use --task regression"),
        (np.array([[0, 1], [1, 1]]), "2 x 2: several labels"),
        (np.array([1j, 0]), "complex128"),
        (np.ma.masked_array([0, 1], mask=[False, True]), "masked"),
        (np.array(["a", "b"]), "class numbers"),
        (np.array([1e300]), "class number 1e\\+300"),
    ],
    ids=str,
)
def test_targets_that_fit_no_task_are_refused(y: Any, message: str) -> None:
    with pytest.raises(GWNError, match=message):
        as_targets(y)


def test_whole_numbers_are_classes_however_they_are_stored() -> None:
    assert as_targets(np.array([[0.0], [2.0], [np.nan]])).tolist() == [0, 2, -1]
    assert as_targets(np.array([0.5, np.nan]), "regression").isnan().tolist() == [False, True]
