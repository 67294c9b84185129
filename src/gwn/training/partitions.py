"""A graph cut where few edges are: the parts of processes, and mini-batches for networks that learn on edges.

A step of mini-batches trains on the subgraph of a few parts drawn at random, with the edges inside and between them
(Chiang et al., Cluster-GCN, KDD 2019). Edges to all other parts are missing in that step: an approximation, whose cost
in accuracy `python -m benchmarks partitions` measures. Evaluation always sees the whole graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gwn.adjacency import Adjacency, adjacency_of
from gwn.errors import GWNError, require_extra
from gwn.graph import Graph
from gwn.registry import require_known
from gwn.sparse import take_rows

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
    if method == "metis":
        require_extra("partition 'metis'", "pymetis")
    if parts == 1:
        return torch.zeros(rows, dtype=torch.int64)
    if method == "contiguous" or find_spec("pymetis") is None:
        return contiguous_rows(weights, parts)
    pymetis = require_extra("partition 'metis'", "pymetis")
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


Batch = tuple[Graph, Tensor]
"""A subgraph, and its training nodes by their numbers there."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Clusters:
    """A graph in parts.

    owner      [N] the part of every node
    train      the training nodes
    per_step   how many parts a step sees
    arcs       the edges, those of part 0's sources first, then part 1's ...; part p's begin at `starts[p]`
    home       where batches go; the graph itself is cut on the CPU
    """

    graph: Graph
    owner: Tensor
    train: Tensor
    per_step: int
    arcs: Tensor
    starts: Tensor
    home: torch.device
    _kept: dict[int, Batch]

    @classmethod
    def of(cls, graph: Graph, train: Tensor, parts: int, per_step: int) -> Clusters:
        """Cut by METIS."""
        if not 1 <= per_step <= parts:
            raise GWNError(f"partitions_per_step must be between 1 and partitions={parts}; got {per_step}")
        if parts > graph.num_nodes:
            raise GWNError(f"{parts} partitions asked for, but the graph has {graph.num_nodes} nodes; use fewer")
        home, graph, train = graph.x.device, graph.to("cpu"), train.cpu()
        adjacency = adjacency_of(graph.edge_index, graph.edge_weight, graph.num_nodes, dtype=torch.float32)
        owner = assign_rows(adjacency, parts, "metis")
        of_source = owner[graph.edge_index[0]]
        order = torch.argsort(of_source, stable=True)
        starts = torch.zeros(parts + 1, dtype=torch.int64)
        torch.cumsum(torch.bincount(of_source, minlength=parts), 0, out=starts[1:])
        return cls(
            graph=graph, owner=owner, train=train, per_step=per_step, arcs=order, starts=starts, home=home, _kept={}
        )

    def epoch(self) -> Iterator[Batch]:
        """Every part once, `per_step` at a time, in random order; a batch without training nodes is left out."""
        parts = int(self.starts.numel()) - 1
        for chosen in torch.split(torch.randperm(parts), self.per_step):
            if len(chosen) > 1:
                batch = self.batch(chosen)
            else:  # the same every time, so S of the part need not be made again
                number = int(chosen)
                batch = (
                    self._kept[number] if number in self._kept else self._kept.setdefault(number, self.batch(chosen))
                )
            if batch[1].numel() > 0:
                yield batch

    def batch(self, parts: Tensor) -> Batch:
        """The subgraph of some parts."""
        inside = torch.isin(self.owner, parts)
        nodes = inside.nonzero().flatten()
        number = torch.full((self.graph.num_nodes,), -1, dtype=torch.int64)
        number[nodes] = torch.arange(nodes.numel())
        arcs = torch.cat([self.arcs[self.starts[p] : self.starts[p + 1]] for p in parts.sort().values.tolist()])
        ends = number[self.graph.edge_index[:, arcs]]
        kept = ends[1] >= 0
        weight = self.graph.edge_weight
        subgraph = replace(
            self.graph,
            x=take_rows(self.graph.x, nodes).to(self.home),
            edge_index=ends[:, kept].contiguous().to(self.home),
            edge_weight=None if weight is None else weight[arcs][kept].to(self.home),
            y=self.graph.labels[nodes].to(self.home),
            node_ids=None,
        )
        return subgraph, number[self.train[inside[self.train]]].to(self.home)

    def cut_share(self) -> float:
        """The share of edges that join two parts."""
        ends = self.owner[self.graph.edge_index]
        return float((ends[0] != ends[1]).float().mean())
