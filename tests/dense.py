"""The paper's equations as they are printed, on dense float64 matrices: slow, short, and sharing no code with gwn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Matrix = NDArray[np.float64]


def adjacency(
    edge_index: Tensor,
    nodes: int,
    weight: Sequence[float] | Tensor | None = None,
    directed: bool = False,
    loops: str = "none",
) -> Matrix:
    """`A[i, j]` is the weight of the edge j -> i."""
    A = np.zeros((nodes, nodes))
    for place, (j, i) in enumerate(edge_index.t().tolist()):
        A[i, j] = 1.0 if weight is None else A[i, j] + float(weight[place])
    if not directed:
        A = np.maximum(A, A.T)
    for i in range(nodes):
        if loops == "none":
            A[i, i] = 0.0
        if loops == "add" and A[i, i] == 0:
            A[i, i] = 1.0
    return A


def normalise(A: Matrix) -> Matrix:
    """`D^-1/2 A D^-1/2` with D the row sums: the in-degrees; rows without edges stay zero."""
    D = np.diag([0.0 if d == 0 else d**-0.5 for d in A.sum(1)])
    return D @ A @ D


def sym(S: Matrix, phi0: Matrix, phi1: Matrix, tau: float, steps: int) -> Matrix:
    """X(0) ... X(n) of GWN-sym, Eq. (exp_x_init) and (exp_x_n_sym)."""
    identity = np.eye(len(S))
    X = [phi0, tau * phi1 + (identity + tau**2 / 2 * S) @ phi0]
    for n in range(1, steps):
        X.append((2 * identity + tau**2 * S) @ X[n] - X[n - 1])
    return np.stack(X)


def attention(g: Matrix, x: Matrix) -> Matrix:
    """`alpha_ij = tanh(g^T [x_i || x_j])` for all pairs, g in R^2d."""
    nodes = len(x)
    return np.array([[np.tanh(g @ np.concatenate([x[i], x[j]])) for j in range(nodes)] for i in range(nodes)])


def fa(
    S: Matrix,
    phi0: Matrix,
    phi1: Matrix,
    g: Matrix,
    eps: Matrix,
    tau: float,
    steps: int,
    start_from_velocity: bool = False,
) -> tuple[Matrix, Matrix]:
    """X(0) ... X(n) and alpha(0) ... alpha(n-1) of GWN-fa, Eq. (exp_x_init) and (exp_x_n_fa); eps[n - 1] is eps(n)."""
    identity = np.eye(len(S))
    alpha = [attention(g[0], phi1 if start_from_velocity else phi0)]
    X = [phi0, tau * phi1 + (identity + tau**2 / 2 * (alpha[0] * S)) @ phi0]
    for n in range(1, steps):
        alpha.append(attention(g[n], X[n]))
        X.append(eps[n - 1] * X[0] + (2 * identity + tau**2 * (alpha[n] * S)) @ X[n] - X[n - 1])
    return np.stack(X), np.stack(alpha)


def torch_waves(
    S: Tensor, phi0: Tensor, phi1: Tensor, tau: float, steps: int, g: Tensor | None = None, eps: Tensor | None = None
) -> Tensor:
    """The same recurrences in torch, for autograd to differentiate: GWN-sym without `g`, GWN-fa with it."""

    def force(n: int, x: Tensor) -> Tensor:
        if g is None:
            return S @ x
        score = (x @ g[n, 0])[:, None] + (x @ g[n, 1])[None, :]
        return (torch.tanh(score) * S) @ x

    X = [phi0, tau * phi1 + phi0 + tau**2 / 2 * force(0, phi0)]
    for n in range(1, steps):
        source = 0.0 if eps is None else eps[n - 1] * phi0
        X.append(source + 2 * X[n] + tau**2 * force(n, X[n]) - X[n - 1])
    return torch.stack(X)


def linear(network: nn.Module, x: Tensor) -> Matrix:
    """A one-layer network by hand: `x W + b`, W of shape [in, out]."""
    state = {name: value.detach().double().numpy() for name, value in network.state_dict().items()}
    (weight,) = (value for name, value in state.items() if name.endswith("weight"))
    (bias,) = (value for name, value in state.items() if name.endswith("bias"))
    return x.double().numpy() @ weight + bias


def close(actual: Any, expected: Any, tolerance: float = 1e-10) -> None:
    """Equal shapes, and a largest difference below `tolerance` times the largest entry."""
    a = actual.detach().cpu().numpy() if isinstance(actual, Tensor) else np.asarray(actual)
    b = expected.detach().cpu().numpy() if isinstance(expected, Tensor) else np.asarray(expected)
    assert a.shape == b.shape, f"{a.shape} is not {b.shape}"
    scale = max(1.0, float(np.abs(b).max(initial=0.0)))
    worst = float(np.abs(a - b).max(initial=0.0))
    assert worst <= tolerance * scale, f"differs by {worst:.3g} (largest entry {scale:.3g})"
