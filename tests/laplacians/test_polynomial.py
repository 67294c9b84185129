"""Any polynomial of S, with coefficients that are learned."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from dense import close
from graphs import AWKWARD_NODES, awkward, normal
from gwn import GWN, GWNError
from gwn.adjacency import normalised_adjacency
from gwn.laplacians import Physical, Polynomial
from gwn.laplacians.polynomial import PolynomialOperator
from gwn.schemes import Leapfrog, integrate
from gwn.stability import apply
from modes import NODES, adjacency, matrix


def test_it_starts_as_the_physical_wave() -> None:
    laplacian, x = Polynomial(3, 5, degree=4).double(), normal(NODES, 3)
    assert laplacian.theta.tolist() == [-1.0, 1.0, 0.0, 0.0, 0.0]
    close(apply(laplacian.on(adjacency()), x).detach(), apply(Physical(3, 5).on(adjacency()), x), 1e-14)
    with torch.no_grad():
        laplacian.theta.fill_(3.0)
    laplacian.reset_parameters()
    assert laplacian.theta.tolist() == [-1.0, 1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("degree", [1, 2, 5])
@pytest.mark.parametrize("directed", [False, True])
def test_it_is_the_polynomial(degree: int, directed: bool) -> None:
    a = normalised_adjacency(awkward(), None, AWKWARD_NODES, dtype=torch.float64, directed=directed)
    theta, S, x = normal(degree + 1, seed=4), matrix(a), normal(AWKWARD_NODES, 2)
    expected = sum(float(t) * np.linalg.matrix_power(S, k) for k, t in enumerate(theta)) @ x.numpy()
    close(apply(PolynomialOperator(a, theta), x), expected, 1e-13)


@pytest.mark.parametrize("directed", [False, True])
def test_every_entry_of_its_gradients(directed: bool) -> None:
    a = normalised_adjacency(awkward(), None, AWKWARD_NODES, dtype=torch.float64, directed=directed)
    inputs = [normal(AWKWARD_NODES, 1, seed=s).requires_grad_() for s in (1, 2)]
    theta = (0.3 * normal(4, seed=3)).requires_grad_()
    assert gradcheck(
        lambda x, v, theta: integrate(PolynomialOperator(a, theta), Leapfrog(0.5), x, v, 3), (*inputs, theta)
    )


def test_a_polynomial_has_a_degree() -> None:
    with pytest.raises(GWNError, match="degree must be at least 1; got 0"):
        GWN(3, 2, 2, laplacian="polynomial", degree=0)
    assert [p.numel() for p in Polynomial(3, 5, degree=2).parameters()] == [3]


def test_nothing_is_claimed_about_its_spectrum() -> None:
    """The coefficients may go anywhere, so no step is promised to be stable and none is refused."""
    assert Polynomial(3, 5).interval is None
    GWN(3, 2, 2, laplacian="polynomial", tau=10.0)
