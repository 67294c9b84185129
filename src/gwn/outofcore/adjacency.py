"""`S` of a graph folder as a matrix that stays in its files, so that every fixed operator runs on it unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gwn.adjacency import Adjacency
from gwn.data.folders.arrays import ArrayReader, read_ahead
from gwn.data.folders.folder import GraphFolder
from gwn.sparse import Pattern, SparseMatrix

BLOCK_ARCS = 1 << 20
"""Arcs of one block of rows: large enough that a product's fixed costs do not count."""

BLOCK_ROWS = 1 << 18
"""The most rows of one block: rows without arcs must not make it endless."""

BLOCK_BYTES = 6 * 8 * BLOCK_ARCS
"""Two blocks at a time, one in a product and one being read: columns and values, and what computes them."""

NONE = torch.empty(0)


@dataclass(frozen=True, eq=False)
class FileMatrix(SparseMatrix):
    """`diagonal I + scale A`, A in files; products are taken block of rows by block of rows, from front to back.

    Values are no file: `1 / sqrt(d_i d_j)` is computed for each block while the one before it is multiplied.

    root    [N] `1 / sqrt(d_i)`, zero for a node without edges
    walk    whether the values are `1 / d_i` instead
    loops   whether every node has a loop, which no file holds; then `d` counts it
    """

    indptr: ArrayReader
    indices: ArrayReader
    root: NDArray[np.float32]
    bounds: tuple[int, ...]
    walk: bool = False
    loops: bool = False
    diagonal: float = 0.0
    scale: float = 1.0

    def add_product_(self, out: Tensor, x: Tensor, beta: float, alpha: float) -> Tensor:
        for (first, last), block in zip(pairwise(self.bounds), self._blocks(), strict=True):
            part = out[first:last]
            if block is None:
                part.zero_() if beta == 0.0 else part.mul_(beta)
            else:
                part.addmm_(block, x, beta=beta, alpha=alpha * self.scale)
            if self.loops:
                of_loop = torch.from_numpy(self.root[first:last, None] ** 2)
                part.addcmul_(of_loop, x[first:last], value=alpha * self.scale)
            if self.diagonal != 0.0:
                part.add_(x[first:last], alpha=alpha * self.diagonal)
        return out

    def _blocks(self) -> Iterator[Tensor | None]:
        return read_ahead(partial(self._block, first, last) for first, last in pairwise(self.bounds))

    def _block(self, first: int, last: int) -> Tensor | None:
        """Rows `first` ... `last - 1` of A; None where they have no entry."""
        pointers = self.indptr.rows(first, last + 1)
        start, stop = int(pointers[0]), int(pointers[-1])
        if start == stop:
            return None
        col = self.indices.rows(start, stop)
        of_row = self.root[first:last] ** 2 if self.walk else self.root[first:last]
        values = np.repeat(of_row, np.diff(pointers))
        if not self.walk:
            values *= self.root[col]
        return torch.sparse_csr_tensor(
            torch.from_numpy((pointers - start).astype(np.int32)),
            torch.from_numpy(col),
            torch.from_numpy(values),
            (last - first, self.pattern.shape[1]),
            check_invariants=False,
        )


@dataclass(frozen=True, eq=False)
class FileAdjacency(Adjacency):
    """`Adjacency` on files; its matrices are views, so any number of them costs nothing."""

    def affine(self, a: float, b: float) -> SparseMatrix:
        assert isinstance(self.matrix, FileMatrix)
        return replace(self.matrix, diagonal=a, scale=b)

    @cached_property
    def random_walk(self) -> Adjacency:
        assert isinstance(self.matrix, FileMatrix)
        return replace(self, matrix=replace(self.matrix, walk=True), symmetric=False)


def file_adjacency(graph: GraphFolder, self_loops: str = "none") -> FileAdjacency:
    """`S` of a folder; in memory are one number a node, and two blocks of rows."""
    indptr, nodes, loops = graph.reader("indptr"), graph.num_nodes, self_loops == "add"
    root, bounds = _roots_and_bounds(indptr, nodes, loops)
    pattern = Pattern(NONE, NONE, (nodes, nodes))
    return FileAdjacency(
        matrix=FileMatrix(pattern, NONE, indptr, graph.reader("indices"), root, bounds, loops=loops),
        eye=NONE,
        is_edge=NONE,
        degree=NONE,
        symmetric=True,
        directed=False,
        self_loops=self_loops,
    )


def _roots_and_bounds(indptr: ArrayReader, nodes: int, loops: bool) -> tuple[NDArray[np.float32], tuple[int, ...]]:
    """`1 / sqrt(d)` of every node, and where blocks of rows begin and end: about `BLOCK_ARCS` arcs each, more only
    where a single row has more."""
    root = np.empty(nodes, dtype=np.float32)
    bounds = [0]
    for first in range(0, nodes, BLOCK_ROWS):
        last = min(first + BLOCK_ROWS, nodes)
        pointers = indptr.rows(first, last + 1)
        degree = (np.diff(pointers) + loops).astype(np.float32)
        root[first:last] = np.where(degree > 0, np.maximum(degree, 1) ** -0.5, 0.0)
        inside = np.arange(pointers[0] + BLOCK_ARCS, pointers[-1], BLOCK_ARCS)
        bounds += [first + int(cut) for cut in np.searchsorted(pointers, inside)] + [last]
    return root, tuple(sorted(set(bounds)))
