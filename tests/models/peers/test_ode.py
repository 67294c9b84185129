"""The linear equations of CGNN and GRAND: as a polynomial in the operator they are what the solver computes."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from gwn.models.peers.ode import FIXED, solve, solve_linear
from seeds import generator
from tolerance import rounding

N, CHANNELS = 9, 3


def problem() -> tuple[Tensor, Tensor, list[Tensor]]:
    """A matrix of which every column sums to one, a start, and the three rates, all learned."""
    random = generator(0)
    matrix = torch.rand(N, N, generator=random, dtype=torch.float64)
    start = torch.randn(N, CHANNELS, generator=random, dtype=torch.float64)
    rates = [torch.tensor(rate, dtype=torch.float64, requires_grad=True) for rate in (0.6, -0.7, -0.3)]
    return (matrix / matrix.sum(0)).requires_grad_(), start.requires_grad_(), rates


@pytest.mark.parametrize("learns_source", [True, False])
@pytest.mark.parametrize("step_size", [0.4, 1.0, 2.5])
@pytest.mark.parametrize("method", [*FIXED, "dopri5"])
def test_polynomial_is_what_the_solver_computes(method: str, step_size: float, learns_source: bool) -> None:
    """Value and every gradient; steps whose polynomial would cancel (b h below -1) are left to the solver."""
    matrix, start, (a, b, c) = problem()
    products = 0

    def product(x: Tensor) -> Tensor:
        nonlocal products
        products += 1
        return matrix @ x

    solver = (7.3, method, step_size, 1e-9)
    found = solve_linear(product, start, (a, b, c), *solver, learns_source=learns_source)
    used, products = products, 0
    source = start if learns_source else start.detach()
    expected = solve(lambda _, x: a * product(x) + b * x + c * source, start, *solver)
    learned = (start, a, b, c, *([matrix] if learns_source else []))
    bound = rounding(products, growth=10.0) if method in FIXED else 1e-6
    for one, other in zip(
        (found, *torch.autograd.grad(found.sin().sum(), learned)),
        (expected, *torch.autograd.grad(expected.sin().sum(), learned)),
        strict=True,
    ):
        assert torch.allclose(one, other, rtol=bound, atol=bound)
    by_polynomial = method in FIXED and step_size <= 1.0
    assert used <= products if by_polynomial else used == products


def test_single_precision_needs_a_third_of_the_products() -> None:
    """GRAND's time on Cora: rk4 asks 76 times."""
    matrix, start, (_, _, c) = problem()
    half, products = torch.tensor(0.5), 0

    def product(x: Tensor) -> Tensor:
        nonlocal products
        products += 1
        return matrix.float() @ x

    solve_linear(product, start.float(), (half, -half, c.float()), 18.29, "rk4", 1.0, 1e-4)
    assert products <= 76 / 2.4
