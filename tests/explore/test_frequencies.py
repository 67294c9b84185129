"""The share of energy by graph frequency, against eigenvectors."""

from __future__ import annotations

import numpy as np
import torch

from graphs import cycle, normal
from gwn.adjacency import normalised_adjacency
from gwn.explore.signals import BINS, MOMENTS, bin_edges, chebyshev_moments, energy_by_frequency, jackson

ADJACENCY = normalised_adjacency(cycle(31), None, 31, dtype=torch.float64)
DENSE = ADJACENCY.matrix.csr.to_dense()


def test_moments_are_those_of_the_eigenvalues() -> None:
    x = normal(31, 3)
    values, vectors = torch.linalg.eigh(DENSE)
    weights = (vectors.t() @ x).square()
    angles = values.clamp(-1, 1).acos()
    expected = torch.stack([(torch.cos(k * angles)[:, None] * weights).sum(0) for k in range(MOMENTS)])
    np.testing.assert_allclose(chebyshev_moments(ADJACENCY.matrix, x), expected.numpy(), atol=1e-9)


def test_an_eigenvector_stands_at_its_frequency_and_shares_sum_to_one() -> None:
    values, vectors = torch.linalg.eigh(DENSE)
    shares = energy_by_frequency(ADJACENCY.matrix, vectors)
    np.testing.assert_allclose(shares.sum(1), 1.0, atol=1e-9)
    middles = (bin_edges()[1:] + bin_edges()[:-1]) / 2
    np.testing.assert_allclose(middles[shares.argmax(1)], 1 - values.numpy(), atol=2 * 2 / BINS)


def test_no_energy_is_no_spectrum() -> None:
    assert not energy_by_frequency(ADJACENCY.matrix, torch.zeros(31, 1, dtype=torch.float64)).any()


def test_jacksons_factors_fall_from_one_to_nearly_zero() -> None:
    factors = jackson()
    assert factors[0] == 1.0
    assert (np.diff(factors) < 0).all()
    assert 0 < factors[-1] < 1e-3
