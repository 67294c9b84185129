"""Newmark's average acceleration: exact amplification, its own energy, any step, gradients by an adjoint solve."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from dense import close
from graphs import normal
from gwn import GWNError
from gwn.laplacians import FixedOperator, Step
from gwn.laplacians.polynomial import PolynomialOperator
from gwn.schemes import integrate
from gwn.schemes.newmark import Newmark, ResolventOperator
from gwn.stability import energy
from modes import NODES, adjacency, matrix, modes
from tolerance import rounding


@pytest.mark.parametrize("tau", [0.3, 1.0, 2.0, 5.0, 50.0])
def test_a_mode_has_its_exact_amplification(tau: float) -> None:
    """`cos(theta) = (1 - tau² lambda/4) / (1 + tau² lambda/4)`; at rest cos(n theta), from a push sin(n theta)/..."""
    operator, values, V = modes(adjacency())
    s = tau**2 / 4 * -values.clip(max=0.0)
    theta = np.arccos((1 - s) / (1 + s))
    still = integrate(operator, Newmark(tau), V, torch.zeros_like(V), 30, trajectory=True)
    pushed = integrate(operator, Newmark(tau), torch.zeros_like(V), V, 30, trajectory=True)
    for n in (1, 2, 7, 30):
        close(still[n], V.numpy() * np.cos(n * theta), 1e-8)
        with np.errstate(divide="ignore", invalid="ignore"):
            drift = np.where(np.sin(theta) > 1e-6, np.sin(n * theta) / np.sin(theta), n)
        close(pushed[n], V.numpy() * drift * tau / (1 + s), 1e-8)


@pytest.mark.parametrize("tau", [0.5, 2.0, 20.0])
def test_its_own_energy_is_conserved_for_any_step(tau: float) -> None:
    """`||V||² - <A, L_a A>` with V the difference quotient and A the mean of neighbouring states."""
    operator, _, _ = modes(adjacency())
    X = integrate(operator, Newmark(tau), normal(NODES, 3), normal(NODES, 3, seed=1), 100, trajectory=True)
    L = torch.from_numpy(matrix(adjacency()) - np.eye(NODES))
    E = []
    for n in range(100):
        V, A = (X[n + 1] - X[n]) / tau, (X[n + 1] + X[n]) / 2
        E.append(float(V.square().sum() - (A * (L @ A)).sum()))
    # Up to 100 roundings of a state whose zero mode drifts and has no part in E.
    assert np.ptp(E) / E[0] < rounding(100, growth=float(X.square().sum((1, 2)).max()) / E[0])
    other = [float(energy(operator, X[n], X[n + 1], tau)) for n in range(100)]
    assert np.ptp(other) / abs(other[0]) > 1e-3, "leapfrog's energy is another one"


def test_it_is_of_second_order() -> None:
    """Halving the step divides the error by four."""
    operator, values, V = modes(adjacency())
    exact = V.numpy() * np.cos(2.0 * np.sqrt(-values.clip(max=0.0)))
    errors = []
    for steps in (20, 40, 80):
        found = integrate(operator, Newmark(2.0 / steps), V, torch.zeros_like(V), steps)
        errors.append(float(np.abs(found.numpy() - exact).max()))
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.02)
    assert errors[1] / errors[2] == pytest.approx(4, rel=0.02)


class Counting(FixedOperator):
    """Counts sparse products."""

    products = 0

    def advance_(self, n: int, step: Step, x: Tensor, x_prev: Tensor, x0: Tensor) -> Tensor:
        self.products += 1
        return super().advance_(n, step, x, x_prev, x0)


def test_the_gradient_is_one_more_solve_a_step_not_an_unrolled_iteration() -> None:
    operator = Counting(adjacency(), shift=-1.0)
    phi0, phi1 = (normal(NODES, 2, seed=s).requires_grad_() for s in (1, 2))
    out = integrate(operator, Newmark(3.0), phi0, phi1, 10)
    forward, operator.products = operator.products, 0
    assert out.grad_fn.states.__class__.__name__ == "NoStates"  # type: ignore[union-attr]
    torch.autograd.grad(out, (phi0, phi1), normal(NODES, 2, seed=3))
    assert 0 < operator.products <= 1.2 * forward + 10


@pytest.mark.parametrize("tau", [0.5, 5.0, 100.0])
def test_the_solve_solves(tau: float) -> None:
    resolvent = ResolventOperator(FixedOperator(adjacency(), shift=-1.0), tau**2 / 4)
    right = normal(NODES, 4)
    right[:, 2] = 0.0  # a column without anything in it is solved too
    left = np.eye(NODES) - tau**2 / 4 * (matrix(adjacency()) - np.eye(NODES))
    solution = resolvent.solve(right)
    close(solution, np.linalg.solve(left, right.numpy()), 1e-10)
    assert not bool(solution[:, 2].any())
    assert float(np.abs(left @ solution.numpy() - right.numpy()).max()) < 1e-10


def test_few_iterations_do() -> None:
    """The spectrum of I - tau²/4 L_a lies in [1, 1 + tau²/2]: conjugate gradients need O(tau) of them."""
    for tau, most in ((0.5, 9), (1.0, 10), (5.0, 11)):  # never more than distinct eigenvalues, plus the last check
        operator = Counting(adjacency(torch.float32), shift=-1.0)
        ResolventOperator(operator, tau**2 / 4).solve(normal(NODES, 3, dtype=torch.float32))
        assert operator.products <= most


def test_an_indefinite_operator_is_refused_by_name() -> None:
    upwards = PolynomialOperator(adjacency(), torch.tensor([0.9, 0.1], dtype=torch.float64))  # 0.9 I + 0.1 S
    with pytest.raises(GWNError, match="not positive definite"):
        integrate(upwards, Newmark(4.0), normal(NODES, 2), normal(NODES, 2, seed=1), 2)


def test_what_is_not_a_number_stays_so() -> None:
    phi0 = normal(NODES, 2)
    phi0[0, 0] = float("nan")
    out = integrate(FixedOperator(adjacency(), shift=-1.0), Newmark(1.0), phi0, torch.zeros_like(phi0), 2)
    assert bool(out.isnan().any())


def test_growth_is_one_for_any_step() -> None:
    for tau in (0.1, 1.0, 10.0, 1e4):
        assert all(Newmark(tau).growth(mu) == 1.0 for mu in (-2.0, -1.0, -0.1))
        assert Newmark(tau, (-2.0, 0.0)).keeps_bounded()
