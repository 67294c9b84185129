"""`S` of a graph folder as a matrix that stays in its files, so that every fixed operator runs on it unchanged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gwn.adjacency import Adjacency
from gwn.data.folders.folder import ArrayWriter, GraphFolder, as_tensor, check_array, open_array
from gwn.errors import GWNError
from gwn.io import being_written, read_json, write_json
from gwn.sparse import Pattern, SparseMatrix

BLOCK_ARCS = 1 << 20
"""Arcs of one block of rows: large enough that a product's fixed costs do not count."""

NONE = torch.empty(0)


@dataclass(frozen=True, eq=False)
class MappedMatrix(SparseMatrix):
    """`diagonal I + scale A`, A in mapped files; products are taken block of rows by block of rows.

    PyTorch's product reads the mapped arrays where they are, so only its result takes memory.
    """

    indptr: NDArray[np.int64]
    bounds: tuple[int, ...]
    diagonal: float = 0.0
    scale: float = 1.0

    def add_product_(self, out: Tensor, x: Tensor, beta: float, alpha: float) -> Tensor:
        size = self.pattern.shape[1]
        for first, last in pairwise(self.bounds):
            start, stop = int(self.indptr[first]), int(self.indptr[last])
            part = out[first:last]
            if start == stop:
                part.zero_() if beta == 0.0 else part.mul_(beta)
            else:
                crow = torch.from_numpy((self.indptr[first : last + 1] - start).astype(np.int32))
                block = torch.sparse_csr_tensor(
                    crow,
                    self.pattern.col[start:stop],
                    self.values[start:stop],
                    (last - first, size),
                    check_invariants=False,
                )
                part.addmm_(block, x, beta=beta, alpha=alpha * self.scale)
            if self.diagonal != 0.0:
                part.add_(x[first:last], alpha=alpha * self.diagonal)
        return out


@dataclass(frozen=True, eq=False)
class MappedAdjacency(Adjacency):
    """`Adjacency` on mapped files; its matrices are views, so any number of them costs nothing."""

    place: Path = Path()
    graph: GraphFolder | None = None

    def affine(self, a: float, b: float) -> SparseMatrix:
        assert isinstance(self.matrix, MappedMatrix)
        return replace(self.matrix, diagonal=a, scale=b)

    @cached_property
    def random_walk(self) -> Adjacency:
        assert self.graph is not None
        return replace(self, matrix=_matrix(self.graph, self.place, walk=True), symmetric=False)


def mapped_adjacency(graph: GraphFolder, place: Path) -> MappedAdjacency:
    """`S` of a folder; its values are written to `place` once and mapped from there."""
    return MappedAdjacency(
        matrix=_matrix(graph, place, walk=False),
        eye=NONE,
        is_edge=NONE,
        degree=NONE,
        symmetric=True,
        directed=False,
        self_loops="none",
        place=place,
        graph=graph,
    )


def row_bounds(indptr: NDArray[np.int64], arcs: int = BLOCK_ARCS) -> tuple[int, ...]:
    """Where blocks of rows begin, each of about `arcs` arcs (more only where a single row has more), and the end."""
    nodes, total = indptr.size - 1, int(indptr[-1])
    cuts = np.searchsorted(indptr, np.arange(arcs, total, arcs))
    most = np.arange(0, nodes, 1 << 18)  # rows without arcs must not make a block endless either
    return tuple(int(cut) for cut in np.unique(np.concatenate([[0], cuts, most, [nodes]])))


def _matrix(graph: GraphFolder, place: Path, *, walk: bool) -> MappedMatrix:
    nodes = graph.num_nodes
    bounds = row_bounds(graph.indptr)
    values = _values(graph, place, bounds, walk)
    pattern = Pattern(NONE, as_tensor(graph.indices), (nodes, nodes))
    return MappedMatrix(pattern, as_tensor(values), graph.indptr, bounds)


def _values(graph: GraphFolder, place: Path, bounds: tuple[int, ...], walk: bool) -> NDArray[Any]:
    """`1 / sqrt(d_i d_j)` or `1 / d_i` of every arc, in a file."""
    path = place / ("walk.npy" if walk else "symmetric.npy")
    record = path.with_suffix(".json")
    if not _is_whole(path, record):
        inverse = np.empty(graph.num_nodes, dtype=np.float32)
        for first, last in pairwise(bounds):
            degree = np.diff(graph.indptr[first : last + 1]).astype(np.float32)
            inverse[first:last] = np.where(degree > 0, np.maximum(degree, 1) ** (-1.0 if walk else -0.5), 0.0)
        with being_written(path) as private:
            writer = ArrayWriter(private, "<f4")
            for first, last in pairwise(bounds):
                start, stop = int(graph.indptr[first]), int(graph.indptr[last])
                rows = np.repeat(inverse[first:last], np.diff(graph.indptr[first : last + 1]))
                writer.append(rows if walk else rows * inverse[graph.indices[start:stop]])
            facts = writer.finish()
        write_json(record, facts)
    return open_array(path, read_json(record))


def _is_whole(path: Path, record: Path) -> bool:
    """Whether the values are there as they were written; what is damaged is computed again."""
    try:
        check_array(path, read_json(record))
    except (GWNError, KeyError, TypeError):
        return False
    return True
