"""Accuracy and ROC-AUC by hand."""

from __future__ import annotations

import pytest
import torch

from gwn import GWNError
from gwn.training.metrics import METRICS, accuracy, roc_auc


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
