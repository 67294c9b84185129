"""A wave with friction: every mode decays as its own two roots say, and the energy balance is exact."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dense import close
from graphs import normal
from gwn import GWNError
from gwn.schemes import Leapfrog, integrate
from gwn.schemes.damped import Damped
from gwn.stability import energy
from modes import NODES, adjacency, modes


@pytest.mark.parametrize("tau", [0.3, 1.0, 1.4])
@pytest.mark.parametrize("damping", [0.05, 0.5, 1.4])
def test_a_mode_follows_its_characteristic_roots(tau: float, damping: float) -> None:
    """`(1 + h) r² - (2 + tau² mu) r + (1 - h) = 0`, h = gamma tau / 2; a mode is a sum of r1^n and r2^n."""
    operator, values, V = modes(adjacency())
    h, velocity = damping * tau / 2, 0.7
    states = integrate(operator, Damped(tau, damping=damping), V, velocity * V, 40, trajectory=True)
    for place, mu in enumerate(values):
        roots = np.roots([1 + h, -(2 + tau**2 * mu), 1 - h]).astype(complex)
        first = 1 + tau * (1 - h) * velocity + tau**2 / 2 * mu
        a, b = np.linalg.solve(np.array([[1, 1], roots]), np.array([1, first], dtype=complex))
        for n in (1, 2, 13, 40):
            expected = (a * roots[0] ** n + b * roots[1] ** n).real
            close(states[n, :, place], expected * V[:, place].numpy(), 1e-9)


def test_swinging_modes_all_decay_alike() -> None:
    """The roots multiply to (1 - h) / (1 + h): a swinging pair has its square root as absolute value."""
    scheme = Damped(0.8, damping=0.3)
    h = 0.3 * 0.8 / 2
    for mu in (-0.5, -1.0, -2.0):
        assert scheme.growth(mu) == pytest.approx(((1 - h) / (1 + h)) ** 0.5, rel=1e-14)
    assert scheme.growth(0.0) == pytest.approx(1.0, abs=1e-14), "a zero mode comes to rest, it does not decay"


def test_energy_is_lost_to_friction_and_to_nothing_else() -> None:
    """`E(n) - E(n-1) = -gamma / (2 tau) ||X(n+1) - X(n-1)||²`, exactly."""
    operator, _, _ = modes(adjacency())
    tau, damping = 0.9, 0.4
    X = integrate(
        operator, Damped(tau, damping=damping), normal(NODES, 2), normal(NODES, 2, seed=1), 60, trajectory=True
    )
    E = [float(energy(operator, X[n], X[n + 1], tau)) for n in range(60)]
    for n in range(1, 60):
        lost = damping / (2 * tau) * float((X[n + 1] - X[n - 1]).square().sum())
        assert E[n] - E[n - 1] == pytest.approx(-lost, rel=1e-9, abs=1e-13)
    assert E[-1] < 0.1 * E[0]


def test_without_friction_it_is_leapfrog() -> None:
    operator, _, _ = modes(adjacency())
    phi0, phi1 = normal(NODES, 2), normal(NODES, 2, seed=1)
    close(
        integrate(operator, Damped(0.7, damping=0.0), phi0, phi1, 25),
        integrate(operator, Leapfrog(0.7), phi0, phi1, 25),
        1e-14,
    )


def test_the_bound_on_the_step_is_that_of_leapfrog() -> None:
    scheme = Damped(2**0.5, (-2.0, 0.0), damping=0.2)
    assert scheme.keeps_bounded()
    assert scheme.growth(-2.0) <= 1 + 1e-12
    assert Damped(1.5, (-2.0, 0.0), damping=0.2).growth(-2.0) > 1.1
    assert not Damped(1.5, (-2.0, 0.0), damping=0.2).keeps_bounded()


@pytest.mark.parametrize("damping", [-0.1, 2.1, float("nan")])
def test_damping_has_a_range(damping: float) -> None:
    with pytest.raises(GWNError, match=r"damping must be between 0 and 2 / tau = 2; got"):
        Damped(1.0, damping=damping)
    Damped(1.0, damping=2.0)


def test_it_is_not_undone_by_the_same_step() -> None:
    assert not Damped(0.5).time_symmetric
    operator, _, _ = modes(adjacency())
    X = integrate(operator, Damped(0.5, damping=0.5), normal(NODES, 1), normal(NODES, 1, seed=1), 10, trajectory=True)
    back = operator.advance_(1, Damped(0.5, damping=0.5).step(1), X[9], X[10].clone(), X[0])
    assert float((back - X[8]).norm() / X[8].norm()) > 1e-2
    assert not torch.equal(back, X[8])
