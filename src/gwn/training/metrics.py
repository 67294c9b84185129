"""Scores, higher is better, and how a person reads them; which one belongs to a dataset is said by its spec."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from gwn.errors import GWNError
from gwn.registry import lookup
from gwn.training.loss import losses_of_nodes


def accuracy(logits: Tensor, y: Tensor) -> float:
    """Share of nodes whose largest logit is their class."""
    return float((logits.argmax(1) == y).float().mean())


def roc_auc(logits: Tensor, y: Tensor) -> float:
    """Area under the ROC curve of the second of two classes."""
    from sklearn.metrics import roc_auc_score

    if logits.shape[1] != 2:
        raise GWNError(f"ROC-AUC needs two classes; this graph has {logits.shape[1]}: use accuracy")
    if y.min() == y.max():
        raise GWNError("ROC-AUC needs both classes among the nodes it is computed on; use another split")
    return float(roc_auc_score(y.cpu().numpy(), (logits[:, 1] - logits[:, 0]).cpu().double().numpy()))


def r2(outputs: Tensor, y: Tensor) -> float:
    """1 - sum (y - f)² / sum (y - mean y)²: 1 is exact, 0 is as good as the mean, below 0 is worse than that.

    The same in any units, so standardised outputs and targets give the figure of the original ones.
    """
    from sklearn.metrics import r2_score

    if y.min() == y.max():
        raise GWNError("R² needs at least two different numbers among the nodes it is computed on; label more nodes")
    return float(r2_score(y.cpu().double().numpy(), outputs.reshape(-1).cpu().double().numpy()))


@dataclass(frozen=True)
class Metric:
    """A score of outputs [n, c] against targets [n], and whether people read it in per cent or as it is."""

    title: str
    score: Callable[[Tensor, Tensor], float]
    percent: bool = True

    def __call__(self, outputs: Tensor, y: Tensor) -> float:
        return self.score(outputs, y)

    @property
    def name(self) -> str:
        """What it is called beside a figure that has its unit."""
        return self.title.removesuffix(" in %")

    def text(self, value: float, digits: int = 2) -> str:
        """The score without its unit: 0.8812 is 88.12 in per cent, or 0.8812."""
        return f"{100 * value:.{digits}f}" if self.percent else f"{value:.{digits + 2}f}"


METRICS: dict[str, Metric] = {
    "accuracy": Metric("accuracy in %", accuracy),
    "roc-auc": Metric("roc-auc in %", roc_auc),
    "r2": Metric("R²", r2, percent=False),
}


def score_text(metric: str, value: float, digits: int = 2) -> str:
    """A score of this metric as people read it: in per cent, or as it is for R²."""
    return lookup("metric", metric, METRICS).text(value, digits)


def number_text(value: float, digits: int = 4, sign: str = "") -> str:
    """A number of a table as people read it: to so many digits at least, and never without those before the point."""
    if not (value == 0 or 1e-4 <= abs(value) < 1e15):
        return f"{value:{sign}.{digits}g}"
    decimals = 0 if value == 0 else max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:{sign},.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


PAIRS = 5
"""Ways to halve the validation nodes."""


def cross_fitted(logits: Tensor, y: Tensor, metric: str = "accuracy", select: str = "score") -> float:
    """The score that several answers `logits`, [answers, n, c], earn on nodes that did not choose among them.

    The answers are those of every epoch, for instance. The nodes are halved at random; the one with the best score on
    one half (ties: lower loss), or with the lowest loss (ties: higher score) as `select` says, is scored on the other.
    """
    if y.numel() < 2:
        raise GWNError("one validation node cannot be halved; label more nodes")
    score, logits, y = METRICS[metric], logits.cpu(), y.cpu()  # numbers in their units are there already
    losses = torch.stack([losses_of_nodes(answer, y) for answer in logits])
    generator = torch.Generator().manual_seed(0)
    earned = []
    for _ in range(PAIRS):
        order = torch.randperm(y.numel(), generator=generator)
        halves = order[: y.numel() // 2], order[y.numel() // 2 :]
        for choosing, scored in (halves, halves[::-1]):
            loss = losses[:, choosing].mean(1).tolist()
            of_answers = [(score(answer[choosing], y[choosing]), -loss[place]) for place, answer in enumerate(logits)]
            order_of = slice(None) if select == "score" else slice(None, None, -1)
            best = max(range(len(of_answers)), key=lambda place: of_answers[place][order_of])
            earned.append(score(logits[best][scored], y[scored]))
    return sum(earned) / len(earned)
