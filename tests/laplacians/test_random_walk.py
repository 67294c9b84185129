"""D^-1 A - I: averages of neighbours, the spectrum of the physical wave, an adjoint of its own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from torch import Tensor
from torch.autograd import gradcheck

import dense
import unrolled
from dense import close
from graphs import AWKWARD_NODES, awkward, edge_lists, normal
from gwn.adjacency import normalised_adjacency
from gwn.laplacians import RandomWalk
from gwn.schemes import Leapfrog, integrate
from gwn.stability import apply
from modes import NODES, adjacency
from tolerance import rounding


def test_a_node_sees_the_mean_of_its_neighbours() -> None:
    a = normalised_adjacency(awkward(), None, AWKWARD_NODES, dtype=torch.float64)
    x, A = normal(AWKWARD_NODES, 3), dense.adjacency(awkward(), AWKWARD_NODES)
    found = apply(RandomWalk(3, 1).on(a), x) + x
    for i in range(AWKWARD_NODES):
        neighbours = np.flatnonzero(A[i])
        close(found[i], x.numpy()[neighbours].mean(0) if len(neighbours) else np.zeros(3), 1e-13)


def test_weights_are_averaged_with() -> None:
    weight = torch.tensor([2.0, 6.0], dtype=torch.float64)
    a = normalised_adjacency(torch.tensor([[0, 1], [1, 2]]), weight, 3, dtype=torch.float64)
    x = torch.tensor([[1.0], [5.0], [9.0]], dtype=torch.float64)
    close(apply(RandomWalk(1, 1).on(a), x) + x, [[5.0], [0.25 * 1 + 0.75 * 9], [5.0]], 1e-14)


def test_constants_stay_constant() -> None:
    ones = torch.ones(NODES, 1, dtype=torch.float64)
    X = integrate(RandomWalk(1, 1).on(adjacency()), Leapfrog(0.7), ones, torch.zeros_like(ones), 50)
    close(X, ones, rounding(50**2))


@given(edge_lists())
def test_the_spectrum_is_that_of_the_physical_wave(graph: tuple[int, Tensor]) -> None:
    nodes, edge_index = graph
    a = normalised_adjacency(edge_index, None, nodes, dtype=torch.float64)
    unit = torch.eye(nodes, dtype=torch.float64)
    laplacian = RandomWalk(1, 1)
    walk = np.linalg.eigvals(apply(laplacian.on(a), unit).numpy())
    symmetric = apply(laplacian.similar_on(a), unit).numpy()
    close(symmetric, symmetric.T, 1e-14)
    assert np.abs(walk.imag).max() < 1e-6
    close(np.sort(walk.real), np.linalg.eigvalsh(symmetric), 1e-6)


@pytest.mark.parametrize("directed", [False, True])
def test_the_adjoint_is_the_transposed_product(directed: bool) -> None:
    a = normalised_adjacency(awkward(), None, AWKWARD_NODES, dtype=torch.float64, directed=directed)
    operator = RandomWalk(2, 1).on(a)
    phi = [normal(AWKWARD_NODES, 2, seed=s).requires_grad_() for s in (1, 2)]
    assert gradcheck(lambda x, v: integrate(operator, Leapfrog(0.5), x, v, 6), phi, fast_mode=True)
    assert not RandomWalk.symmetric


def test_the_matrix_is_not_the_symmetric_one() -> None:
    S, P = unrolled.operators(awkward(), AWKWARD_NODES)
    assert float((S - P).abs().max()) > 0.1
    close(P.sum(1)[:6], np.ones(6), 1e-14)
