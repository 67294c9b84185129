"""Correct and smooth (Huang et al., Combining Label Propagation and Simple Models Out-performs Graph Neural Networks,
ICLR 2021): what a trained network says, corrected by its errors on the training nodes nearby, then smoothed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from gwn.adjacency import adjacency_of
from gwn.errors import GWNError
from gwn.sparse import SparseMatrix, addmm_
from gwn.training.metrics import METRICS, cross_fitted

STEPS = 30
SMALLEST = 1e-6
"""A probability below it is one of zero: its logarithm would say more than is known."""


class Strength(NamedTuple):
    """How far errors and labels spread, each in [0, 1); 0 leaves that part out."""

    correct: float
    smooth: float


OFF = Strength(0.0, 0.0)
GRID = tuple(Strength(correct, smooth) for correct in (0.0, 0.5, 0.9) for smooth in (0.0, 0.5, 0.9))


def correct_and_smooth(
    logits: Tensor, edge_index: Tensor, edge_weight: Tensor | None, nodes: Tensor, classes: Tensor, strength: Strength
) -> Tensor:
    """Logarithms of the corrected and smoothed probabilities, [N, c]; the known nodes keep the network's answer.

    Correct: the errors `E = Y - P` of the known nodes spread to `E' = (1 - a) sum_k a^k S^k E`, and every other node is
    moved by its E' scaled to the mean size of a known error. Smooth: the labels of the known nodes and the corrected
    answers of the others spread in the same way.

    nodes, classes   the known labels
    """
    s = adjacency_of(edge_index, edge_weight, logits.shape[0], dtype=logits.dtype, device=logits.device).matrix
    answered = logits.softmax(1)
    label = F.one_hot(classes, logits.shape[1]).to(logits.dtype)
    found = answered
    if strength.correct:
        error = label - answered[nodes]
        spread = _spread(s, torch.zeros_like(answered).index_copy_(0, nodes, error), strength.correct)
        size = error.abs().sum(1).mean() if nodes.numel() else 0.0
        found = answered + F.normalize(spread, p=1.0, dim=1) * size
    if strength.smooth:
        found = _spread(s, found.index_copy(0, nodes, label), strength.smooth)
    found = F.normalize(found.clamp_min(SMALLEST), p=1.0, dim=1).log()
    return found.index_copy(0, nodes, answered[nodes].clamp_min(SMALLEST).log())


def _spread(s: SparseMatrix, start: Tensor, a: float) -> Tensor:
    """`(1 - a) sum_k a^k S^k start` to `STEPS` terms."""
    found = start.clone()
    for _ in range(STEPS):
        found = addmm_(start.clone(), s, found, beta=1 - a, alpha=a)
    return found


def choose_strength(answers: Callable[[Strength], Tensor], y: Tensor, metric: str) -> tuple[Strength, float]:
    """The strength with the best score on validation nodes, and an honest score of choosing so.

    Choosing the best of several on the nodes that score it can only seem to gain, so the score is `cross_fitted`.

    answers   from a strength to the logits of the validation nodes
    y         their classes
    """
    tried = torch.stack([answers(strength) for strength in GRID])
    scores = [METRICS[metric](logits, y) for logits in tried]
    chosen = max(range(len(GRID)), key=lambda place: scores[place])  # of equal ones the first, which does less
    try:
        return GRID[chosen], cross_fitted(tried, y, metric)
    except GWNError:  # halves too small to be scored
        return OFF, scores[0]
