"""The paper's scheme against exact solutions: Chebyshev polynomials, eigenmodes, energy, growth, reversal."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.special import eval_chebyt, eval_chebyu
from torch import Tensor

from dense import close
from graphs import AWKWARD_NODES, awkward, complete, cycle, normal, path
from gwn import GWNError
from gwn.adjacency import Adjacency, normalised_adjacency
from gwn.laplacians import Step
from gwn.laplacians.base import FixedOperator
from gwn.schemes import SCHEMES, Leapfrog, count_steps, integrate


def operator(edge_index: Tensor, nodes: int, shift: float = 0.0) -> tuple[FixedOperator, np.ndarray]:
    """`L_a = S + shift I`, as an operator and as a dense matrix."""
    adjacency: Adjacency = normalised_adjacency(edge_index, None, nodes, dtype=torch.float64)
    return FixedOperator(adjacency, shift=shift), adjacency.matrix.csr.to_dense().numpy() + shift * np.eye(nodes)


def run(L: FixedOperator, tau: float, steps: int, phi0: Tensor, phi1: Tensor) -> Tensor:
    return integrate(L, Leapfrog(tau), phi0, phi1, steps, trajectory=True)


def rho(tau: float) -> float:
    return 1 + tau**2 / 2 + tau * math.sqrt(1 + tau**2 / 4)


def test_the_numbers_of_the_steps() -> None:
    scheme = SCHEMES["leapfrog"](0.5)
    assert scheme.step(0) == Step(x=1.0, x_prev=0.5, force=0.125, source=0.0, first=True)
    assert scheme.step(1) == scheme.step(9) == Step(x=2.0, x_prev=-1.0, force=0.25, source=1.0, first=False)


@pytest.mark.parametrize(
    ("time", "tau", "steps"),
    [
        (4.0, 1.0, 4),
        (0.6000000000000001, 0.2, 3),
        (0.1 + 0.2, 0.1, 3),
        (0.3, 0.1, 3),
        (0.7, 0.1, 7),
        (1.2, 0.4, 3),
        (1.0, 1 / 3, 3),
        (2.1, 1.0, 3),
        (2.0001, 1.0, 3),
        (1.0, 1.0, 1),
        (0.5, 1.0, 1),
        (1e-12, 1.0, 1),
        (100 * 0.01, 0.01, 100),
        (100.0, 0.001, 100_000),
        (3, 1, 3),
    ],
)
def test_number_of_steps_is_the_ceiling(time: float, tau: float, steps: int) -> None:
    assert count_steps(time, tau) == steps


def test_every_decimal_multiple_of_tau_gives_that_many_steps() -> None:
    for tau in (0.1, 0.2, 0.3, 0.7, 1.1, 0.01):
        for n in range(1, 200):
            assert count_steps(n * tau, tau) == count_steps(float(f"{n * tau:.10g}"), tau) == n


@pytest.mark.parametrize("bad", [0, -1.0, float("nan"), float("inf"), "soon", None])
def test_tau_and_time_must_be_positive_numbers(bad: object) -> None:
    with pytest.raises(GWNError, match="tau must be a finite number greater than 0"):
        Leapfrog(bad)  # type: ignore[arg-type]
    with pytest.raises(GWNError, match="time must be a finite number greater than 0"):
        count_steps(bad, 1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("shift", [0.0, -1.0])
@pytest.mark.parametrize("tau", [0.2, 1.0, 2.0])
def test_the_recurrence_is_chebyshev(tau: float, shift: float) -> None:
    """X(n) = T_n(M) phi0 + tau U_{n-1}(M) phi1 with M = I + tau²/2 L_a (mathematics, section 1)."""
    L, dense_L = operator(awkward(), AWKWARD_NODES, shift)
    phi0, phi1 = normal(AWKWARD_NODES, 3), normal(AWKWARD_NODES, 3, seed=1)
    states = run(L, tau, 9, phi0, phi1)
    values, V = np.linalg.eigh(np.eye(AWKWARD_NODES) + tau**2 / 2 * dense_L)
    for n in range(10):
        T = V @ np.diag(eval_chebyt(n, values)) @ V.T
        U = V @ np.diag(eval_chebyu(n - 1, values)) @ V.T if n > 0 else np.zeros_like(T)
        close(states[n], T @ phi0.numpy() + tau * U @ phi1.numpy(), 1e-12)


@pytest.mark.parametrize("tau", [0.1, 0.5, 1.0, 1.4])
def test_an_eigenmode_of_the_physical_wave_is_a_cosine(tau: float) -> None:
    """With L_a = S - I, a mode of eigenvalue -lambda at rest follows cos(n arccos(1 - tau² lambda / 2))."""
    L, dense_L = operator(awkward(), AWKWARD_NODES, shift=-1.0)
    values, V = np.linalg.eigh(-dense_L)
    modes = torch.from_numpy(V.copy())  # every mode is one channel
    states = run(L, tau, 100, modes, torch.zeros_like(modes)).numpy()
    for n in (1, 2, 17, 100):
        amplitude = np.cos(n * np.arccos(np.clip(1 - tau**2 * values / 2, -1, 1)))
        close(states[n], V * amplitude, 1e-9)


def test_energy_of_the_physical_wave_is_conserved() -> None:
    """||X(n+1) - X(n)||²/tau² + <X(n+1), L_sym X(n)> (mathematics, section 3)."""
    nodes, tau = 30, 0.9
    L, dense_L = operator(torch.cat([cycle(nodes), complete(6)], dim=1), nodes, shift=-1.0)
    X = run(L, tau, 201, normal(nodes, 4), normal(nodes, 4, seed=1)).numpy()
    energy = [((X[n + 1] - X[n]) ** 2).sum() / tau**2 + (X[n + 1] * (-dense_L @ X[n])).sum() for n in range(200)]
    assert np.ptp(energy) / energy[0] < 1e-12
    unphysical, _ = operator(cycle(nodes), nodes)
    Y = run(unphysical, tau, 3, normal(nodes, 4), normal(nodes, 4, seed=1)).numpy()
    wrong = [((Y[n + 1] - Y[n]) ** 2).sum() / tau**2 + (Y[n + 1] * (-dense_L @ Y[n])).sum() for n in range(3)]
    assert np.ptp(wrong) / abs(wrong[0]) > 1e-2, "the check can fail"


@pytest.mark.parametrize(("tau", "growth"), [(0.2, 1.2210), (0.5, 1.6404), (1.0, 2.6180), (2.0, 5.8284), (5.0, 26.963)])
def test_the_papers_operator_grows_for_every_tau(tau: float, growth: float) -> None:
    """L_a = S has eigenvalue +1, so X grows by rho(tau) a step (mathematics, section 2, table)."""
    L, _ = operator(complete(5), 5)
    norms = run(L, tau, 80, normal(5, 2), normal(5, 2, seed=1)).flatten(1).norm(dim=1)
    measured = float(norms[80] / norms[79])
    assert measured == pytest.approx(rho(tau), rel=1e-9)
    assert measured == pytest.approx(growth, rel=5e-5)


def test_the_physical_operator_is_bounded_up_to_its_step_and_no_further() -> None:
    """On a path the spectrum of S - I reaches -2, so the bound is tau = sqrt(2) exactly."""
    L, _ = operator(path(6), 6, shift=-1.0)
    for tau in (0.3, 1.0, 1.4):
        phi0 = normal(6, 2)
        norms = run(L, tau, 2000, phi0, torch.zeros_like(phi0)).flatten(1).norm(dim=1)
        assert float(norms.max()) < 20 * float(norms[0])
    phi0 = normal(6, 2)
    norms = run(L, 2.0, 60, phi0, torch.zeros_like(phi0)).flatten(1).norm(dim=1)
    assert float(norms[60] / norms[59]) == pytest.approx(3 + math.sqrt(8), rel=1e-6)


def test_zero_modes_drift() -> None:
    L, _ = operator(cycle(5), 5, shift=-1.0)
    ones = torch.ones(5, 1, dtype=torch.float64)
    close(run(L, 0.5, 10, torch.zeros_like(ones), ones)[10], 5.0 * ones)
