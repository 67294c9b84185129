"""Symmetric attention with the physical sign: bounded whatever is learned; and what breaks the bound."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from dense import close
from graphs import AWKWARD_NODES, awkward, complete, edge_lists, normal, path, random_edges
from gwn import GWN, GWNError
from gwn.adjacency import Adjacency, normalised_adjacency
from gwn.laplacians import SymmetricAdaptive
from gwn.laplacians.attention import AttentionOperator
from gwn.schemes import Leapfrog, integrate
from gwn.stability import FrozenOperator, energy
from modes import Matrix, companion, matrix, spectral_radius
from seeds import reseed

N = AWKWARD_NODES


def made(edge_index: Tensor, nodes: int) -> Adjacency:
    return normalised_adjacency(edge_index, None, nodes, dtype=torch.float64)


def entries(a: Adjacency, values: Tensor) -> Matrix:
    """Values on the pattern of S as a dense matrix."""
    dense: Matrix = a.matrix.with_values(values.detach()).csr.to_dense().numpy()
    return dense


def weighted(a: Adjacency, operator: AttentionOperator, x: Tensor, n: int = 0) -> Matrix:
    """`alpha ⊙ S`."""
    return entries(a, operator.alpha(n, x) * a.matrix.values)


def test_alpha_is_tanh_of_a_sum_over_both_ends() -> None:
    a, x = made(awkward(), N), normal(N, 3)
    laplacian = SymmetricAdaptive(3, 4).double()
    score = x.numpy() @ laplacian.g[0].detach().numpy()
    expected = np.tanh(score[:, None] + score[None, :])
    places = entries(a, a.is_edge.double()) != 0
    close(entries(a, laplacian.on(a).alpha(2, x))[places], expected[places], 1e-14)


@given(edge_lists(), st.integers(0, 1000), st.floats(0.0, 100.0))
def test_alpha_is_symmetric_and_the_norm_at_most_one(graph: tuple[int, Tensor], seed: int, scale: float) -> None:
    """`|alpha ⊙ S| <= S` entry by entry, so the norm is at most that of S, which is 1."""
    nodes, edge_index = graph
    a, laplacian = made(edge_index, nodes), SymmetricAdaptive(3, 2, attention="every").double()
    with torch.no_grad():
        laplacian.g.copy_(scale * normal(2, 3, seed=seed))
    W = weighted(a, laplacian.on(a), normal(nodes, 3, seed=seed + 1), n=1)
    close(W, W.T, 1e-15)
    assert np.linalg.norm(W, 2) <= 1 + 1e-12
    values = np.linalg.eigvalsh(W - np.eye(nodes))
    assert values.min() >= -2 - 1e-12
    assert values.max() <= 1e-12


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("tau", [0.3, 1.0, math.sqrt(2)])
def test_growth_is_exactly_one_up_to_the_bound(seed: int, tau: float) -> None:
    """With attention="first" the operator stays the same, so that the spectrum decides."""
    a, laplacian = made(random_edges(15, 30, seed), 15), SymmetricAdaptive(3, 2).double()
    with torch.no_grad():
        laplacian.g.copy_(2 * normal(1, 3, seed=seed))
    x = normal(15, 3, seed=seed)
    L = weighted(a, laplacian.on(a), x) - np.eye(15)
    assert spectral_radius(companion(L, tau)) == pytest.approx(1.0, abs=1e-7)
    X = integrate(laplacian.on(a), Leapfrog(tau * 0.999), x, torch.zeros_like(x), 2000, trajectory=True).detach()
    assert float(X.flatten(1).norm(dim=1).max()) < 50 * float(x.norm())
    assert float(X[-1].norm()) > 1e-3, "and it does not die out"


def test_above_the_bound_it_grows() -> None:
    a = made(path(6), 6)  # bipartite: with alpha = 1 the spectrum reaches -2
    laplacian = SymmetricAdaptive(1, 2).double()
    with torch.no_grad():
        laplacian.g.fill_(100.0)
    L = weighted(a, laplacian.on(a), torch.ones(6, 1, dtype=torch.float64)) - np.eye(6)
    assert spectral_radius(companion(L, 1.41)) == pytest.approx(1.0, abs=1e-7)
    assert spectral_radius(companion(L, 1.5)) > 1.2


def test_energy_is_conserved_with_the_attention_of_the_first_state() -> None:
    a, laplacian = made(awkward(), N), SymmetricAdaptive(2, 60).double()
    phi0 = normal(N, 2)
    X = integrate(laplacian.on(a), Leapfrog(0.9), phi0, normal(N, 2, seed=1), 60, trajectory=True).detach()
    W = weighted(a, laplacian.on(a), phi0)
    frozen = FrozenOperator([a.matrix.with_values(_on_pattern(a, W - np.eye(N)))])
    E = torch.stack([energy(frozen, X[n], X[n + 1], 0.9) for n in range(60)])
    assert float((E.max() - E.min()) / E[0]) < 1e-12


@pytest.mark.parametrize("tau", [0.5, 1.0])
def test_asymmetric_alpha_grows_even_with_the_physical_sign(tau: float) -> None:
    """The counterexample: |alpha| < 1 and a shift of -1 are not enough; complex eigenvalues leave the circle."""
    a, x = made(random_edges(20, 60), 20), normal(20, 3)
    g = 2 * normal(1, 2, 3, seed=5)
    W = weighted(a, AttentionOperator(a, g, shift=-1.0), x)
    assert np.abs(W).max() < 1
    assert np.abs(W - W.T).max() > 0.1
    L = W - np.eye(20)
    assert np.linalg.eigvals(L).real.max() < 0, "not for want of a restoring force"
    growth = spectral_radius(companion(L, tau))
    assert growth > 1.05
    symmetric = g.mean(1, keepdim=True).expand(1, 2, 3).contiguous()
    bounded = weighted(a, AttentionOperator(a, symmetric, shift=-1.0), x) - np.eye(20)
    assert spectral_radius(companion(bounded, tau)) == pytest.approx(1.0, abs=1e-7)


def test_an_operator_that_changes_in_time_may_feed_the_wave() -> None:
    """Why attention="every" promises less: on one edge, alpha = -1, 0.99, 0.99, -1, ... grows 1.5-fold a step.

    Each of these operators alone is bounded (tau = 1 is below sqrt(2)).
    """
    a, steps = made(path(2), 2), 90
    S = matrix(a)
    matrices = []
    for n in range(steps):
        alpha = -1.0 if n % 3 == 0 else 0.99
        L = alpha * S - np.eye(2)
        assert spectral_radius(companion(L, 1.0)) == pytest.approx(1.0, abs=1e-7)
        matrices.append(a.matrix.with_values(_on_pattern(a, L)))
    X = integrate(FrozenOperator(matrices), Leapfrog(1.0), normal(2, 1), normal(2, 1, seed=1), steps, trajectory=True)
    assert float(X[90].norm() / X[60].norm()) ** (1 / 30) == pytest.approx(1.548, abs=1e-3)


def test_dropout_on_alpha_breaks_the_bound() -> None:
    """Kept entries are divided by 1 - p, so the norm may reach 1 / (1 - p)."""
    a = made(complete(6), 6)
    g, x = torch.full((1, 2, 1), 50.0, dtype=torch.float64), torch.ones(6, 1, dtype=torch.float64)
    norms = []
    for seed in range(30):
        operator = AttentionOperator(a, g, dropout=0.5)
        operator.seed = seed
        weights = operator._weights(0, Leapfrog(1.0).step(1), a.matrix.values)
        norms.append(np.linalg.norm(entries(a, weights * operator.alpha(0, x)), 2))
    assert max(norms) > 1.05
    assert max(norms) <= 2 + 1e-3


def _on_pattern(a: Adjacency, L: Matrix) -> Tensor:
    pattern = a.matrix.pattern
    return torch.from_numpy(L[pattern.row.numpy(), pattern.col.numpy()].copy())


@pytest.mark.parametrize(("attention", "rows"), [("first", 1), ("every", 7)])
def test_parameters(attention: str, rows: int) -> None:
    laplacian = SymmetricAdaptive(5, 7, attention=attention)
    assert [tuple(p.shape) for p in laplacian.parameters()] == [(rows, 5)]
    assert float(laplacian.g.detach().abs().max()) <= 5**-0.5
    assert laplacian.interval == (-2.0, 0.0)
    assert laplacian.symmetric
    assert not laplacian.fixed
    before = laplacian.g.detach().clone()
    laplacian.reset_parameters()
    assert not torch.equal(before, laplacian.g)


def test_the_attention_that_is_shown_is_the_one_used() -> None:
    reseed(0)
    x = normal(N, 5)
    for attention in ("first", "every"):
        model = GWN(5, 4, 3, laplacian="fa-symmetric", attention=attention, time=3.0, tau=1.0).double()
        edge_index, alpha = model.attention(x, awkward())
        X, g = model.trajectory(x, awkward()).numpy(), model.laplacian.g.detach().numpy()
        for n in range(3):
            seen, weights = (X[0], g[0]) if attention == "first" else (X[n], g[n])
            for column, (j, i) in enumerate(edge_index.t().tolist()):
                assert alpha[n, column].item() == pytest.approx(np.tanh(weights @ (seen[i] + seen[j])))


def test_mistakes_are_named() -> None:
    with pytest.raises(GWNError, match="did you mean 'first'"):
        SymmetricAdaptive(3, 2, attention="frist")
