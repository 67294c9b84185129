"""Scores in [0, 1], higher is better; which one belongs to a dataset is said by its spec."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score
from torch import Tensor

from gwn.errors import GWNError


def accuracy(logits: Tensor, y: Tensor) -> float:
    """Share of nodes whose largest logit is their class."""
    return float((logits.argmax(1) == y).float().mean())


def roc_auc(logits: Tensor, y: Tensor) -> float:
    """Area under the ROC curve of the second of two classes."""
    if logits.shape[1] != 2:
        raise GWNError(f"ROC-AUC needs two classes; this graph has {logits.shape[1]}: use accuracy")
    if y.min() == y.max():
        raise GWNError("ROC-AUC needs both classes among the nodes it is computed on; use another split")
    return float(roc_auc_score(y.cpu().numpy(), (logits[:, 1] - logits[:, 0]).double().cpu().numpy()))


METRICS: dict[str, Callable[[Tensor, Tensor], float]] = {"accuracy": accuracy, "roc-auc": roc_auc}

PAIRS = 5
"""Ways to halve the validation nodes."""


def cross_fitted(logits: Tensor, y: Tensor, metric: str = "accuracy") -> float:
    """The score that several answers `logits`, [answers, n, c], earn on nodes that did not choose among them.

    The answers are those of every epoch, for instance. The nodes are halved at random; the one with the best score on
    one half (ties: lower loss) is scored on the other.
    """
    score = METRICS[metric]
    losses = torch.stack([F.cross_entropy(answer, y, reduction="none") for answer in logits])
    generator = torch.Generator().manual_seed(0)
    earned = []
    for _ in range(PAIRS):
        order = torch.randperm(y.numel(), generator=generator).to(y.device)
        halves = order[: y.numel() // 2], order[y.numel() // 2 :]
        for choosing, scored in (halves, halves[::-1]):
            loss = losses[:, choosing].mean(1).tolist()
            of_answers = [(score(answer[choosing], y[choosing]), -loss[place]) for place, answer in enumerate(logits)]
            best = max(range(len(of_answers)), key=lambda place: of_answers[place])
            earned.append(score(logits[best][scored], y[scored]))
    return sum(earned) / len(earned)
