"""L_a = shift I + scale S: one step and its adjoint, whatever the numbers of the step are."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import dense
from dense import close
from graphs import AWKWARD_NODES, awkward, normal
from gwn.adjacency import normalised_adjacency
from gwn.laplacians import LAPLACIANS, Gradients, Step, Symmetric
from gwn.laplacians.base import FixedOperator


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1.0), (-1.0, 1.0), (0.5, -2.0)])
def test_a_step_and_its_adjoint(kernels: str, directed: bool, shift: float, scale: float) -> None:
    adjacency = normalised_adjacency(awkward(), None, AWKWARD_NODES, dtype=torch.float64, directed=directed)
    S = dense.normalise(dense.adjacency(awkward(), AWKWARD_NODES, directed=directed))
    operator, step = FixedOperator(adjacency, shift, scale), Step(x=1.5, x_prev=-0.5, force=0.3)
    L = shift * np.eye(AWKWARD_NODES) + scale * S
    x, before = normal(AWKWARD_NODES, 3), normal(AWKWARD_NODES, 3, seed=1)
    target = before.clone()
    result = operator.advance_(4, step, x, target, x)
    assert result is target
    close(result, 1.5 * x.numpy() - 0.5 * before.numpy() + 0.3 * L @ x.numpy())

    following, grad = normal(AWKWARD_NODES, 3, seed=2), normal(AWKWARD_NODES, 3, seed=3)
    expected = 0.7 * grad.numpy() + 1.5 * following.numpy() + 0.3 * L.T @ following.numpy()
    close(operator.pull_back_(4, step, None, following, grad, 0.7, Gradients((), before, x)), expected)


def test_symmetric_is_s_itself_and_learns_nothing() -> None:
    adjacency = normalised_adjacency(awkward(), None, AWKWARD_NODES)
    laplacian = LAPLACIANS["sym"](channels=4, steps=3)
    assert isinstance(laplacian, Symmetric)
    assert list(laplacian.parameters()) == []
    operator = laplacian.on(adjacency)
    assert (operator.shift, operator.scale) == (0.0, 1.0)
    assert not operator.needs_states
