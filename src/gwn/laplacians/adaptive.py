"""GWN-fa: attention in (-1, 1) on every edge, learned anew for every step."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from gwn.adjacency import Adjacency
from gwn.dimension import Dimension
from gwn.dropout import check_dropout
from gwn.laplacians.attention import AttentionOperator
from gwn.laplacians.base import Laplacian
from gwn.registry import require_known

ATTENTION_START = ("displacement", "velocity")
EPSILON = ("bounded", "free", "none")


class FrequencyAdaptive(Laplacian):
    """`L_a(n) = alpha(n) ⊙ S` with `alpha(n)_ij = tanh(g(n)^T [x_i || x_j])` from X(n), and a source `eps(n) X(0)`.

    The paper's step is `X(n+1) = eps(n) X(0) + (2I + tau² alpha(n) ⊙ S) X(n) - X(n-1)`, eps(n) in (0, 1), for n >= 1.

    attention_start    alpha(0) from the initial "displacement" X(0) (paper) or the "velocity" phi1 (reference code)
    attention_dropout  dropout on alpha (reference code; the paper has none)
    epsilon            "bounded" in (0, 1) (paper), "free" (any real, starts in (0, 1)) or "none" (reference code)
    """

    fixed = False
    symmetric = False
    attends = True
    reference: ClassVar[dict[str, Any]] = {
        "self_loops": "add",
        "directed": True,
        "attention_start": "velocity",
        "attention_dropout": "dropout",
        "epsilon": "none",
    }
    search: ClassVar[tuple[Dimension, ...]] = (Dimension(setting="epsilon", values=EPSILON),)

    def __init__(
        self,
        channels: int,
        steps: int,
        sources: int | None = None,
        *,
        attention_start: str = "displacement",
        attention_dropout: float = 0.0,
        epsilon: str = "bounded",
    ) -> None:
        super().__init__(channels, steps, sources)
        require_known("attention_start", attention_start, ATTENTION_START)
        require_known("epsilon", epsilon, EPSILON)
        check_dropout(attention_dropout=attention_dropout)
        self.attention_start = attention_start
        self.attention_dropout = attention_dropout
        self.epsilon_kind = epsilon
        self.g = nn.Parameter(torch.empty(steps, 2, channels))
        self.raw_epsilon = nn.Parameter(torch.empty(0 if epsilon == "none" else self.sources))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = self.channels**-0.5  # as one linear layer per side
        nn.init.uniform_(self.g, -bound, bound)
        with torch.no_grad():
            start = torch.rand_like(self.raw_epsilon).clamp(1e-3, 1 - 1e-3)
            self.raw_epsilon.copy_(torch.logit(start) if self.epsilon_kind == "bounded" else start)

    @property
    def epsilon(self) -> Tensor:
        """eps of the steps that have a source term; zero where it is switched off."""
        if self.epsilon_kind == "none":
            return self.g.new_zeros(self.sources)
        return torch.sigmoid(self.raw_epsilon) if self.epsilon_kind == "bounded" else self.raw_epsilon

    @property
    def interval(self) -> tuple[float, float]:
        """`|alpha_ij| < 1`, so the norm of `alpha ⊙ S` is at most that of `S`; its eigenvalues may be complex."""
        return -1.0, 1.0

    @property
    def indivisible(self) -> str:
        if self.attention_dropout == 0.0:
            return ""
        return (
            "dropout on alpha is drawn for all edges at once, which several processes cannot; use attention_dropout=0"
        )

    def on(self, adjacency: Adjacency) -> AttentionOperator:
        dropout = self.attention_dropout if self.training else 0.0
        epsilon = None if self.epsilon_kind == "none" else self.epsilon
        return AttentionOperator(adjacency, self.g, epsilon, from_first=self.attention_start, dropout=dropout)
