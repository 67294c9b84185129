"""The paper's propagation velocity `a`, learned: `L_a = a² L` on top of any Laplacian."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from gwn.adjacency import Adjacency
from gwn.laplacians.base import Gradients, Laplacian, Operator, Step
from gwn.sparse import SparseMatrix

SPEEDS = ("none", "scalar", "channel")
FREE_LIMIT = 4.0


class LearnedSpeed(Laplacian):
    """`a² L` with one speed for all channels ("scalar") or one for each ("channel"), starting at a = 1.

    What it says of itself is what `L` says, but that no scheme is exact for a speed that is learned.

    a² = limit * sigmoid(raw), where `limit` is the largest value up to 4 for which the scheme stays bounded, so that
    training cannot leave the stable range by it; for a Laplacian that is not bounded anyway, it is 4. Of a mass that is
    learned as well it knows the first value only.
    """

    def __init__(self, inner: Laplacian, kind: str, limit: float = FREE_LIMIT) -> None:
        super().__init__(inner.channels, inner.steps, inner.sources)
        self.inner = inner
        self.fixed, self.symmetric, self.attends = inner.fixed, inner.symmetric, inner.attends
        self.limit = limit
        self.raw = nn.Parameter(torch.empty(1 if kind == "scalar" else inner.channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        self.inner.reset_parameters()
        share = min(1.0 / self.limit, 0.99)
        nn.init.constant_(self.raw, math.log(share / (1.0 - share)))

    @property
    def squared(self) -> Tensor:
        """a², [1] or [d]."""
        return self.limit * torch.sigmoid(self.raw)

    @property
    def interval(self) -> tuple[float, float] | None:
        inner = self.inner.interval
        return None if inner is None else (self.limit * inner[0], self.limit * inner[1])

    @property
    def indivisible(self) -> str:
        return self.inner.indivisible

    @property
    def epsilon(self) -> Tensor | None:
        return self.inner.epsilon

    def on(self, adjacency: Adjacency) -> SpeedOperator:
        return SpeedOperator(self.inner.on(adjacency), self.squared)

    def fastest_on(self, adjacency: Adjacency) -> SpeedOperator:
        return SpeedOperator(self.inner.fastest_on(adjacency), self.squared.max().reshape(1))

    def similar_on(self, adjacency: Adjacency) -> SpeedOperator:
        """Of the fastest channel, the first to leave the stable range."""
        return SpeedOperator(self.inner.similar_on(adjacency), self.squared.max().reshape(1))


class SpeedOperator(Operator):
    """`a² F` for the force F of another operator."""

    needs_states = True

    def __init__(self, inner: Operator, squared: Tensor) -> None:
        self.inner, self.squared = inner, squared
        self.reversible = inner.reversible

    @property
    def parameters(self) -> tuple[Tensor, ...]:
        return (*self.inner.parameters, self.squared)

    @property
    def interval(self) -> tuple[float, float] | None:
        inner = self.inner.interval
        if inner is None:  # then the limit of the speed holds
            return None
        ends = [float(a) * mu for a in (self.squared.min(), self.squared.max()) for mu in inner]
        return min(ends), max(ends)

    def attention(self, n: int, step: Step, x: Tensor, velocity: Tensor, x0: Tensor) -> Tensor:
        return self.inner.attention(n, step, x, velocity, x0)

    def frozen(self, n: int, step: Step, x: Tensor, velocity: Tensor, x0: Tensor) -> SparseMatrix:
        """Of the fastest channel, the first to leave the stable range."""
        matrix = self.inner.frozen(n, step, x, velocity, x0)
        return matrix.with_values(matrix.values * self.squared.max())

    def _force(self, n: int, step: Step, x: Tensor, velocity: Tensor, x0: Tensor) -> Tensor:
        """F(n, x), which may look at the velocity in the first step."""
        return self.inner.advance_(n, Step(0.0, 0.0, 1.0, first=step.first), x, velocity.clone(), x0)

    def advance_(self, n: int, step: Step, x: Tensor, x_prev: Tensor, x0: Tensor) -> Tensor:
        force = self._force(n, step, x, x_prev, x0)
        x_prev.mul_(step.x_prev).add_(x, alpha=step.x).addcmul_(force, self.squared, value=step.force)
        return self.inner.add_source_(n, step, x_prev, x0)

    def pull_back_(
        self, n: int, step: Step, x: Tensor | None, grad_next: Tensor, grad: Tensor, beta: float, total: Gradients
    ) -> Tensor:
        assert x is not None
        force = self._force(n, step, x, total.input("x_prev"), total.input("x0"))
        gradient = (force.mul_(grad_next)).sum(0) * step.force
        total.parameters[-1] += gradient if self.squared.shape[0] > 1 else gradient.sum()
        pulled = torch.zeros_like(grad)
        scaled = grad_next * (step.force * self.squared)
        self.inner.pull_back_(n, Step(0.0, 0.0, 1.0, first=step.first), x, scaled, pulled, 0.0, total)
        self.inner.pull_back_source(n, step, grad_next, total)
        return grad.mul_(beta).add_(grad_next, alpha=step.x).add_(pulled)
