"""From an edge list to `S = D^-1/2 A D^-1/2`, built once per graph.

The pattern always holds the diagonal, so that every operator of the form `a I + b S` is the same pattern with other
values, and a whole time step is one sparse product.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import torch
from torch import Tensor

from gwn.errors import GWNError
from gwn.graph import check_edges
from gwn.registry import require_known
from gwn.sparse import Pattern, SparseMatrix, TensorCache, lasting

SELF_LOOPS = ("none", "keep", "add")
KEPT_MATRICES = 16
_CACHE = TensorCache()


@dataclass(frozen=True, eq=False)
class Adjacency:
    """`S` on a pattern with the diagonal: `S_ij = A_ij / sqrt(d_i d_j)`, `d_i = sum_j A_ij`, rows are targets.

    eye, is_edge           of every entry, whether it is on the diagonal, and whether the graph has it
    degree                 [N] d
    symmetric              whether the matrix is; `P` of an undirected graph is not
    directed, self_loops   how the edges were read, see `normalised_adjacency`
    node_numbers           [N] what its nodes are called in the whole graph, where it is a part of one
    weight                 A of every entry, where the graph is directed: S has no arcs from nodes without in-arcs, so
                           that A does not follow from it. None where it does
    """

    matrix: SparseMatrix
    eye: Tensor
    is_edge: Tensor
    degree: Tensor
    symmetric: bool
    directed: bool
    self_loops: str
    node_numbers: Tensor | None = None
    weight: Tensor | None = None
    _affine: dict[tuple[float, float], SparseMatrix] = field(default_factory=dict, repr=False)

    @property
    def num_nodes(self) -> int:
        return self.matrix.pattern.shape[0]

    @property
    def edge_index(self) -> Tensor:
        """The edges `j -> i` that `S` really has, as columns `(j, i)`: symmetrised and without duplicates."""
        pattern = self.matrix.pattern
        return torch.stack([pattern.col, pattern.row]).long()[:, self.is_edge]

    def affine(self, a: float, b: float) -> SparseMatrix:
        """`a I + b S`, kept for the next step and the next epoch."""
        known = self._affine.get((a, b))
        if known is None:
            if len(self._affine) >= KEPT_MATRICES:  # a search tries many step lengths on one graph
                self._affine.pop(next(iter(self._affine)), None)  # another thread may have been first
            with lasting():
                known = self.matrix.with_values(torch.add(self.eye * a, self.matrix.values, alpha=b))
            self._affine[a, b] = known
        return known

    @cached_property
    @lasting()
    def random_walk(self) -> Adjacency:
        """`P = D^-1 A` on the same pattern: rows sum to one, the spectrum is that of `S`.

        `D^-1/2 S D^1/2` is the same where every arc starts at a node with a degree, as all do in an undirected graph.
        """
        pattern = self.matrix.pattern
        divisor = self.degree.sqrt() if self.weight is None else self.degree
        inverse = torch.where(divisor > 0, 1 / divisor, torch.zeros_like(divisor)).index_select(0, pattern.row)
        if self.weight is None:
            values = self.matrix.values * inverse * pattern.of_columns(divisor)
        else:
            values = self.weight * inverse
        return replace(self, matrix=self.matrix.with_values(values), symmetric=False, _affine={})

    @cached_property
    @lasting()
    def plain(self) -> SparseMatrix:
        """`A` itself on the same pattern, without the normalisation: 1 or the weight for every edge."""
        if self.weight is not None:
            return self.matrix.with_values(self.weight)
        pattern, root = self.matrix.pattern, self.degree.sqrt()
        return self.matrix.with_values(
            self.matrix.values * root.index_select(0, pattern.row) * pattern.of_columns(root)
        )

    def require(
        self, num_nodes: int, *, dtype: torch.dtype, device: torch.device | None, directed: bool, self_loops: str
    ) -> Adjacency:
        """Itself, if it is `S` of so many nodes as a network with these settings wants it."""
        if self.num_nodes != num_nodes:
            raise GWNError(f"the adjacency has {self.num_nodes} nodes and x has {num_nodes} rows; they must agree")
        if (self.directed, self.self_loops) != (directed, self_loops):
            raise GWNError(
                f"the adjacency was built with directed={self.directed}, self_loops={self.self_loops!r}, and this "
                f"network has directed={directed}, self_loops={self_loops!r}; build it with the network's settings"
            )
        if self.matrix.values.dtype != dtype:
            raise GWNError(f"the adjacency is {self.matrix.values.dtype} and the network {dtype}; build it in {dtype}")
        if device is not None and self.matrix.values.device != device:
            raise GWNError(f"the adjacency is on {self.matrix.values.device} and x on {device}; build it on {device}")
        return self


def adjacency_of(
    edge_index: Tensor | Adjacency,
    edge_weight: Tensor | None,
    num_nodes: int,
    *,
    dtype: torch.dtype,
    device: torch.device | None = None,
    directed: bool = False,
    self_loops: str = "none",
) -> Adjacency:
    """`S` for these edges, computed on first use and kept for as long as the caller keeps the edge tensors.

    Weights given several times for one pair of nodes: see `normalised_adjacency`. An `Adjacency` in the place of the
    edges is what is wanted already; it is checked, and returned as it is.
    """
    if torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda"):
        raise GWNError("torch.autocast is on, and sparse products have one type: leave it out for networks on graphs")
    if isinstance(edge_index, Adjacency):
        if edge_weight is not None:
            raise GWNError("an adjacency holds its weights already; leave out edge_weight")
        return edge_index.require(num_nodes, dtype=dtype, device=device, directed=directed, self_loops=self_loops)
    key = (num_nodes, dtype, directed, self_loops)

    def build() -> Adjacency:
        return normalised_adjacency(
            edge_index, edge_weight, num_nodes, dtype=dtype, directed=directed, self_loops=self_loops
        )

    if edge_weight is None:
        return _CACHE.get(edge_index, key, build)
    _require_constant(edge_weight)  # before the cache: it may have been built when no gradient was asked for
    weighted = _CACHE.get(edge_index, "weighted", TensorCache)
    return weighted.get(edge_weight, key, build)


def normalised_adjacency(
    edge_index: Tensor,
    edge_weight: Tensor | None,
    num_nodes: int,
    *,
    dtype: torch.dtype = torch.float32,
    directed: bool = False,
    self_loops: str = "none",
) -> Adjacency:
    """Build `S`.

    directed    False: `A <- max(A, A^T)`, the paper's simple undirected graph. True: edges as given, in-degree on
                both sides, as the reference code has it.
    self_loops  "none" drops them (paper), "keep" leaves existing ones, "add" gives one to every node without.
    Types shorter than float32 hold the result alone: float16 counts no degree beyond 2048, bfloat16 none beyond 256.
    Weights of repeated edges add up, then the larger direction counts; unweighted repeated edges count once. Tables
    are read by another rule, the mean of all weights of a pair: `gwn.graph.undirected_edges`.
    """
    require_known("self_loops", self_loops, SELF_LOOPS)
    if edge_weight is not None:
        _require_constant(edge_weight)
    check_edges(edge_index, None if edge_weight is None else edge_weight.to(dtype), num_nodes)
    source, target = edge_index.long()
    wide = torch.promote_types(dtype, torch.float32)
    weight = torch.ones_like(source, dtype=wide) if edge_weight is None else edge_weight.to(wide)
    row, col, weight = _merge(target, source, weight, num_nodes, "amax" if edge_weight is None else "sum")
    if not directed:
        row, col, weight = _merge(torch.cat([row, col]), torch.cat([col, row]), weight.repeat(2), num_nodes, "amax")
    if self_loops == "none":
        keep = row != col
        row, col, weight = row[keep], col[keep], weight[keep]
    node = torch.arange(num_nodes, device=row.device)
    loop = torch.zeros(num_nodes, dtype=wide, device=row.device)
    if self_loops == "add":
        existing = (row == col) & (weight > 0)
        loop.fill_(1.0)[row[existing]] = weight[existing]
    row, col, weight = _merge(
        torch.cat([row, node]), torch.cat([col, node]), torch.cat([weight, loop]), num_nodes, "amax"
    )
    degree = torch.zeros(num_nodes, dtype=wide, device=row.device).index_add_(0, row, weight)
    scale = torch.where(degree > 0, degree.rsqrt(), torch.zeros_like(degree))
    pattern = Pattern.from_sorted(row, col, (num_nodes, num_nodes))
    return Adjacency(
        matrix=SparseMatrix(pattern, (scale[row] * weight * scale[col]).to(dtype)),
        eye=(row == col).to(dtype),
        is_edge=weight > 0,
        degree=degree if dtype == wide else degree.clamp(max=torch.finfo(dtype).max).to(dtype),
        symmetric=not directed,
        directed=directed,
        self_loops=self_loops,
        weight=weight.to(dtype) if directed else None,
    )


def _require_constant(edge_weight: Tensor) -> None:
    if edge_weight.requires_grad:
        raise GWNError("edge_weight requires a gradient; graph operators treat weights as constants: detach it")


def _merge(row: Tensor, col: Tensor, weight: Tensor, size: int, reduce: str) -> tuple[Tensor, Tensor, Tensor]:
    """Entries sorted by row and column, repeated ones merged."""
    key, place = torch.unique(row * size + col, return_inverse=True)
    merged = torch.zeros(key.numel(), dtype=weight.dtype, device=weight.device)
    merged.scatter_reduce_(0, place, weight, reduce)  # starting from zero: weights are not negative
    return torch.div(key, size, rounding_mode="floor"), key % size, merged
