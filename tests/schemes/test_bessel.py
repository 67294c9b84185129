"""The Chebyshev-Bessel series against cos(t sqrt(L)) and sin(t sqrt(L)) / sqrt(L), and the bound that cuts it."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from dense import close
from graphs import cycle, normal, random_edges
from gwn import GWNError
from gwn.adjacency import Adjacency, normalised_adjacency
from gwn.laplacians import FixedOperator, KleinGordon, RandomWalk
from gwn.schemes import Leapfrog, integrate
from gwn.schemes.bessel import TOLERANCE, Bessel, SeriesOperator, bessel_coefficients, series_terms
from modes import NODES, Matrix, adjacency, matrix, modes
from tolerance import MARGIN

TIMES = [0.3, 1.0, 5.0, 20.0]


def exact(a: Adjacency, t: float) -> tuple[Matrix, Matrix]:
    """cos(t sqrt(L)) and sin(t sqrt(L)) / sqrt(L), L = I - S, by eigendecomposition."""
    values, V = np.linalg.eigh(np.eye(a.num_nodes) - matrix(a))
    root = np.sqrt(values.clip(min=0.0))
    sine = np.where(root > 1e-7, np.sin(t * root) / np.maximum(root, 1e-7), t)
    return V @ np.diag(np.cos(t * root)) @ V.T, V @ np.diag(sine) @ V.T


def series(a: Adjacency, t: float, tolerance: float) -> tuple[Matrix, Matrix]:
    """The two propagators as the scheme has them, read off unit vectors."""
    operator, scheme = SeriesOperator(a, *bessel_coefficients(t, tolerance)), Bessel(t)
    unit, zero = torch.eye(a.num_nodes, dtype=torch.float64), torch.zeros(a.num_nodes, a.num_nodes).double()
    cosine = operator.advance_(0, scheme.step(0), unit, zero.clone(), unit)
    sine = operator.advance_(0, scheme.step(0), zero, unit.clone(), unit)
    return cosine.numpy(), sine.numpy()


@pytest.mark.parametrize("t", TIMES)
@pytest.mark.parametrize("graph", ["modes", "random", "cycle"])
def test_one_step_is_the_exact_solution(graph: str, t: float) -> None:
    made = {
        "modes": adjacency(),
        "random": normalised_adjacency(random_edges(40, 100), None, 40, dtype=torch.float64),
        "cycle": normalised_adjacency(cycle(12), None, 12, dtype=torch.float64),
    }
    a = made[graph]
    phi0, phi1 = normal(a.num_nodes, 3), normal(a.num_nodes, 3, seed=1)
    C, Q = exact(a, t)
    found = integrate(FixedOperator(a, shift=-1.0), Bessel(t), phi0, phi1, 1)
    close(found, C @ phi0.numpy() + Q @ phi1.numpy(), 1e-10)


@pytest.mark.parametrize("t", TIMES)
@pytest.mark.parametrize("steps", [2, 7])
def test_several_steps_are_the_exact_solution(t: float, steps: int) -> None:
    phi0, phi1 = normal(NODES, 3), normal(NODES, 3, seed=1)
    states = integrate(FixedOperator(adjacency(), shift=-1.0), Bessel(t), phi0, phi1, steps, trajectory=True)
    for n in range(1, steps + 1):
        C, Q = exact(adjacency(), n * t)
        close(states[n], C @ phi0.numpy() + Q @ phi1.numpy(), 1e-10)


def test_time_may_be_cut_into_steps_of_any_length() -> None:
    phi0, phi1, operator = normal(NODES, 3), normal(NODES, 3, seed=1), FixedOperator(adjacency(), shift=-1.0)
    whole = integrate(operator, Bessel(12.0), phi0, phi1, 1)
    for steps in (2, 5, 40):
        close(integrate(operator, Bessel(12.0 / steps), phi0, phi1, steps), whole, 1e-9)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-6, 1e-12])
@pytest.mark.parametrize("t", [0.05, *TIMES, 60.0])
def test_the_bound_bounds_the_error(t: float, tolerance: float) -> None:
    """`series_terms` promises an error of at most `tolerance` for C, and of t times that for Q."""
    C, Q = exact(adjacency(), t)
    cosine, sine = series(adjacency(), t, tolerance)
    rounding = 1e-13 * max(1.0, t)
    assert np.linalg.norm(cosine - C, 2) <= tolerance + rounding
    assert np.linalg.norm(sine - Q, 2) <= t * (tolerance + rounding)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-6, 1e-12])
@pytest.mark.parametrize("t", [0.05, *TIMES, 60.0])
def test_the_number_of_terms_is_the_smallest_the_bound_allows(t: float, tolerance: float) -> None:
    """The tail `2 sum_{k>K} (z/2)^2k / (2k)!`, z = sqrt(2) t, summed in full here."""
    K, half = series_terms(t, tolerance), t / math.sqrt(2)

    def tail(K: int) -> float:
        return 2 * sum(math.exp(2 * k * math.log(half) - math.lgamma(2 * k + 1)) for k in range(K + 1, K + 200))

    assert tail(K) <= tolerance
    assert K == 0 or tail(K - 1) > 0.5 * tolerance  # the geometric bound is within a factor of two of the sum


def test_too_few_terms_show() -> None:
    """The check above can fail: half the terms are far from enough."""
    a, t = adjacency(), 20.0
    K = series_terms(t)
    cosine, sine = bessel_coefficients(t)
    operator = SeriesOperator(a, cosine[: K // 2], sine[: K // 2])
    unit = torch.eye(NODES, dtype=torch.float64)
    found = operator.advance_(0, Bessel(t).step(0), unit, torch.zeros_like(unit), unit).numpy()
    assert np.linalg.norm(found - exact(a, t)[0], 2) > 1e-3


def test_a_long_time_needs_about_as_many_terms() -> None:
    for t in (100.0, 1000.0, 10000.0):
        assert t / math.sqrt(2) < series_terms(t) < t + 20


def test_the_mathematics_note_in_numbers() -> None:
    """mathematics.md, section 3: at t = 10 leapfrog with 100 products is off by about 5e-3, the series is exact."""
    operator, values, V = modes(adjacency())
    truth = V.numpy() * np.cos(10 * np.sqrt(-values.clip(max=0.0)))
    zero = torch.zeros_like(V)
    series_error = np.abs(integrate(operator, Bessel(10.0), V, zero, 1).numpy() - truth).max()
    leapfrog_error = np.abs(integrate(operator, Leapfrog(0.1), V, zero, 100).numpy() - truth).max()
    assert series_error < MARGIN * TOLERANCE
    assert 1e-4 < leapfrog_error < 1e-2
    assert series_terms(10.0) < 20


def test_a_step_without_end_is_refused() -> None:
    with pytest.raises(GWNError, match=r"tau=1e\+300 takes more than 100,000 products in a step"):
        series_terms(1e300)


@pytest.mark.parametrize("tau", [0.5, 5.0, 30.0])
def test_its_invariant_is_conserved(tau: float) -> None:
    """`||X(n+1)||² - 2 <X(n+1), C X(n)> + ||X(n)||²`: the energy of `X(n+1) = 2 C X(n) - X(n-1)`."""
    X = integrate(
        FixedOperator(adjacency(), shift=-1.0),
        Bessel(tau),
        normal(NODES, 2),
        normal(NODES, 2, seed=1),
        80,
        trajectory=True,
    ).numpy()
    C, _ = exact(adjacency(), tau)
    E = [(X[n + 1] ** 2).sum() - 2 * (X[n + 1] * (C @ X[n])).sum() + (X[n] ** 2).sum() for n in range(80)]
    # Every step is exact to TOLERANCE, relative to a state whose zero mode drifts and has no part in E.
    assert np.ptp(E) / E[0] < MARGIN * TOLERANCE * (X**2).sum((1, 2)).max() / E[0]


def test_a_random_walk_is_solved_exactly_too() -> None:
    """P = D^-1/2 S D^1/2, so cos(t sqrt(I - P)) = D^-1/2 cos(t sqrt(L)) D^1/2."""
    a, t = adjacency(), 7.0
    phi0, phi1 = normal(NODES, 2), normal(NODES, 2, seed=1)
    root = np.diag(a.degree.sqrt().numpy())
    C, Q = exact(a, t)
    expected = np.linalg.inv(root) @ (C @ root @ phi0.numpy() + Q @ root @ phi1.numpy())
    close(integrate(RandomWalk(2, 1).on(a), Bessel(t), phi0, phi1, 1), expected, 1e-10)


def test_growth_is_one_for_any_step() -> None:
    for tau in (0.1, 1.0, 10.0, 1e4):
        assert all(Bessel(tau).growth(mu) <= 1 + 1e-12 for mu in (-2.0, -1.0, -0.1))


def test_another_operator_is_refused() -> None:
    for operator in (FixedOperator(adjacency()), KleinGordon(2, 1, mass=0.3).on(adjacency())):
        with pytest.raises(GWNError, match="exact solution for L_a = S - I"):
            integrate(operator, Bessel(1.0), normal(NODES, 1), normal(NODES, 1), 1)
