"""A wave with a mass: the zero mode swings with frequency m instead of drifting."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from dense import close
from graphs import normal
from gwn import GWN, GWNError
from gwn.laplacians import FixedOperator, KleinGordon
from gwn.laplacians.polynomial import PolynomialOperator
from gwn.schemes import Leapfrog, integrate
from gwn.stability import apply, energy
from modes import NODES, adjacency, matrix


@pytest.mark.parametrize("learn_mass", [False, True])
def test_it_is_s_minus_one_plus_mass_squared(learn_mass: bool) -> None:
    laplacian = KleinGordon(3, 5, mass=0.7, learn_mass=learn_mass).double()
    operator = laplacian.on(adjacency())
    assert isinstance(operator, PolynomialOperator if learn_mass else FixedOperator)
    x = normal(NODES, 3)
    close(apply(operator, x).detach(), (matrix(adjacency()) - 1.49 * np.eye(NODES)) @ x.numpy(), 1e-7)
    assert laplacian.interval == pytest.approx((-2.49, -0.49), rel=1e-6)


def test_without_a_mass_it_is_the_physical_wave() -> None:
    operator = KleinGordon(3, 5, mass=0.0).on(adjacency())
    assert isinstance(operator, FixedOperator)
    assert (operator.shift, operator.scale) == (-1.0, 1.0)


@pytest.mark.parametrize("mass", [0.05, 0.3, 1.0])
def test_the_mass_removes_the_drift(mass: float) -> None:
    """The zero mode swings: `tau sin(n theta) / sin(theta)` with `cos(theta) = 1 - tau² m² / 2`, at most about 1/m."""
    a, tau = adjacency(), 0.5
    push = a.degree.sqrt()[:, None]
    X = integrate(
        KleinGordon(1, 1, mass=mass).on(a), Leapfrog(tau), torch.zeros_like(push), push, 1000, trajectory=True
    )
    theta = math.acos(1 - tau**2 * mass**2 / 2)
    for n in (1, 10, 1000):
        close(X[n], tau * math.sin(n * theta) / math.sin(theta) * push, 1e-9)
    assert float((X / push).abs().max()) <= 1.05 / mass


def test_energy_is_conserved() -> None:
    operator = KleinGordon(2, 1, mass=0.6).on(adjacency())
    X = integrate(operator, Leapfrog(0.9), normal(NODES, 2), normal(NODES, 2, seed=1), 101, trajectory=True)
    E = torch.stack([energy(operator, X[n], X[n + 1], 0.9) for n in range(100)])
    assert float((E.max() - E.min()) / E[0]) < 1e-12


def test_a_learned_mass_is_one_parameter_that_starts_where_it_is_told() -> None:
    laplacian = KleinGordon(3, 5, mass=0.7, learn_mass=True)
    assert [p.numel() for p in laplacian.parameters()] == [1]
    assert list(KleinGordon(3, 5, mass=0.7).parameters()) == []
    with torch.no_grad():
        laplacian.mass.fill_(2.0)
    assert laplacian.interval == pytest.approx((-6.0, -4.0))
    laplacian.reset_parameters()
    assert float(laplacian.mass.detach()) == pytest.approx(0.7)


def test_a_negative_mass_is_refused() -> None:
    with pytest.raises(GWNError, match="mass must not be negative; got -1"):
        GWN(3, 2, 2, laplacian="klein-gordon", mass=-1)


def test_the_mass_lowers_the_bound_on_the_step() -> None:
    GWN(3, 2, 2, laplacian="klein-gordon", mass=1.0, tau=2 / math.sqrt(3))
    with pytest.raises(GWNError, match=r"stability bound 1\.155"):
        GWN(3, 2, 2, laplacian="klein-gordon", mass=1.0, tau=1.2)
