"""GWN-fa: attention in (-1, 1) on every edge, learned anew for every step."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from gwn.adjacency import Adjacency
from gwn.errors import GWNError
from gwn.laplacians.base import Gradients, Laplacian, Operator, Step
from gwn.registry import require_known
from gwn.sparse import SparseMatrix, addmm_, edge_dot, row_sums

ATTENTION_START = ("displacement", "velocity")
EPSILON = ("bounded", "free", "none")


class FrequencyAdaptive(Laplacian):
    """`L_a(n) = alpha(n) ⊙ S` with `alpha(n)_ij = tanh(g(n)^T [x_i || x_j])` from X(n), and a source `eps(n) X(0)`.

    The paper's step is `X(n+1) = eps(n) X(0) + (2I + tau² alpha(n) ⊙ S) X(n) - X(n-1)`, eps(n) in (0, 1), for n >= 1.

    attention_start    alpha(0) from the initial "displacement" X(0) (paper) or the "velocity" phi1 (reference code)
    attention_dropout  dropout on alpha (reference code; the paper has none)
    epsilon            "bounded" in (0, 1) (paper), "free" (any real, starts in (0, 1)) or "none" (reference code)
    """

    reference: ClassVar[dict[str, Any]] = {
        "self_loops": "add",
        "directed": True,
        "attention_start": "velocity",
        "attention_dropout": "dropout",
        "epsilon": "none",
    }

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
        if not 0.0 <= attention_dropout < 1.0:
            raise GWNError(f"attention_dropout must be in [0, 1); got {attention_dropout}")
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

    def on(self, adjacency: Adjacency) -> AdaptiveOperator:
        dropout = self.attention_dropout if self.training else 0.0
        epsilon = None if self.epsilon_kind == "none" else self.epsilon
        return AdaptiveOperator(adjacency, self.g, epsilon, self.attention_start == "velocity", dropout)


class AdaptiveOperator(Operator):
    """`alpha(n) ⊙ S` without one feature row per edge, forward or backward.

    The score is two matrix-vector products and one number per edge; the gradient of alpha is a sampled dense product.
    """

    needs_states = True

    def __init__(
        self,
        adjacency: Adjacency,
        g: Tensor,
        epsilon: Tensor | None = None,
        start_from_velocity: bool = False,
        dropout: float = 0.0,
    ) -> None:
        self.adjacency, self.g, self.epsilon = adjacency, g, epsilon
        self.start_from_velocity = start_from_velocity
        self.dropout = dropout
        # Steps are recomputed on the way back: each draws its mask from a seed of its own, so it draws the same again.
        self.seed = int(torch.randint(2**31, ())) if dropout > 0 else 0

    @property
    def parameters(self) -> tuple[Tensor, ...]:
        return (self.g,) if self.epsilon is None else (self.g, self.epsilon)

    def alpha(self, n: int, x: Tensor, dropout: bool = False) -> Tensor:
        """`tanh(g(n)^T [x_i || x_j])` for every entry (i, j) of the pattern."""
        pattern = self.adjacency.matrix.pattern
        score = x @ self.g[n].t().to(x.dtype)
        alpha = score[:, 0].index_select(0, pattern.row).add_(score[:, 1].index_select(0, pattern.col)).tanh_()
        return alpha.mul_(self._mask(n, alpha)) if dropout and self.dropout > 0 else alpha

    def _mask(self, n: int, like: Tensor) -> Tensor:
        generator = torch.Generator(like.device).manual_seed(self.seed + n)
        keep = 1.0 - self.dropout
        return torch.empty_like(like).bernoulli_(keep, generator=generator).div_(keep)

    def _matrix(self, step: Step, alpha: Tensor) -> SparseMatrix:
        """`step.x I + step.force alpha ⊙ S`."""
        a = self.adjacency
        return a.matrix.with_values(
            torch.addcmul(a.affine(step.x, 0.0).values, alpha, a.affine(0.0, step.force).values)
        )

    def attended(self, n: int, x: Tensor, velocity: Tensor) -> Tensor:
        """What alpha(n) is computed from."""
        return velocity if n == 0 and self.start_from_velocity else x

    def _epsilon_index(self, n: int) -> int:
        """The last steps have a source term, the first may not."""
        assert self.epsilon is not None
        return n - (self.g.shape[0] - self.epsilon.shape[0])

    def advance_(self, n: int, step: Step, x: Tensor, x_prev: Tensor, x0: Tensor) -> Tensor:
        alpha = self.alpha(n, self.attended(n, x, x_prev), dropout=True)
        addmm_(x_prev, self._matrix(step, alpha), x, beta=step.x_prev)
        if self.epsilon is not None and step.source != 0.0:
            x_prev.addcmul_(x0, self.epsilon[self._epsilon_index(n)], value=step.source)
        return x_prev

    def pull_back_(
        self, n: int, step: Step, x: Tensor | None, grad_next: Tensor, grad: Tensor, beta: float, total: Gradients
    ) -> Tensor:
        assert x is not None
        velocity = n == 0 and self.start_from_velocity
        attended = total.input("x_prev") if velocity else x
        tanh = self.alpha(n, attended)
        mask = self._mask(n, tanh) if self.dropout > 0 else None
        matrix = self._matrix(step, tanh if mask is None else tanh * mask)
        addmm_(grad, matrix.t, grad_next, beta=beta)

        score = edge_dot(matrix.pattern, grad_next, x).mul_(self.adjacency.affine(0.0, step.force).values)
        if mask is not None:
            score.mul_(mask)
        score.addcmul_(score * tanh, tanh, value=-1.0)  # tanh' = 1 - tanh²
        edges = matrix.with_values(score)
        sides = torch.stack([row_sums(edges), row_sums(edges.t)])  # [2, N]: as target, as source
        total.parameters[0][n] += sides @ attended
        (total.of("x_prev") if velocity else grad).addmm_(sides.t(), self.g[n].to(x.dtype))
        if self.epsilon is not None and step.source != 0.0:
            index, x0 = self._epsilon_index(n), total.input("x0")
            total.parameters[1][index] += step.source * torch.vdot(grad_next.reshape(-1), x0.reshape(-1))
            total.of("x0").addcmul_(grad_next, self.epsilon[index], value=step.source)
        return grad
