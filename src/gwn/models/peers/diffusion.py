"""Graph diffusion matrices `S = f(T)`, `T = D~^-1/2 (A + I) D~^-1/2`, sparsified: what GDC and GRAND's rewiring need.

`f(T)` is applied to the columns of the identity as a Chebyshev series, cut off at 1e-13, some columns at a time: exact
to rounding, and never a dense N x N matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torchdiffeq
from numpy.typing import NDArray
from torch import Tensor

from gwn.adjacency import normalised_adjacency
from gwn.errors import GWNError
from gwn.models.peers.precompute_cache import Arrays, kept_on_disk, once, require_small, slowly
from gwn.registry import lookup, require_known
from gwn.sparse import Pattern, SparseMatrix, addmm_, matmul

FIXED = ("euler", "midpoint", "heun3", "rk4")
ADAPTIVE = ("dopri5", "dopri8", "bosh3", "adaptive_heun")


def check_solver(method: str, time: float, step_size: float) -> None:
    """Refuse what torchdiffeq would refuse later, and less clearly."""
    require_known("ODE method", method, FIXED + ADAPTIVE)
    if not (time > 0 and step_size > 0):
        raise GWNError(f"time and step_size must be positive; got time={time}, step_size={step_size}")


def solve(
    f: Callable[[Tensor, Tensor], Tensor], x: Tensor, time: float, method: str, step_size: float, tolerance: float
) -> Tensor:
    """`x(time)` of `dx/dt = f(t, x)`, differentiated through the solver's own steps.

    A fixed-step method takes steps of `step_size`; an adaptive one chooses them by the error of all nodes together,
    to `tolerance` (relative, and a tenth of it absolute).
    """
    span = torch.tensor([0.0, time], dtype=x.dtype, device=x.device)
    options: dict[str, Any] = {"step_size": min(step_size, time)} if method in FIXED else {}
    try:
        states: Tensor = torchdiffeq.odeint(
            f, x, span, method=method, options=options, rtol=tolerance, atol=tolerance / 10
        )
    except AssertionError as error:
        raise GWNError(
            f"{method} failed ({error}); use a fixed-step method such as rk4, or a larger tolerance"
        ) from error
    return states[-1]


Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]

KERNELS: dict[str, Callable[[float], Function]] = {
    "ppr": lambda alpha: lambda t: alpha / (1 - (1 - alpha) * t),
    "heat": lambda time: lambda t: np.exp(-time * (1 - t)),
}
BLOCK = 256
LARGEST = 30_000
TIES = 1e-9
"""Entries equal to the k-th largest up to this share are all kept, so that no order of the nodes decides."""


def diffusion_matrix(
    edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int, dtype: torch.dtype, kernel: str, strength: float,
    k: int, epsilon: float = 0.0,
) -> SparseMatrix:  # fmt: skip
    """Rows of `S` with their `k` largest entries (0: all) above `epsilon`, scaled to sum one; once for a graph.

    kernel     "ppr": `alpha (I - (1 - alpha) T)^-1`; "heat": `exp(-t (I - T))`
    strength   alpha or t
    """
    function = lookup("diffusion kernel", kernel, KERNELS)(strength)
    if not (strength > 0.0 and (kernel == "heat" or strength < 1.0)):
        raise GWNError(f"the strength of a diffusion must be positive, and alpha below 1; got {strength} for {kernel}")
    require_small("graph diffusion", num_nodes, LARGEST, "its time grows with nodes times edges")

    def build() -> SparseMatrix:
        settings = {"nodes": num_nodes, "kernel": kernel, "strength": strength, "k": k, "epsilon": epsilon}
        inputs = [edge_index] if edge_weight is None else [edge_index, edge_weight]
        transition = normalised_adjacency(
            edge_index, edge_weight, num_nodes, dtype=torch.float64, self_loops="add"
        ).matrix
        arrays = kept_on_disk("diffusion", settings, inputs, lambda: _sparsified(transition, function, k, epsilon))
        row, col, value = (torch.from_numpy(arrays[name]).to(edge_index.device) for name in ("row", "col", "value"))
        return SparseMatrix(Pattern.from_sorted(row, col, (num_nodes, num_nodes)), value.to(dtype))

    return once(edge_index, edge_weight, ("diffusion", num_nodes, dtype, kernel, strength, k, epsilon), build)


def _sparsified(transition: SparseMatrix, function: Function, k: int, epsilon: float) -> Arrays:
    """Row, column and value of every kept entry, sorted; `S` is symmetric, so its columns are its rows."""
    nodes = transition.pattern.shape[0]
    series = _chebyshev(function)
    parts = []
    for start in slowly(f"diffusion on {nodes} nodes", range(0, nodes, BLOCK)):
        size = min(BLOCK, nodes - start)
        unit = torch.zeros(nodes, size, dtype=torch.float64, device=transition.values.device)
        unit[torch.arange(start, start + size), torch.arange(size)] = 1.0
        rows = _series_product(transition, series, unit).t()
        least = torch.full((size, 1), max(epsilon, 1e-14), dtype=rows.dtype, device=rows.device)
        if 0 < k < nodes:
            least = torch.maximum(least, rows.topk(k, dim=1).values[:, -1:] * (1 - TIES))
        kept = torch.where(rows >= least, rows, torch.zeros_like(rows))
        kept = kept / kept.sum(1, keepdim=True).clamp_min(1e-300)
        row, col = kept.nonzero().unbind(1)
        parts.append((row + start, col, kept[row, col]))
    return {
        name: torch.cat(column).cpu().numpy()
        for name, column in zip(("row", "col", "value"), zip(*parts, strict=True), strict=True)
    }


def _series_product(t: SparseMatrix, series: NDArray[np.float64], x: Tensor) -> Tensor:
    """`sum_k c_k T_k(t) x`."""
    before, now = x.clone(), matmul(t, x)
    out = before * float(series[0])
    for coefficient in series[1:]:
        out.add_(now, alpha=float(coefficient))
        before, now = now, addmm_(before, t, now, beta=-1.0, alpha=2.0)
    return out


def _chebyshev(function: Function) -> NDArray[np.float64]:
    """Coefficients on [-1, 1] up to the last that matters."""
    for degree in (32, 128, 512, 2048):
        series: NDArray[np.float64] = np.polynomial.chebyshev.chebinterpolate(function, degree)  # type: ignore[arg-type]
        large = np.flatnonzero(np.abs(series) > 1e-13 * np.abs(series).max())
        if large[-1] < degree - 4:
            return series[: large[-1] + 1]
    raise GWNError("this diffusion reaches too far to be computed; take a larger alpha or a shorter time")
