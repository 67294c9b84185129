"""GDC (Gasteiger, Weißenberger and Günnemann, NeurIPS 2019), and the diffusion matrix, which GRAND rewires with."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from gwn.adjacency import normalised_adjacency
from gwn.dropout import dropout
from gwn.errors import GWNError
from gwn.models.peers.precompute_cache import Arrays, announced, cached_by_graph, cached_on_disk, require_at_most
from gwn.networks.feedforward import Linear, drop_features
from gwn.registry import lookup
from gwn.sparse import Pattern, SparseMatrix, addmm_, matmul, sparse_linear

Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]

KERNELS: dict[str, Callable[[float], Function]] = {
    "ppr": lambda alpha: lambda t: alpha / (1 - (1 - alpha) * t),
    "heat": lambda time: lambda t: np.exp(-time * (1 - t)),
}
BLOCK = 64
"""Columns at a time: few enough that what a product reads stays in the caches."""

LARGEST = 30_000
TIES = 1e-9
"""Entries equal to the k-th largest up to this share are all kept, so that no order of the nodes decides."""


class GDC(nn.Module):
    """`H(l+1) = relu(S~ H(l) W(l) + b(l))`: a GCN on a diffused graph.

    `S = sum_k theta_k T^k` with `T = D~^-1/2 (A + I) D~^-1/2` and `theta_k = alpha (1 - alpha)^k` (kernel "ppr") or
    `e^-t t^k / k!` (kernel "heat"); `S~` keeps the `k` largest entries of each row (0: all) and those above `epsilon`.
    The paper leaves open which transition matrix of the sparsified graph is used: here rows are scaled to sum one, as
    in the authors' code. Defaults are their settings for GCN on Cora (config.yaml of gasteigerjo/gdc): alpha 0.05,
    k 128, two layers of 64, dropout 0.5; their heat kernel there has t 5, k 0, epsilon 1e-4. Choices: the features are
    dropped as the hidden states are, which theirs are not; one weight decay for all layers.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        kernel: str = "ppr",
        alpha: float = 0.05,
        time: float = 5.0,
        k: int = 128,
        epsilon: float = 0.0,
        num_layers: int = 2,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.kernel, self.strength, self.k, self.epsilon = kernel, alpha if kernel == "ppr" else time, k, epsilon
        self.dropout = dropout
        widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.layers = nn.ModuleList(Linear(a, b, bias=False) for a, b in pairwise(widths))
        self.biases = nn.ParameterList(nn.Parameter(self.layers[0].weight.new_zeros(width)) for width in widths[1:])  # type: ignore[operator]
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for layer, bias in zip(self.layers, self.biases, strict=True):
            nn.init.xavier_uniform_(layer.weight)  # type: ignore[arg-type]
            nn.init.zeros_(bias)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        matrix = diffusion_matrix(
            edge_index, edge_weight, x.shape[0], x.dtype, self.kernel, self.strength, self.k, self.epsilon
        )
        hidden: Tensor = sparse_linear(matrix, self.layers[0](drop_features(x, self.dropout, self.training)))
        hidden = hidden + self.biases[0]
        for layer, bias in zip(list(self.layers)[1:], list(self.biases)[1:], strict=True):
            hidden = dropout(F.relu(hidden), self.dropout, self.training)
            hidden = sparse_linear(matrix, layer(hidden)) + bias
        return hidden


def diffusion_matrix(
    edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int, dtype: torch.dtype, kernel: str, strength: float,
    k: int, epsilon: float = 0.0,
) -> SparseMatrix:  # fmt: skip
    """Rows of `S` with their `k` largest entries (0: all) above `epsilon`, scaled to sum one; once for a graph.

    `S = f(T)` is applied to the columns of the identity as a Chebyshev series, cut off at 1e-13, some columns at a
    time: exact to rounding, and never a dense N x N matrix.

    kernel     "ppr": `alpha (I - (1 - alpha) T)^-1`; "heat": `exp(-t (I - T))`
    strength   alpha or t
    """
    function = lookup("diffusion kernel", kernel, KERNELS)(strength)
    if not (strength > 0.0 and (kernel == "heat" or strength < 1.0)):
        raise GWNError(f"the strength of a diffusion must be positive, and alpha below 1; got {strength} for {kernel}")
    require_at_most("graph diffusion", num_nodes, LARGEST, "its time grows with nodes times edges")

    def build() -> SparseMatrix:
        settings = {"nodes": num_nodes, "kernel": kernel, "strength": strength, "k": k, "epsilon": epsilon}
        inputs = [edge_index] if edge_weight is None else [edge_index, edge_weight]
        on_cpu = (edge_index.cpu(), None if edge_weight is None else edge_weight.cpu())  # MPS has no float64
        transition = normalised_adjacency(*on_cpu, num_nodes, dtype=torch.float64, self_loops="add").matrix
        arrays = cached_on_disk("diffusion", settings, inputs, lambda: _sparsified(transition, function, k, epsilon))
        row, col, value = (torch.from_numpy(arrays[name]) for name in ("row", "col", "value"))
        place = edge_index.device
        pattern = Pattern.from_sorted(row.to(place), col.to(place), (num_nodes, num_nodes))
        return SparseMatrix(pattern, value.to(dtype).to(place))

    return cached_by_graph(
        edge_index, edge_weight, ("diffusion", num_nodes, dtype, kernel, strength, k, epsilon), build
    )


def _sparsified(transition: SparseMatrix, function: Function, k: int, epsilon: float) -> Arrays:
    """Row, column and value of every kept entry, sorted; `S` is symmetric, so its columns are its rows."""
    nodes = transition.pattern.shape[0]
    series = _chebyshev(function)
    parts = []
    for start in announced(f"diffusion on {nodes} nodes", range(0, nodes, BLOCK)):
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
