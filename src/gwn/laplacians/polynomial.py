"""Laplacians with learned coefficients: any polynomial of S (the paper's "more complex and general" ones)."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from gwn.adjacency import Adjacency
from gwn.dimension import Dimension
from gwn.errors import GWNError
from gwn.laplacians.base import Gradients, Laplacian, Operator, Step
from gwn.sparse import addmm_, matmul


class Polynomial(Laplacian):
    """`L_a = sum_k theta_k S^k`, k = 0 ... degree; starts as the physical wave `S - I`, theta = (-1, 1, 0, ...)."""

    fixed = True
    symmetric = True
    search: ClassVar[tuple[Dimension, ...]] = (Dimension(setting="degree", values=(2, 3, 4)),)
    first_schemes: ClassVar[tuple[str, ...]] = ("leapfrog", "damped", "newmark", "heat")

    def __init__(self, channels: int, steps: int, sources: int | None = None, *, degree: int = 3) -> None:
        super().__init__(channels, steps, sources)
        if degree < 1:
            raise GWNError(f"degree must be at least 1; got {degree}")
        self.theta = nn.Parameter(torch.empty(degree + 1))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        with torch.no_grad():
            self.theta.zero_()
            self.theta[:2] = torch.tensor([-1.0, 1.0])

    def on(self, adjacency: Adjacency) -> PolynomialOperator:
        return PolynomialOperator(adjacency, self.theta)


class PolynomialOperator(Operator):
    """`sum_k theta_k S^k` with a gradient for theta; `degree` sparse products a step."""

    needs_states = True

    def __init__(self, adjacency: Adjacency, theta: Tensor) -> None:
        self.adjacency, self.theta = adjacency, theta

    @property
    def parameters(self) -> tuple[Tensor, ...]:
        return (self.theta,)

    @property
    def interval(self) -> tuple[float, float]:
        """`theta_0 ± sum_{k>0} |theta_k|`: the eigenvalues of S lie in [-1, 1]."""
        first, *others = self.theta.tolist()
        spread = sum(map(abs, others))
        return first - spread, first + spread

    def advance_(self, n: int, step: Step, x: Tensor, x_prev: Tensor, x0: Tensor) -> Tensor:
        force = x * self.theta[-1]  # Horner: theta_0 x + S (theta_1 x + S (...))
        for theta in reversed(self.theta[:-1]):
            force = matmul(self.adjacency.matrix, force).addcmul_(x, theta)
        return x_prev.mul_(step.x_prev).add_(x, alpha=step.x).add_(force, alpha=step.force)

    def pull_back_(
        self, n: int, step: Step, x: Tensor | None, grad_next: Tensor, grad: Tensor, beta: float, total: Gradients
    ) -> Tensor:
        assert x is not None
        matrix = self.adjacency.matrix if self.adjacency.symmetric else self.adjacency.matrix.t
        grad.mul_(beta).add_(grad_next, alpha=step.x)
        power = grad_next * step.force  # (S^T)^k force G
        for k in range(self.theta.shape[0]):
            if k > 0:
                power = addmm_(torch.zeros_like(power), matrix, power, beta=0.0)
            total.parameters[0][k] += torch.vdot(power.reshape(-1), x.reshape(-1))
            grad.addcmul_(power, self.theta[k])
        return grad
