"""Forward Euler for the heat equation: what the paper compares with."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dense import close
from graphs import normal
from gwn.laplacians import FixedOperator
from gwn.laplacians.attention import AttentionOperator
from gwn.schemes import integrate
from gwn.schemes.heat import Heat
from gwn.stability import energy
from modes import NODES, adjacency, modes


@pytest.mark.parametrize("shift", [0.0, -1.0])
@pytest.mark.parametrize("tau", [0.1, 0.5, 1.0, 2.0])
def test_a_mode_is_a_power(tau: float, shift: float) -> None:
    """`(1 + tau mu)^n`."""
    operator, values, V = modes(adjacency(), shift)
    states = integrate(operator, Heat(tau), V, normal(NODES, NODES), 20, trajectory=True)
    for n in (1, 2, 20):
        close(states[n], V.numpy() * (1 + tau * values) ** n, 1e-10)
    for mu in values:
        assert Heat(tau).growth(float(mu)) == pytest.approx(abs(1 + tau * mu), abs=1e-13)


def test_the_velocity_plays_no_part() -> None:
    phi0, phi1 = normal(NODES, 2).requires_grad_(), normal(NODES, 2, seed=1).requires_grad_()
    operator = FixedOperator(adjacency(), shift=-1.0)
    out = integrate(operator, Heat(0.5), phi0, phi1, 4)
    assert torch.equal(out, integrate(operator, Heat(0.5), phi0, phi1 * 7 - 1, 4))
    gradient = torch.autograd.grad(out.square().sum(), (phi0, phi1))
    assert bool(gradient[0].any())
    assert not bool(gradient[1].any())


def test_it_smooths_and_conserves_no_energy() -> None:
    operator, values, V = modes(adjacency())
    X = integrate(operator, Heat(0.5), normal(NODES, 2), normal(NODES, 2), 60, trajectory=True)
    assert float(energy(operator, X[59], X[60], 0.5)) < 1e-2 * float(energy(operator, X[0], X[1], 0.5))
    rest = V[:, np.abs(values) < 1e-9]  # what is left is the part without energy
    assert rest.shape[1] == 2  # one for each component
    close(X[60], rest @ rest.T @ X[0], 1e-2)


def test_bounded_up_to_tau_one_and_no_further() -> None:
    assert Heat(1.0, (-2.0, 0.0)).keeps_bounded()
    assert not Heat(1.01, (-2.0, 0.0)).keeps_bounded()
    operator, _, V = modes(adjacency())  # the path of four nodes reaches -2
    assert float(integrate(operator, Heat(1.0), V, V, 500).norm()) < 4
    assert float(integrate(operator, Heat(1.1), V, V, 500).norm()) > 1e6


def test_the_source_enters_from_step_one_on() -> None:
    g, eps = torch.zeros(3, 2, 2, dtype=torch.float64), torch.tensor([0.5, 0.25], dtype=torch.float64)
    phi0 = normal(NODES, 2)
    X = integrate(AttentionOperator(adjacency(), g, eps), Heat(0.5), phi0, phi0, 3, trajectory=True)
    close(X[1], phi0, 1e-14)
    close(X[2], 1.5 * phi0, 1e-14)
    close(X[3], 1.75 * phi0, 1e-14)
