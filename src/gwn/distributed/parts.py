"""The rows of a graph that one process owns: sent by the leader, or read from a graph folder by their owner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gwn.adjacency import Adjacency
from gwn.data.folders.arrays import as_tensor
from gwn.data.folders.folder import GraphFolder
from gwn.distributed.halo import Exchange, HaloMatrix, HaloPattern
from gwn.distributed.process_group import Message, ProcessGroup
from gwn.graph import Graph
from gwn.sparse import Pattern, entries_of, take_rows
from gwn.training.config import DTYPES
from gwn.training.partitions import ROW_COST, assign_weighted


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Some rows of a graph as plain tensors, which is what travels to their owner.

    The nodes are numbered anew, part after part, so that owners follow from `bounds`: process r owns the new numbers
    bounds[r] ... bounds[r + 1] - 1.

    nodes         [n] the old numbers of these rows
    crow, col     [n + 1], [entries] these rows of S, columns by their new numbers
    values        [entries] of S, and `degree` [n]; `symmetric`, `directed` and `self_loops` as in `Adjacency`
    x, y          [n, f] features, dense or CSR; [n] labels
    weight        [entries] of A, where the graph is directed
    """

    bounds: Tensor
    nodes: Tensor
    crow: Tensor
    col: Tensor
    values: Tensor
    degree: Tensor
    symmetric: bool
    directed: bool
    self_loops: str
    x: Tensor
    y: Tensor
    weight: Tensor | None = None

    def to_message(self) -> Message:
        """What the leader sends; sparse features as their three tensors."""
        message = Message.of(self)
        if self.x.layout == torch.sparse_csr:
            x = message.tensors.pop("x")
            message.tensors.update({"x.crow": x.crow_indices(), "x.col": x.col_indices(), "x.values": x.values()})
            message.facts["x"] = list(x.shape)
        return message

    @classmethod
    def from_message(cls, message: Message) -> Rows:
        """What the owner receives."""
        fields = message.fields
        if "x.values" in fields:
            crow, col, values = (fields.pop(f"x.{part}") for part in ("crow", "col", "values"))
            fields["x"] = torch.sparse_csr_tensor(crow, col, values, fields["x"], check_invariants=False)
        return cls(**fields)


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
                directed=adjacency.directed,
                self_loops=adjacency.self_loops,
                x=take_rows(graph.x, nodes),
                y=graph.labels[nodes],
                weight=None if adjacency.weight is None else adjacency.weight[entries],
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """What a network sees of the graph in one process.

    adjacency   `S` on own rows, to every operator as if it were the whole
    """

    nodes: Tensor
    adjacency: Adjacency
    x: Tensor
    y: Tensor
    edge_weight: None = None

    @classmethod
    def build(cls, group: ProcessGroup, rows: Rows) -> Part:
        """Own entries apart from those in the halo, and the exchange that fills it: all processes at the same time."""
        low, high = int(rows.bounds[group.rank]), int(rows.bounds[group.rank + 1])
        size = high - low
        row = torch.repeat_interleave(torch.arange(size), rows.crow.diff())
        own = (rows.col >= low) & (rows.col < high)
        halo, place = torch.unique(rows.col[~own], return_inverse=True)
        inner, inner_order = _pattern(row[own], rows.col[own] - low, (size, size))
        outer, outer_order = _pattern(row[~own], place, (size, halo.numel()))

        def placed(entries: Tensor) -> Tensor:
            """Entries of these rows in the order of the pattern."""
            return torch.cat([entries[own][inner_order], entries[~own][outer_order]]).to(group.device)

        values, weight = placed(rows.values), None if rows.weight is None else placed(rows.weight)
        exchange = Exchange.plan(group, rows.bounds, halo)
        pattern = HaloPattern.join(_to(inner, group.device), _to(outer, group.device), exchange)
        adjacency = Adjacency(
            matrix=HaloMatrix(pattern, values),
            eye=(pattern.row == pattern.col).to(values.dtype),
            is_edge=(values if weight is None else weight) != 0,
            degree=rows.degree.to(group.device),
            symmetric=rows.symmetric,
            directed=rows.directed,
            self_loops=rows.self_loops,
            node_numbers=rows.nodes.to(group.device),
            weight=weight,
        )
        return cls(
            nodes=rows.nodes.to(group.device),
            adjacency=adjacency,
            x=rows.x.to(group.device),
            y=rows.y.to(group.device),
        )

    @property
    def edge_index(self) -> Adjacency:
        """What a network gets in the place of the edges."""
        return self.adjacency


def _pattern(row: Tensor, col: Tensor, shape: tuple[int, int]) -> tuple[Pattern, Tensor]:
    order = torch.argsort(row * max(1, shape[1]) + col)
    return Pattern.from_sorted(row[order], col[order], shape), order


def _to(pattern: Pattern, device: torch.device) -> Pattern:
    return Pattern(pattern.crow.to(device), pattern.col.to(device), pattern.shape)


@dataclass(frozen=True, kw_only=True, eq=False)
class FolderRows:
    """Which rows to read; `load` reads them. The old numbers `nodes` rise, so that files are read in their order.

    number                 [N] the new number of every node, None where it is the old one
    directed, self_loops   of the network; a folder holds a simple undirected graph, so that only "add" matters
    """

    path: str
    bounds: Tensor
    nodes: Tensor
    number: Tensor | None
    directed: bool
    self_loops: str
    dtype: torch.dtype

    def to_message(self) -> Message:
        """What the leader sends."""
        message = Message.of(self)
        message.facts["dtype"] = next(name for name, dtype in DTYPES.items() if dtype == self.dtype)
        return message

    @classmethod
    def from_message(cls, message: Message) -> FolderRows:
        """What the owner receives."""
        return cls(**{**message.fields, "dtype": DTYPES[message.facts["dtype"]]})

    def load(self) -> Rows:
        """`S_ij = 1 / sqrt(d_i d_j)` on these rows, with the diagonal, and their features and labels."""
        folder, size, loops = GraphFolder.open(self.path), self.nodes.numel(), self.self_loops == "add"
        nodes = self.nodes.numpy()
        crow, places = entries_of(as_tensor(folder.indptr), self.nodes)
        neighbour = folder.indices[places.numpy()].astype(np.int64)
        degree = _inverse_roots(folder, nodes, loops)
        row = torch.repeat_interleave(torch.arange(size), crow.diff())
        values = degree[row] * _inverse_roots(folder, neighbour, loops)
        own = degree.square() if loops else torch.zeros(size, dtype=torch.float64)
        row, col = torch.cat([row, torch.arange(size)]), torch.cat([torch.from_numpy(neighbour), self.nodes])
        order = torch.argsort(row, stable=True)
        return Rows(
            bounds=self.bounds,
            nodes=self.nodes,
            crow=crow + torch.arange(size + 1),
            col=(col if self.number is None else self.number[col])[order],
            values=torch.cat([values, own])[order].to(self.dtype),
            degree=(crow.diff() + int(loops)).to(self.dtype),
            symmetric=True,
            directed=self.directed,
            self_loops=self.self_loops,
            x=torch.from_numpy(np.array(folder.x[nodes])).to(self.dtype),
            y=torch.from_numpy(folder.y[nodes].astype(np.int64)),
        )


def _inverse_roots(folder: GraphFolder, nodes: np.ndarray[tuple[int, ...], np.dtype[np.int64]], loops: bool) -> Tensor:
    """`1 / sqrt(d)`, zero where a node has no neighbours."""
    degree = torch.from_numpy(np.asarray(folder.indptr[nodes + 1] - folder.indptr[nodes])).double() + int(loops)
    return torch.where(degree > 0, degree.rsqrt(), torch.zeros_like(degree))


def rows_of_message(message: Message) -> Rows:
    """The rows that a process was sent, or those that it was told to read."""
    return FolderRows.from_message(message).load() if "path" in message.facts else Rows.from_message(message)


def cut_folder(
    folder: GraphFolder, parts: int, method: str, *, directed: bool, self_loops: str, dtype: torch.dtype
) -> list[FolderRows]:
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
            directed=directed,
            self_loops=self_loops,
            dtype=dtype,
        )
        for part in range(parts)
    ]
