"""Every Laplacian and scheme once more, as dense matrices and a plain loop that autograd differentiates.

Slow, short, and sharing no code with gwn: only the parameters are read from the network.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

import dense
from gwn import GWN
from gwn.laplacians.speed import LearnedSpeed

Force = Callable[[int, Tensor], Tensor]


def operators(edge_index: Tensor, nodes: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """`S = D^-1/2 A D^-1/2` and `P = D^-1 A` of an undirected graph; rows of isolated nodes are zero."""
    A = dense.adjacency(edge_index, nodes)
    degree = torch.from_numpy(A.sum(1))
    inverse = torch.where(degree > 0, 1 / degree, torch.zeros_like(degree))
    return torch.from_numpy(dense.normalise(A)).to(dtype), (inverse[:, None] * torch.from_numpy(A)).to(dtype)


def has_equations_of(laplacian: str, scheme: str) -> bool:
    """Whether this file knows them: a new Laplacian or scheme is covered by the other tests of the contract."""
    known = {"sym", "fa", "physical", "klein-gordon", "fa-symmetric", "random-walk", "polynomial"}
    return laplacian in known and scheme in {"leapfrog", "leapfrog-rescaled", "damped", "newmark", "bessel", "heat"}


def waves(
    model: GWN, laplacian: str, scheme: str, edge_index: Tensor, phi0: Tensor, phi1: Tensor, damping: float = 0.1
) -> Tensor:
    """X(0) ... X(n) of this network on an undirected graph."""
    tau, steps = model.scheme.tau, model.num_steps
    S, P = operators(edge_index, len(phi0), phi0.dtype)
    force, source = _force(model, laplacian, S, P, phi0, phi1), _source(model, laplacian, phi0)
    X = [phi0]
    if scheme == "leapfrog" or scheme == "leapfrog-rescaled":
        rho = _rho(laplacian, tau) if scheme == "leapfrog-rescaled" else 1.0
        X.append((phi0 + tau * phi1 + tau**2 / 2 * force(0, phi0)) / rho)
        for n in range(1, steps):
            step = 2 * X[n] + tau**2 * force(n, X[n])
            X.append(step / rho - X[n - 1] / rho**2 + source(n) / rho ** (n + 1))
    elif scheme == "damped":
        half = damping * tau / 2
        X.append(phi0 + tau * (1 - half) * phi1 + tau**2 / 2 * force(0, phi0))
        for n in range(1, steps):
            right = 2 * X[n] + tau**2 * force(n, X[n]) - (1 - half) * X[n - 1] + source(n)
            X.append(right / (1 + half))
    elif scheme == "heat":
        for n in range(steps):
            X.append(X[n] + tau * force(n, X[n]) + (source(n) if n > 0 else 0.0))
    elif scheme == "newmark":  # (X(n+1) - 2 X(n) + X(n-1)) / tau² = L (X(n+1) + 2 X(n) + X(n-1)) / 4, column by column
        X = [torch.stack(columns, dim=1) for columns in zip(*_newmark(force, phi0, phi1, tau, steps), strict=True)]
    elif scheme == "bessel":  # each state straight from the initial values
        values, V = torch.linalg.eigh((torch.eye(len(S)) - S).double())
        root, T = values.clamp_min(0).sqrt(), _similar(laplacian, S, P)
        for n in range(1, steps + 1):
            t = n * tau
            sine = torch.where(root > 1e-9, torch.sin(t * root) / root.clamp_min(1e-9), torch.full_like(root, t))
            C, Q = (T @ V @ torch.diag(f) @ V.T @ T.inverse() for f in (torch.cos(t * root), sine))
            X.append(C.to(phi0.dtype) @ phi0 + Q.to(phi0.dtype) @ phi1)
    else:
        raise AssertionError(f"no equations of {scheme}")
    return torch.stack(X)


def _newmark(force: Force, phi0: Tensor, phi1: Tensor, tau: float, steps: int) -> list[list[Tensor]]:
    nodes, channels = phi0.shape
    identity, zeros = torch.eye(nodes, dtype=phi0.dtype), torch.zeros_like(phi0)
    states = []
    for c in range(channels):  # the matrix of this channel, a column at a time, so that a speed may differ by channel
        columns = [force(0, torch.cat([zeros[:, :c], unit[:, None], zeros[:, c + 1 :]], 1))[:, c] for unit in identity]
        L = torch.stack(columns, dim=1)
        left, right = identity - tau**2 / 4 * L, identity + tau**2 / 4 * L
        x = [phi0[:, c], torch.linalg.solve(left, right @ phi0[:, c] + tau * phi1[:, c])]
        for n in range(1, steps):
            x.append(torch.linalg.solve(left, 2 * right @ x[n]) - x[n - 1])
        states.append(x)
    return states


def _force(model: GWN, laplacian: str, S: Tensor, P: Tensor, phi0: Tensor, phi1: Tensor) -> Force:
    space = model.laplacian.inner if isinstance(model.laplacian, LearnedSpeed) else model.laplacian
    squared = (
        model.laplacian.limit * model.laplacian.raw.sigmoid() if isinstance(model.laplacian, LearnedSpeed) else 1.0
    )

    def plain(n: int, x: Tensor) -> Tensor:
        if laplacian == "sym":
            return S @ x
        if laplacian == "physical":
            return S @ x - x
        if laplacian == "random-walk":
            return P @ x - x
        if laplacian == "klein-gordon":
            mass = space.start if space.mass is None else space.mass
            return S @ x - (1 + mass**2) * x  # type: ignore[operator]
        if laplacian == "polynomial":
            return sum(theta * torch.linalg.matrix_power(S, k) @ x for k, theta in enumerate(space.theta))  # type: ignore[arg-type, return-value]
        if laplacian == "fa":
            seen = phi1 if n == 0 and space.attention_start == "velocity" else x
            score = (seen @ space.g[n, 0])[:, None] + (seen @ space.g[n, 1])[None, :]  # type: ignore[index]
            return (score.tanh() * S) @ x
        if laplacian == "fa-symmetric":
            seen, g = (phi0, space.g[0]) if space.attention == "first" else (x, space.g[n])  # type: ignore[index]
            score = (seen @ g)[:, None] + (seen @ g)[None, :]
            return (score.tanh() * S) @ x - x
        raise AssertionError(f"no equation of {laplacian}")

    return lambda n, x: squared * plain(n, x)


def _source(model: GWN, laplacian: str, phi0: Tensor) -> Callable[[int], Tensor | float]:
    """`eps(n) X(0)`, n >= 1, of GWN-fa."""
    if laplacian != "fa":
        return lambda n: 0.0
    epsilon = model.epsilon
    return lambda n: epsilon[n - 1] * phi0


def _rho(laplacian: str, tau: float) -> float:
    """The growth of the fastest mode that any graph can have, of `S` at speed 1, or none."""
    return 1 + tau**2 / 2 + tau * (1 + tau**2 / 4) ** 0.5 if laplacian in ("sym", "fa") else 1.0


def _similar(laplacian: str, S: Tensor, P: Tensor) -> Tensor:
    """T with `P = T S T^-1`: D^-1/2 for the random walk, since `P_ij / S_ij = sqrt(d_j / d_i)`; else I."""
    if laplacian != "random-walk":
        return torch.eye(len(S), dtype=torch.float64)
    degree = (P > 0).sum(1).clamp_min(1)
    return torch.diag(degree.double().rsqrt())
