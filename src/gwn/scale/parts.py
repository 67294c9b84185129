"""One process's part of a graph: its rows of S, of the features and of the labels, and where its halo comes from."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from gwn.adjacency import Adjacency, remember_adjacency
from gwn.graph import Graph
from gwn.scale.exchange import Exchange
from gwn.scale.halo import HaloMatrix, HaloPattern
from gwn.scale.team import Team
from gwn.sparse import Pattern


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Some rows of a graph as plain tensors, which is what travels to their owner.

    The nodes are numbered anew, part after part, so that owners follow from `bounds`: process r owns the new numbers
    bounds[r] ... bounds[r + 1] - 1.

    nodes         [n] the old numbers of these rows
    crow, col     [n + 1], [entries] these rows of S, columns by their new numbers
    values        [entries] of S, and `degree` [n]; `symmetric` as in `Adjacency`
    x, y          [n, f] features, dense or CSR; [n] labels
    """

    bounds: Tensor
    nodes: Tensor
    crow: Tensor
    col: Tensor
    values: Tensor
    degree: Tensor
    symmetric: bool
    x: Tensor
    y: Tensor

    def load(self) -> Rows:
        """They are here already."""
        return self


def cut(graph: Graph, adjacency: Adjacency, owner: Tensor) -> list[Rows]:
    """The rows of every process, given the owner of each row."""
    order, bounds, number = new_numbers(owner)
    matrix = adjacency.matrix
    rows = []
    for nodes in torch.split(order, bounds.diff().tolist()):
        crow, entries = entries_of(matrix.pattern.crow.long(), nodes)
        rows.append(
            Rows(
                bounds=bounds,
                nodes=nodes,
                crow=crow,
                col=number[matrix.pattern.col[entries].long()],
                values=matrix.values[entries],
                degree=adjacency.degree[nodes],
                symmetric=adjacency.symmetric,
                x=take_rows(graph.x, nodes),
                y=graph.labels[nodes],
            )
        )
    return rows


def new_numbers(owner: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The nodes part after part, where the parts begin, and the place of every node in that order."""
    order = torch.argsort(owner, stable=True)
    counts = torch.bincount(owner)
    number = torch.empty_like(order)
    number[order] = torch.arange(order.numel())
    return order, torch.cat([counts.new_zeros(1), counts.cumsum(0)]), number


def take_rows(x: Tensor, rows: Tensor) -> Tensor:
    """Rows of a dense or CSR matrix."""
    if x.layout != torch.sparse_csr:
        return x.index_select(0, rows)
    crow, entries = entries_of(x.crow_indices().long(), rows)
    shape = (rows.numel(), x.shape[1])
    return torch.sparse_csr_tensor(
        crow, x.col_indices()[entries].long(), x.values()[entries], shape, check_invariants=False
    )


def entries_of(crow: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """The pointers of the CSR matrix with these rows only, and the places of its entries in the whole."""
    starts, counts = crow[rows], crow[rows + 1] - crow[rows]
    pointers = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    places = torch.arange(int(pointers[-1])) + torch.repeat_interleave(starts - pointers[:-1], counts)
    return pointers, places


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """What a network sees of the graph in one process.

    adjacency   `S` on own rows, to every operator as if it were the whole
    edge_index  stands for the edges where a network asks for them; names none, so that a network which does not find
                `adjacency` behind it stops instead of computing something else
    """

    nodes: Tensor
    adjacency: Adjacency
    x: Tensor
    y: Tensor
    edge_index: Tensor = field(default_factory=lambda: torch.full((2, 1), -1))
    edge_weight: None = None

    @classmethod
    def build(cls, team: Team, rows: Rows) -> Part:
        """Own entries apart from those in the halo, and the exchange that fills it: all processes at the same time."""
        low, high = int(rows.bounds[team.rank]), int(rows.bounds[team.rank + 1])
        size = high - low
        row = torch.repeat_interleave(torch.arange(size), rows.crow.diff())
        own = (rows.col >= low) & (rows.col < high)
        halo, place = torch.unique(rows.col[~own], return_inverse=True)
        inner, inner_order = _pattern(row[own], rows.col[own] - low, (size, size))
        outer, outer_order = _pattern(row[~own], place, (size, halo.numel()))
        values = torch.cat([rows.values[own][inner_order], rows.values[~own][outer_order]]).to(team.device)
        exchange = Exchange.plan(team, rows.bounds, halo)
        pattern = HaloPattern.join(_to(inner, team.device), _to(outer, team.device), exchange)
        adjacency = Adjacency(
            matrix=HaloMatrix(pattern, values),
            eye=(pattern.row == pattern.col).to(values.dtype),
            is_edge=values != 0,
            degree=rows.degree.to(team.device),
            symmetric=rows.symmetric,
        )
        return cls(
            nodes=rows.nodes.to(team.device),
            adjacency=adjacency,
            x=rows.x.to(team.device),
            y=rows.y.to(team.device),
        )

    def show_to(self, *, directed: bool, self_loops: str) -> None:
        """Make networks with these settings find `adjacency` behind `edge_index`."""
        dtype = self.x.dtype
        remember_adjacency(self.edge_index, self.adjacency, dtype=dtype, directed=directed, self_loops=self_loops)


def _pattern(row: Tensor, col: Tensor, shape: tuple[int, int]) -> tuple[Pattern, Tensor]:
    order = torch.argsort(row * max(1, shape[1]) + col)
    return Pattern.from_sorted(row[order], col[order], shape), order


def _to(pattern: Pattern, device: torch.device) -> Pattern:
    return Pattern(pattern.crow.to(device), pattern.col.to(device), pattern.shape)
