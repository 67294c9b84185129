"""The exact wave: no error in time, explicit, and stable for any step, by a Chebyshev-Bessel series."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import torch
from scipy.special import jv
from torch import Tensor

from gwn.adjacency import Adjacency
from gwn.errors import GWNError
from gwn.laplacians import Gradients, Operator, Step
from gwn.schemes.base import MOST_STEPS, Scheme
from gwn.sparse import SparseMatrix, addmm_

ROOT2 = math.sqrt(2.0)
TOLERANCE = 1e-12


class Bessel(Scheme):
    """`u_tt = -L u`, `L = I - S`, solved exactly: with `C = cos(tau sqrt(L))` and `Q = sin(tau sqrt(L)) / sqrt(L)`,

        X(1) = C X(0) + Q phi1,      X(n+1) = 2 C X(n) - X(n-1).

    From `lambda = 1 - cos(theta) = 2 sin²(theta/2)` follows a series in Chebyshev polynomials of S,

        C = J_0(z) + 2 sum_{k>=1} J_2k(z) T_k(S),      z = sqrt(2) tau,

    and Q is the same series with each J_2k(sqrt(2) s) integrated over s in [0, tau]. `|J_m(z)| <= (z/2)^m / m!` bounds
    what is left out, and picks the number of terms: about tau / sqrt(2) plus a few.
    """

    time_symmetric: ClassVar[bool] = True
    buffers: ClassVar[int] = 3
    needs_fixed: ClassVar[bool] = True
    exact: ClassVar[str] = "L_a = S - I"

    def step(self, n: int) -> Step:
        return Step(x=0.0, x_prev=1.0, force=1.0, first=True) if n == 0 else Step(x=0.0, x_prev=-1.0, force=2.0)

    def prepare(self, operator: Operator) -> Operator:
        adjacency = operator.minus_identity
        if adjacency is None:
            raise GWNError(f"scheme 'bessel' is the exact solution for {self.exact}; use laplacian 'physical'")
        return SeriesOperator(adjacency, *bessel_coefficients(self.tau))

    def symbol(self, mu: float) -> float:
        return math.cos(self.tau * math.sqrt(-mu)) if mu <= 0 else math.cosh(self.tau * math.sqrt(mu))


def series_terms(tau: float, tolerance: float = TOLERANCE) -> int:
    """The smallest K with `2 sum_{k>K} (z/2)^2k / (2k)! <= tolerance`, a bound on the error of C (and of Q / tau)."""
    half = ROOT2 * tau / 2  # there are more terms than this
    if half > MOST_STEPS:
        raise GWNError(
            f"scheme 'bessel' with tau={tau:g} takes more than {MOST_STEPS:,} products in a step, the most that are "
            f"taken; use a smaller tau"
        )
    terms = 0
    while True:
        k = terms + 1
        first = math.log(2) + 2 * k * math.log(half) - math.lgamma(2 * k + 1)  # its logarithm: a long time overflows
        ratio = half * half / ((2 * k + 1) * (2 * k + 2))  # later terms shrink at least this fast
        if ratio < 1 and first - math.log1p(-ratio) <= math.log(tolerance):
            return terms
        terms += 1


def bessel_coefficients(tau: float, tolerance: float = TOLERANCE) -> tuple[list[float], list[float]]:
    """The Chebyshev coefficients of C and of Q, k = 0 ... K."""
    z, terms = ROOT2 * tau, series_terms(tau, tolerance)
    orders = np.arange(0, 2 * (terms + 1) + 2 * (series_terms(tau, 1e-17) + 8))
    values = jv(orders, z)
    cosine = [float(values[2 * k]) for k in range(terms + 1)]
    # The integral of J_m from 0 to z is 2 (J_{m+1} + J_{m+3} + ...).
    sine = [float(ROOT2 * values[2 * k + 1 :: 2].sum()) for k in range(terms + 1)]
    double = [1.0] + [2.0] * terms
    return [a * b for a, b in zip(cosine, double, strict=True)], [a * b for a, b in zip(sine, double, strict=True)]


class SeriesOperator(Operator):
    """`C = sum_k c_k T_k(S)`; the first step adds `Q = sum_k q_k T_k(S)` applied to the velocity, in the same pass."""

    needs_states = False

    def __init__(self, adjacency: Adjacency, cosine: list[float], sine: list[float]) -> None:
        self.adjacency, self.cosine, self.sine = adjacency, cosine, sine

    def _clenshaw(self, terms: list[tuple[Tensor, list[float]]], matrix: SparseMatrix) -> Tensor:
        """`sum_k T_k(S) (a_k x + b_k y + ...)` by Clenshaw's recurrence `B(k) = ... + 2 S B(k+1) - B(k+2)`."""
        shape = terms[0][0]
        later, latest = torch.zeros_like(shape), torch.zeros_like(shape)  # B(k+2), B(k+1)
        for k in reversed(range(len(self.cosine))):
            later = addmm_(later, matrix, latest, beta=-1.0, alpha=2.0 if k > 0 else 1.0)
            for x, weights in terms:
                later.add_(x, alpha=weights[k])
            later, latest = latest, later
        return latest

    def advance_(self, n: int, step: Step, x: Tensor, x_prev: Tensor, x0: Tensor) -> Tensor:
        matrix = self.adjacency.matrix
        if step.first:
            return x_prev.copy_(self._clenshaw([(x, self.cosine), (x_prev, self.sine)], matrix))
        return x_prev.mul_(step.x_prev).add_(self._clenshaw([(x, self.cosine)], matrix), alpha=step.force)

    def pull_back_(
        self, n: int, step: Step, x: Tensor | None, grad_next: Tensor, grad: Tensor, beta: float, total: Gradients
    ) -> Tensor:
        matrix = self.adjacency.matrix if self.adjacency.symmetric else self.adjacency.matrix.t
        grad.mul_(beta).add_(self._clenshaw([(grad_next, self.cosine)], matrix), alpha=step.force)
        if step.first:  # the loop gives the velocity `x_prev G`; it is `x_prev Q G`
            pulled = self._clenshaw([(grad_next, self.sine)], matrix)
            total.of("x_prev").add_(pulled.sub_(grad_next), alpha=step.x_prev)
        return grad
