"""Attention that stays bounded: the same alpha in both directions of an edge, and the physical sign."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gwn.adjacency import Adjacency
from gwn.laplacians.attention import AttentionOperator
from gwn.laplacians.base import Laplacian
from gwn.registry import require_known

ATTENTION = ("first", "every")


class SymmetricAdaptive(Laplacian):
    """`L_a = alpha ⊙ S - I` with `alpha_ij = tanh(g^T x_i + g^T x_j) = alpha_ji`.

    `alpha ⊙ S` is symmetric and dominated entry by entry by `S`, so its norm is at most 1 and the spectrum of `L_a`
    lies in [-2, 0] whatever is learned: growth 1 up to tau = sqrt(2).

    attention   "first": alpha from X(0), the same in every step, so that the bound holds for the whole run;
                "every": alpha(n) from X(n) with a g(n) of its own. Every single step is then bounded, but an operator
                that changes in time can still feed energy into the wave.
    """

    fixed = False
    symmetric = True
    attends = True

    def __init__(self, channels: int, steps: int, sources: int | None = None, *, attention: str = "first") -> None:
        super().__init__(channels, steps, sources)
        require_known("attention", attention, ATTENTION)
        self.attention = attention
        self.g = nn.Parameter(torch.empty(1 if attention == "first" else steps, channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = self.channels**-0.5
        nn.init.uniform_(self.g, -bound, bound)

    @property
    def interval(self) -> tuple[float, float]:
        return -2.0, 0.0

    def on(self, adjacency: Adjacency) -> AttentionOperator:
        both_sides: Tensor = torch.stack([self.g, self.g], dim=1)
        from_first = "only" if self.attention == "first" else "displacement"
        return AttentionOperator(adjacency, both_sides, shift=-1.0, from_first=from_first)
