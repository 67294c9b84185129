"""NSD: the sheaf Laplacian as the coboundary says, `L = δ^T δ`, on dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.linalg import expm

from dense import Matrix, adjacency, close, linear
from graphs import normal, random_edges
from gwn import GWNError
from gwn.models.peers.nsd import NSD
from seeds import reseed

N, IN, HIDDEN, OUT, D = 6, 5, 4, 3, 2


def elu(x: Matrix) -> Matrix:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def reflections(below: float) -> Matrix:
    """Of two dimensions: `(I - 2 v v^T / |v|²) (I - 2 e e^T)`, `v = (1, below)`, `e = (0, 1)`."""
    v = np.array([[1.0], [below]])
    return (np.eye(2) - 2 * v @ v.T / (v.T @ v)) @ np.diag([1.0, -1.0])


def laplacian(model: NSD, layer: int, state: Matrix, A: Matrix, maps: str) -> Matrix:
    """One block row of the coboundary an edge: `F_v x_v - F_u x_u`."""
    own, other = (part[layer].weight.detach().numpy() for part in (model.own, model.other))

    def restriction(v: int, u: int) -> Matrix:
        free = np.tanh(state[v] @ own + state[u] @ other)
        if maps == "diagonal":
            return np.diag(free)
        return reflections(free[0]) if model.reference else expm(np.array([[0.0, -free[0]], [free[0], 0.0]]))

    rows = []
    for v in range(N):
        for u in range(v):
            if A[v, u] > 0:
                row = np.zeros((D, N * D))
                row[:, v * D : v * D + D] = restriction(v, u)
                row[:, u * D : u * D + D] = -restriction(u, v)
                rows.append(np.sqrt(A[v, u]) * row)
    L = np.vstack(rows).T @ np.vstack(rows)
    scale = np.diag((np.diag(L) + 1) ** -0.5)  # both kinds of maps have diagonal blocks that are diagonal
    return scale @ L @ scale


@pytest.mark.parametrize(("maps", "reference"), [("diagonal", False), ("orthogonal", False), ("orthogonal", True)])
def test_sheaf_diffusion(maps: str, reference: bool) -> None:
    """Compared with `L = δ^T δ` on dense matrices; maps by an exponential, and by reflections as the authors have."""
    reseed(0)
    model = NSD(IN, HIDDEN, OUT, maps=maps, stalk=D, num_layers=2, reference=reference).double().eval()
    with torch.no_grad():
        for keep in model.keep:
            keep.normal_()
    edges, x = random_edges(N, 9), normal(N, IN)
    A = adjacency(edges, N)
    X = elu(linear(model.encoder, x)).reshape(N * D, HIDDEN)
    for layer in range(2):
        W1, W2, keep = (p.detach().numpy() for p in (model.left[layer], model.right[layer].weight, model.keep[layer]))
        L = laplacian(model, layer, X.reshape(N, -1), A, maps)
        X = np.tile(1 + np.tanh(keep), (N, 1)) * X - elu(L @ np.kron(np.eye(N), W1) @ X @ W2)
    close(model(x, edges), linear(model.head, torch.from_numpy(X.reshape(N, -1))), 1e-11)


def test_orthogonal_maps_need_two_dimensions() -> None:
    with pytest.raises(GWNError, match="stalk"):
        NSD(IN, HIDDEN, OUT, maps="orthogonal", stalk=1)
