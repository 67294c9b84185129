"""What training makes small: cross-entropy for classes, squared error for numbers on a scale of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from gwn.errors import GWNError
from gwn.training.config import TrainConfig

NodeLoss = Callable[[Tensor, Tensor], Tensor]
"""From outputs [n, c] and targets [n] to their mean loss."""


def plain_loss(outputs: Tensor, y: Tensor) -> Tensor:
    """The mean cross-entropy of classes, or the mean squared error of numbers."""
    return F.mse_loss(outputs.squeeze(1), y) if y.is_floating_point() else F.cross_entropy(outputs, y)


def losses_of_nodes(outputs: Tensor, y: Tensor) -> Tensor:
    """The loss of each node, [n]."""
    if y.is_floating_point():
        return F.mse_loss(outputs.squeeze(1), y.to(outputs.dtype), reduction="none")
    return F.cross_entropy(outputs, y, reduction="none")


def weighted_loss(outputs: Tensor, y: Tensor, weights: Tensor) -> Tensor:
    """`1/n sum_i w(y_i) l_i`; the weights are 1 in the mean over the training nodes."""
    return F.cross_entropy(outputs, y, weight=weights.to(outputs.dtype), reduction="sum") / y.numel()


def loss_for(weights: Tensor | None) -> NodeLoss:
    """The loss that training makes small, with `balanced_weights` or without."""
    return plain_loss if weights is None else partial(weighted_loss, weights=weights)


def balanced_weights(y: Tensor, classes: int, config: TrainConfig) -> Tensor | None:
    """`w_c = n / (C n_c)` of the training nodes' classes `y`, C being those that occur; None for equal weights."""
    if config.class_weights == "none":
        return None
    if y.is_floating_point():
        raise GWNError("class_weights needs classes; here are numbers to predict: leave it out")
    counts = torch.bincount(y.cpu(), minlength=classes).double()
    weights = torch.where(counts > 0, y.numel() / ((counts > 0).sum() * counts.clamp_min(1)), 0.0)
    return weights.to(y.device, torch.float32 if y.device.type == "mps" else torch.float64)


@dataclass(frozen=True)
class Scaling:
    """A network learns `(y - mean) / spread`, with mean and deviation of the training nodes.

    All of it is computed on the CPU, in float64: Apple's devices have none.
    """

    mean: float
    spread: float

    @classmethod
    def of(cls, y: Tensor, train: Tensor) -> Scaling | None:
        """Of the training nodes' numbers; None for classes."""
        if not y.is_floating_point():
            return None
        known = y[train.to(y.device)].cpu().double()
        spread = float(known.std(correction=0)) if known.min() < known.max() else 0.0  # rounding leaves 1e-17
        return cls(mean=float(known.mean()), spread=spread or 1.0)

    def apply(self, y: Tensor, dtype: torch.dtype) -> Tensor:
        """On the scale of the network."""
        return ((y.cpu().double() - self.mean) / self.spread).to(y.device, dtype)

    def restore(self, y: Tensor) -> Tensor:
        """Targets [n] on the scale of the network as numbers in the units of the table, in float64 on the CPU."""
        return y.cpu().double() * self.spread + self.mean

    def undo(self, outputs: Tensor) -> Tensor:
        """The network's outputs [n, 1] as numbers [n] in the units of the table."""
        return self.restore(outputs.squeeze(1))


AS_IT_IS = Scaling(mean=0.0, spread=1.0)
"""Of what has no units, as the score of a class."""
