"""Leapfrog divided by its own growth: the same model up to a constant, finite at any depth."""

from __future__ import annotations

import pytest
import torch

from dense import close
from graphs import normal, toy_graph
from gwn import GWN, GWNError
from gwn.laplacians import FixedOperator
from gwn.laplacians.attention import AttentionOperator
from gwn.schemes import Leapfrog, integrate
from gwn.schemes.rescaled import LeapfrogRescaled
from modes import NODES, adjacency, modes
from seeds import reseed


def rho(tau: float) -> float:
    return 1 + tau**2 / 2 + tau * (1 + tau**2 / 4) ** 0.5


@pytest.mark.parametrize("tau", [0.2, 1.0, 3.0])
def test_it_is_leapfrog_over_rho_to_the_n(tau: float) -> None:
    phi0, phi1, operator = normal(NODES, 3), normal(NODES, 3, seed=1), FixedOperator(adjacency())
    scheme = LeapfrogRescaled(tau, (-1.0, 1.0))
    assert scheme.rho == pytest.approx(rho(tau), rel=1e-14)
    plain = integrate(operator, Leapfrog(tau), phi0, phi1, 30, trajectory=True)
    ours = integrate(operator, scheme, phi0, phi1, 30, trajectory=True)
    for n in range(31):
        close(ours[n], plain[n] / rho(tau) ** n, 1e-11)


def test_the_source_is_divided_too() -> None:
    """Without attention (g = 0) the source alone drives the states: Y(n) = X(n) / rho^n still."""
    g, eps = torch.zeros(12, 2, 3, dtype=torch.float64), normal(11, seed=3).sigmoid()
    phi0, phi1 = normal(NODES, 3), normal(NODES, 3, seed=1)
    operator = AttentionOperator(adjacency(), g, eps)
    plain = integrate(operator, Leapfrog(0.7), phi0, phi1, 12, trajectory=True)
    ours = integrate(operator, LeapfrogRescaled(0.7, (-1.0, 1.0)), phi0, phi1, 12, trajectory=True)
    for n in range(13):
        close(ours[n], plain[n] / rho(0.7) ** n, 1e-12)


def test_a_thousand_steps_are_finite_where_leapfrog_overflows() -> None:
    phi0, phi1 = (normal(NODES, 2, seed=s, dtype=torch.float32).requires_grad_() for s in (1, 2))
    operator = FixedOperator(adjacency(torch.float32))
    assert not bool(torch.isfinite(integrate(operator, Leapfrog(1.0), phi0, phi1, 1000)).all())
    assert bool(torch.isfinite(integrate(operator, Leapfrog(1.0), phi0, phi1, 80)).all()), "float32 lasts for 90 steps"
    out = integrate(operator, LeapfrogRescaled(1.0, (-1.0, 1.0)), phi0, phi1, 1000)
    gradients = torch.autograd.grad(out.square().sum(), (phi0, phi1))
    for tensor in (out, *gradients):
        assert bool(torch.isfinite(tensor).all())
        assert 1e-3 < float(tensor.detach().norm()) < 1e3, "neither overflows nor dies out"


@pytest.mark.parametrize("laplacian", ["sym", "fa"])
def test_a_network_of_a_thousand_steps_trains(laplacian: str) -> None:
    graph = toy_graph(20)
    reseed(0)
    model = GWN(8, 4, 2, laplacian=laplacian, scheme="leapfrog-rescaled", time=1000.0, tau=1.0, dropout=0.0)
    loss = torch.nn.functional.cross_entropy(model(graph.x, graph.edge_index), graph.labels)
    loss.backward()
    assert bool(torch.isfinite(loss))
    assert all(bool(torch.isfinite(p.grad).all()) for p in model.parameters() if p.grad is not None)


def test_what_does_not_grow_is_not_divided() -> None:
    operator, _, _ = modes(adjacency())
    phi0, phi1 = normal(NODES, 3), normal(NODES, 3, seed=1)
    assert LeapfrogRescaled(1.0, (-2.0, 0.0)).rho == 1.0
    close(
        integrate(operator, LeapfrogRescaled(1.0, (-2.0, 0.0)), phi0, phi1, 20),
        integrate(operator, Leapfrog(1.0), phi0, phi1, 20),
        1e-13,
    )


def test_growth_of_the_fastest_mode_is_one() -> None:
    scheme = LeapfrogRescaled(1.3, (-1.0, 1.0))
    assert scheme.growth(1.0) == pytest.approx(1.0, abs=1e-14)
    assert max(scheme.growth(mu / 50 - 1) for mu in range(101)) == pytest.approx(1.0, abs=1e-14)
    assert scheme.growth(0.0) < 1


def test_it_needs_to_know_the_spectrum() -> None:
    with pytest.raises(GWNError, match="spectrum is known"):
        LeapfrogRescaled(1.0)
