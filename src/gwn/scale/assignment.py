"""Which process owns which rows: by METIS, so that few edges cross, or in contiguous stretches."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gwn.adjacency import Adjacency
from gwn.errors import GWNError
from gwn.registry import require_known

Neighbours = tuple[NDArray[Any], NDArray[Any]]
"""CSR: pointers and columns."""

METHODS = ("auto", "metis", "contiguous")
ROW_COST = 8
"""What a row costs beside its entries, in entries: encoders, head and the two states of a step."""


def assign_rows(adjacency: Adjacency, parts: int, method: str = "auto") -> Tensor:
    """The process of every row, [N]: about the same work for each, and none without rows.

    method   "metis" (needs `pymetis`), "contiguous", or "auto": METIS where it is installed
    """
    weights = adjacency.matrix.pattern.crow.diff().cpu().long() + ROW_COST
    return assign_weighted(weights, parts, method, lambda: _neighbours(adjacency))


def assign_weighted(weights: Tensor, parts: int, method: str, neighbours: Callable[[], Neighbours]) -> Tensor:
    """As `assign_rows`, from the work of every row and a function that gives the neighbours, without self-loops."""
    require_known("partition", method, METHODS)
    rows = weights.numel()
    if parts > rows:
        raise GWNError(f"{parts} processes asked for, but the graph has {rows} nodes; use at most {rows} processes")
    if method == "metis" and find_spec("pymetis") is None:
        raise GWNError("partition 'metis' needs the package pymetis; install it, or use partition 'contiguous'")
    if parts == 1:
        return torch.zeros(rows, dtype=torch.int64)
    if method == "contiguous" or find_spec("pymetis") is None:
        return contiguous_rows(weights, parts)
    import pymetis

    adjacency = pymetis.CSRAdjacency(*neighbours())
    _, membership = pymetis.part_graph(parts, adjacency=adjacency, vweights=weights.tolist())
    found = torch.tensor(membership, dtype=torch.int64)
    # On a handful of nodes METIS may leave a part empty.
    return found if int(torch.bincount(found, minlength=parts).min()) > 0 else contiguous_rows(weights, parts)


def contiguous_rows(weights: Tensor, parts: int) -> Tensor:
    """Stretches of about equal weight, each of at least one row."""
    rows = weights.numel()
    middle = weights.cumsum(0) - weights / 2
    found = torch.div(middle * parts, weights.sum(), rounding_mode="floor").long().clamp_(0, parts - 1)
    starts = torch.searchsorted(found, torch.arange(parts))
    for part in range(1, parts):  # at least one row for each, here and behind it
        starts[part] = min(max(int(starts[part]), int(starts[part - 1]) + 1), rows - parts + part)
    return torch.searchsorted(starts, torch.arange(rows), right=True) - 1


def _neighbours(adjacency: Adjacency) -> Neighbours:
    from scipy.sparse import csr_matrix

    pattern, edge = adjacency.matrix.pattern, adjacency.is_edge.cpu().numpy()
    row, col = pattern.row.cpu().numpy()[edge], pattern.col.cpu().numpy()[edge]
    arcs = csr_matrix((np.ones(row.size, dtype=np.int8), (row, col)), shape=pattern.shape)
    arcs.setdiag(0)
    both = arcs if adjacency.symmetric else (arcs + arcs.T).tocsr()  # METIS wants undirected graphs
    both.eliminate_zeros()
    return both.indptr, both.indices
