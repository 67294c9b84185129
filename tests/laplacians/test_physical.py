"""u_tt = -L_sym u: the spectrum, the zero mode and its drift."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from torch import Tensor

from dense import close
from graphs import edge_lists, normal
from gwn.adjacency import normalised_adjacency
from gwn.laplacians import LAPLACIANS, Physical
from gwn.schemes import Leapfrog, integrate
from gwn.stability import apply, energy
from modes import NODES, adjacency, matrix
from tolerance import rounding


def test_it_is_s_minus_the_identity_and_learns_nothing() -> None:
    laplacian = LAPLACIANS["physical"](channels=3, steps=5)
    assert isinstance(laplacian, Physical)
    assert list(laplacian.parameters()) == []
    assert (laplacian.fixed, laplacian.symmetric, laplacian.interval) == (True, True, (-2.0, 0.0))
    operator = laplacian.on(adjacency())
    assert not operator.needs_states
    x = normal(NODES, 3)
    close(apply(operator, x), (matrix(adjacency()) - np.eye(NODES)) @ x.numpy(), 1e-14)


@given(edge_lists())
def test_the_spectrum_lies_in_its_interval_on_every_graph(graph: tuple[int, Tensor]) -> None:
    nodes, edge_index = graph
    operator = Physical(1, 1).on(normalised_adjacency(edge_index, None, nodes, dtype=torch.float64))
    values = np.linalg.eigvalsh(apply(operator, torch.eye(nodes, dtype=torch.float64)).numpy())
    assert values.min() >= -2 - 1e-12
    assert values.max() <= 1e-12


def test_zero_modes_are_root_degree_and_drift_like_t_phi1() -> None:
    """`D^1/2 1` on every component is at rest under L_sym: pushed, it moves on for ever."""
    a, tau = adjacency(), 0.5
    zero = a.degree.sqrt()[:, None] * torch.tensor([[1.0, 0.0]] * 4 + [[0.0, 1.0]] * 5, dtype=torch.float64)
    operator = Physical(2, 1).on(a)
    close(apply(operator, zero), torch.zeros_like(zero), 1e-14)
    X = integrate(operator, Leapfrog(tau), torch.zeros_like(zero), zero, 100, trajectory=True)
    for n in (1, 10, 100):
        close(X[n], n * tau * zero, 1e-11)


def test_without_the_zero_mode_in_phi1_nothing_drifts() -> None:
    a = adjacency()
    operator, phi1 = Physical(2, 1).on(a), normal(NODES, 2)
    zero = a.degree.sqrt()[:, None] * torch.tensor([[1.0, 0.0]] * 4 + [[0.0, 1.0]] * 5, dtype=torch.float64)
    projected = phi1 - zero @ torch.linalg.solve(zero.T @ zero, zero.T @ phi1)
    still = torch.zeros_like(phi1)
    drifting = integrate(operator, Leapfrog(0.5), still, phi1, 2000, trajectory=True)
    bounded = integrate(operator, Leapfrog(0.5), still, projected, 2000, trajectory=True)
    assert float(drifting[-1].norm()) > 100
    assert float(bounded.flatten(1).norm(dim=1).max()) < 10


@pytest.mark.parametrize("tau", [0.1, 0.9, 1.4])
def test_energy_is_conserved(tau: float) -> None:
    """mathematics.md, section 3, by `gwn.stability.energy`."""
    operator = Physical(3, 1).on(adjacency())
    X = integrate(operator, Leapfrog(tau), normal(NODES, 3), normal(NODES, 3, seed=1), 201, trajectory=True)
    E = torch.stack([energy(operator, X[n], X[n + 1], tau) for n in range(200)])
    # `E` has no part of the zero mode, which drifts: `<X, L_a X>` cancels from |X|², and each step's rounding of X, at
    # most eps |X|, changes `|V|² = |dX / tau|²` by up to 2 |V| / tau times that.
    size, speed = float(X.flatten(1).norm(dim=1).max()), float(X.diff(dim=0).flatten(1).norm(dim=1).max() / tau)
    growth = (size**2 + 200 * size * 2 * speed / tau) / float(E[0])
    assert float((E.max() - E.min()) / E[0]) < rounding(growth=growth)
