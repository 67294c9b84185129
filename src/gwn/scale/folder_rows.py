"""Rows of a graph folder, read by the process that owns them: nobody reads the whole graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gwn.data.large.array_file import as_tensor
from gwn.data.large.folder import GraphFolder
from gwn.scale.assignment import ROW_COST, assign_weighted
from gwn.scale.parts import Rows, entries_of, new_numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class FolderRows:
    """Which rows to read; `load` reads them. The old numbers `nodes` rise, so that files are read in their order.

    number   [N] the new number of every node, None where it is the old one
    loops    whether every node gets a self-loop
    """

    path: str
    bounds: Tensor
    nodes: Tensor
    number: Tensor | None
    loops: bool
    dtype: torch.dtype

    def load(self) -> Rows:
        """`S_ij = 1 / sqrt(d_i d_j)` on these rows, with the diagonal, and their features and labels."""
        folder, size = GraphFolder.open(self.path), self.nodes.numel()
        nodes = self.nodes.numpy()
        crow, places = entries_of(as_tensor(folder.indptr), self.nodes)
        neighbour = folder.indices[places.numpy()].astype(np.int64)
        degree = _inverse_roots(folder, nodes, self.loops)
        row = torch.repeat_interleave(torch.arange(size), crow.diff())
        values = degree[row] * _inverse_roots(folder, neighbour, self.loops)
        own = degree.square() if self.loops else torch.zeros(size, dtype=torch.float64)
        row, col = torch.cat([row, torch.arange(size)]), torch.cat([torch.from_numpy(neighbour), self.nodes])
        order = torch.argsort(row, stable=True)
        return Rows(
            bounds=self.bounds,
            nodes=self.nodes,
            crow=crow + torch.arange(size + 1),
            col=(col if self.number is None else self.number[col])[order],
            values=torch.cat([values, own])[order].to(self.dtype),
            degree=(crow.diff() + int(self.loops)).to(self.dtype),
            symmetric=True,
            x=torch.from_numpy(np.array(folder.x[nodes])).to(self.dtype),
            y=torch.from_numpy(folder.y[nodes].astype(np.int64)),
        )


def _inverse_roots(folder: GraphFolder, nodes: np.ndarray[tuple[int, ...], np.dtype[np.int64]], loops: bool) -> Tensor:
    """`1 / sqrt(d)`, zero where a node has no neighbours."""
    degree = torch.from_numpy(np.asarray(folder.indptr[nodes + 1] - folder.indptr[nodes])).double() + int(loops)
    return torch.where(degree > 0, degree.rsqrt(), torch.zeros_like(degree))


def cut_folder(folder: GraphFolder, parts: int, method: str, *, loops: bool, dtype: torch.dtype) -> list[FolderRows]:
    """The rows of every process; the leader looks at the pointers, and METIS at the edges."""
    weights = torch.from_numpy(np.diff(folder.indptr)) + 1 + ROW_COST
    owner = assign_weighted(weights, parts, method, lambda: (folder.indptr, folder.indices))
    order, bounds, number = new_numbers(owner)
    kept = bool((order.diff() == 1).all())  # contiguous parts keep the numbers
    return [
        FolderRows(
            path=str(folder.path),
            bounds=bounds,
            nodes=order[int(bounds[part]) : int(bounds[part + 1])].clone(),
            number=None if kept else number,
            loops=loops,
            dtype=dtype,
        )
        for part in range(parts)
    ]
