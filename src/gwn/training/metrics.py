"""Scores in [0, 1], higher is better; which one belongs to a dataset is said by its spec."""

from __future__ import annotations

from collections.abc import Callable

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
