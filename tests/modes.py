"""Eigenmodes of small graphs, and numbers that follow from them without a time loop."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphs import cycle, edges, path
from gwn.adjacency import Adjacency, normalised_adjacency
from gwn.laplacians import FixedOperator

Matrix = NDArray[np.float64]
NODES = 9


def adjacency(dtype: torch.dtype = torch.float64) -> Adjacency:
    """A path of four nodes (bipartite, so S has -1) and a triangle with a tail: two components, simple spectrum."""
    return normalised_adjacency(
        edges((0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 4), (6, 7), (7, 8)), None, NODES, dtype=dtype
    )


def matrix(a: Adjacency) -> Matrix:
    """S as a dense matrix."""
    values: Matrix = a.matrix.csr.to_dense().double().numpy()
    return values


def modes(a: Adjacency, shift: float = -1.0) -> tuple[FixedOperator, Matrix, Tensor]:
    """`L_a = S + shift I`, its eigenvalues, and its eigenvectors as the channels of a state."""
    values, vectors = np.linalg.eigh(matrix(a) + shift * np.eye(a.num_nodes))
    return FixedOperator(a, shift=shift), values, torch.from_numpy(vectors.copy())


def companion(L: Matrix, tau: float) -> Matrix:
    """The paper's C: (X(n+1), X(n)) from (X(n), X(n-1)) under leapfrog."""
    identity = np.eye(len(L))
    return np.block([[2 * identity + tau**2 * L, -identity], [identity, np.zeros_like(L)]])


def spectral_radius(C: Matrix) -> float:
    return float(np.abs(np.linalg.eigvals(C)).max())


def graphs() -> dict[str, tuple[Tensor, int]]:
    """Named (edge_index, nodes)."""
    return {"edge": (path(2), 2), "path": (path(6), 6), "triangle": (cycle(3), 3), "cycle": (cycle(7), 7)}
