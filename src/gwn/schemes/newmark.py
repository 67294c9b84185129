"""Newmark's implicit scheme: stable for every step length, at the price of a linear solve."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from gwn.errors import Diverged, GWNError
from gwn.laplacians import Gradients, Laplacian, Operator, Step
from gwn.schemes.base import Interval, Scheme

TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-13}
MAX_ITERATIONS = 1000


class Newmark(Scheme):
    """Average acceleration (beta = 1/4), with `R = (I - tau²/4 L_a)^-1`:

        X(1) = R [(I + tau²/4 L_a) X(0) + tau phi1] = -X(0) + R (2 X(0) + tau phi1)
        X(n+1) = 2 R (I + tau²/4 L_a) X(n) - X(n-1) = -2 X(n) + 4 R X(n) - X(n-1)

    Second order and energy-conserving like leapfrog, bounded for any tau as long as the spectrum of `L_a` is not
    positive. R is symmetric, so the gradient through the solve is one more solve, not an unrolled iteration.
    """

    time_symmetric: ClassVar[bool] = True
    buffers: ClassVar[int] = 6
    needs_fixed: ClassVar[bool] = True
    needs_symmetric: ClassVar[bool] = True
    indivisible: ClassVar[str] = (
        "scheme 'newmark' solves for all rows at once, which several processes cannot; use scheme 'bessel', which is "
        "stable for any step too"
    )

    def step(self, n: int) -> Step:
        if n == 0:
            return Step(x=-1.0, x_prev=self.tau, force=2.0, first=True)
        return Step(x=-2.0, x_prev=-1.0, force=4.0)

    def prepare(self, operator: Operator) -> Operator:
        return ResolventOperator(operator, self.tau**2 / 4)

    def symbol(self, mu: float) -> float:
        return 1 / (1 - self.tau**2 / 4 * mu)

    def check(
        self,
        name: str,
        laplacian: str,
        operator: Laplacian,
        *,
        directed: bool = False,
        allow_unstable: bool | None = None,
    ) -> None:
        super().check(name, laplacian, operator, directed=directed, allow_unstable=allow_unstable)
        if self.interval is not None and self.interval[1] > 0:
            raise GWNError(
                f"scheme 'newmark' solves with I - tau²/4 L_a, which {laplacian!r} makes indefinite (eigenvalues up to "
                f"{self.interval[1]:g}); use laplacian 'physical' or 'klein-gordon', or scheme 'leapfrog'"
            )


class ResolventOperator(Operator):
    """`R = (I - scale L)^-1` for a symmetric L, by conjugate gradients on all columns at once."""

    def __init__(self, inner: Operator, scale: float) -> None:
        self.inner, self.scale = inner, scale
        self.needs_states = inner.needs_states

    @property
    def parameters(self) -> tuple[Tensor, ...]:
        return self.inner.parameters

    @property
    def interval(self) -> Interval | None:
        """Of L, not of R: what the bound of the scheme is about."""
        return self.inner.interval

    def solve(self, right: Tensor) -> Tensor:
        """`(I - scale L) Y = right`, each column to a relative residual near rounding."""
        system = Step(x=1.0, x_prev=0.0, force=-self.scale)
        solution = right.clone()
        residual = right - self.inner.advance_(0, system, solution, torch.zeros_like(right), right)
        direction = residual.clone()
        square = residual.square().sum(0)
        enough = (TOLERANCE.get(right.dtype, 1e-6) ** 2) * right.square().sum(0)
        buffer = torch.empty_like(right)
        for _ in range(MAX_ITERATIONS):
            active = square > enough
            if not bool(active.any()):
                return solution
            image = self.inner.advance_(0, system, direction, buffer.zero_(), right)
            curvature = (direction * image).sum(0)
            length = torch.where(active & (curvature > 0), square / curvature, torch.zeros_like(square))
            solution.addcmul_(direction, length)
            residual.addcmul_(image, length, value=-1.0)
            new_square = residual.square().sum(0)
            direction.mul_(torch.where(active, new_square / square, torch.zeros_like(square))).add_(residual)
            square = new_square
        if not bool(torch.isfinite(right).all()):
            return solution.fill_(torch.nan)  # the training loop names the cause
        raise Diverged(
            f"the implicit step did not converge in {MAX_ITERATIONS} iterations: I - tau²/4 L_a is not positive "
            f"definite; use a Laplacian without positive eigenvalues, or a smaller tau"
        )

    def advance_(self, n: int, step: Step, x: Tensor, x_prev: Tensor, x0: Tensor) -> Tensor:
        if step.first:  # the velocity goes through the solve too
            solved = self.solve(torch.add(x * step.force, x_prev, alpha=step.x_prev))
            return x_prev.copy_(solved).add_(x, alpha=step.x)
        solved = self.solve(x)
        return x_prev.mul_(step.x_prev).add_(x, alpha=step.x).add_(solved, alpha=step.force)

    def pull_back_(
        self, n: int, step: Step, x: Tensor | None, grad_next: Tensor, grad: Tensor, beta: float, total: Gradients
    ) -> Tensor:
        solved = self.solve(grad_next)
        grad.mul_(beta).add_(grad_next, alpha=step.x).add_(solved, alpha=step.force)
        if step.first:  # the loop gives the velocity `x_prev G`; it is `x_prev R G`
            total.of("x_prev").add_(solved - grad_next, alpha=step.x_prev)
        if self.parameters:  # dR = R (scale dL) R
            assert x is not None
            right = x * step.force
            if step.first:
                right.add_(total.input("x_prev"), alpha=step.x_prev)
            inside = Step(x=0.0, x_prev=0.0, force=self.scale)
            self.inner.pull_back_(n, inside, self.solve(right), solved, torch.zeros_like(grad), 0.0, total)
        return grad
