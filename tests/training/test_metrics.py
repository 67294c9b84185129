"""Accuracy, ROC-AUC and R² by hand, and how people read them."""

from __future__ import annotations

import pytest
import torch

from gwn import GWNError
from gwn.training.metrics import METRICS, accuracy, number_text, r2, roc_auc, score_text


def two_classes(scores: list[float]) -> torch.Tensor:
    second = torch.tensor(scores)
    return torch.stack([torch.zeros_like(second), second], dim=1)


def test_accuracy() -> None:
    logits = torch.tensor([[1.0, 2.0, 0.0], [5.0, 1.0, 1.0], [0.0, 0.1, 0.2], [9.0, 1.0, 1.0]])
    assert accuracy(logits, torch.tensor([1, 0, 2, 1])) == 0.75
    assert METRICS["accuracy"].score is accuracy


def test_roc_auc_counts_ordered_pairs() -> None:
    y = torch.tensor([0, 0, 1, 1])
    assert roc_auc(two_classes([0.1, 0.4, 0.35, 0.8]), y) == 0.75
    assert roc_auc(two_classes([1.0, 2.0, 3.0, 4.0]), y) == 1.0
    assert roc_auc(two_classes([4.0, 3.0, 2.0, 1.0]), y) == 0.0
    assert roc_auc(two_classes([1.0, 1.0, 1.0, 1.0]), y) == 0.5


def test_roc_auc_of_large_logits_does_not_tie_them() -> None:
    """A softmax would make both of these exactly one."""
    assert roc_auc(two_classes([100.0, 200.0]), torch.tensor([0, 1])) == 1.0
    assert roc_auc(two_classes([200.0, 100.0]), torch.tensor([0, 1])) == 0.0


def test_roc_auc_uses_the_difference_of_the_two_logits() -> None:
    assert roc_auc(torch.tensor([[10.0, 9.0], [0.0, 1.0]]), torch.tensor([0, 1])) == 1.0


def test_where_roc_auc_makes_no_sense() -> None:
    with pytest.raises(GWNError, match="two classes; this graph has 3"):
        roc_auc(torch.zeros(2, 3), torch.tensor([0, 1]))
    with pytest.raises(GWNError, match="both classes"):
        roc_auc(torch.zeros(2, 2), torch.tensor([1, 1]))


def test_r_squared_is_the_same_in_any_units() -> None:
    y, given = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64), torch.tensor([[1.5], [2.0], [3.0]])
    by_hand = 1 - (0.25 + 0 + 1) / ((7 / 3 - 1) ** 2 + (7 / 3 - 2) ** 2 + (7 / 3 - 4) ** 2)
    assert r2(given, y) == pytest.approx(by_hand)
    assert r2(1000 * given - 7, 1000 * y - 7) == pytest.approx(by_hand)
    with pytest.raises(GWNError, match="different numbers"):
        r2(given, torch.ones(3))


def test_scores_are_read_in_per_cent_and_r_squared_as_it_is() -> None:
    assert (score_text("accuracy", 0.8812), score_text("r2", -0.5)) == ("88.12", "-0.5000")


def test_numbers_keep_all_digits_before_the_point() -> None:
    """Incomes of 1,000,881,279 and 1,001,663,914 were both 1.001e+09."""
    shown = {1_000_881_279.4: "1,000,881,279", -452_300: "-452,300", 763.284: "763.3", 0.07264: "0.07264", 2: "2"}
    assert {number: number_text(number) for number in shown} == shown
    assert [number_text(value, 3, "+") for value in (0, 119_960.8, -0.5)] == ["+0", "+119,961", "-0.5"]
    assert [number_text(value) for value in (3.2e-7, 1e20, float("nan"))] == ["3.2e-07", "1e+20", "nan"]
