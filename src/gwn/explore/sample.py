"""Which nodes are drawn: all of a small graph, the neighbourhood of one node of a large one."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gwn.adjacency import normalised_adjacency
from gwn.errors import GWNError
from gwn.graph import Graph

MOST_NODES = 6000
MOST_EDGES = 15000
"""What a browser still moves smoothly; of more edges, an even share is drawn."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawn:
    """The drawn part of a graph.

    nodes    [n] their numbers in the graph, in rising order
    pairs    [2, m] undirected edges between them, numbered within `nodes`
    shown    [2, k] those of them that are drawn as lines
    centre   the graph's number of the node that the neighbourhood was grown from, and that an impulse strikes
    """

    nodes: Tensor
    pairs: Tensor
    shown: Tensor
    centre: int


def check_limit(limit: int) -> None:
    """Refuse more nodes than a page can show."""
    if not 2 <= limit <= MOST_NODES:
        raise GWNError(
            f"--nodes must be from 2 to {MOST_NODES}, the most that a browser draws smoothly; got {limit}. Of a larger "
            f"graph the neighbourhood of one node is drawn: choose it with --centre"
        )


def find_node(graph: Graph, name: str) -> int:
    """A node by the user's id, or by its number where nodes have no ids."""
    if graph.node_ids is not None and name in graph.node_ids:
        return graph.node_ids.index(name)
    if graph.node_ids is None and name.isdecimal() and int(name) < graph.num_nodes:
        return int(name)
    known = f"0 to {graph.num_nodes - 1}" if graph.node_ids is None else f"such as {graph.node_ids[0]!r}"
    raise GWNError(f"--centre names a node {name!r} that graph {graph.name!r} does not have; its nodes are {known}")


def choose_nodes(graph: Graph, limit: int, centre: int | None = None) -> Drawn:
    """At most `limit` nodes: ring by ring around `centre`, which is the node with the most neighbours unless given."""
    check_limit(limit)
    edges = normalised_adjacency(graph.edge_index, graph.edge_weight, graph.num_nodes).edge_index
    if edges.shape[1] == 0:
        raise GWNError(f"graph {graph.name!r} has no edges, so no wave travels on it; give one that has some")
    if centre is None:
        centre = int(torch.bincount(edges[0], minlength=graph.num_nodes).argmax())
    nodes = torch.arange(graph.num_nodes) if graph.num_nodes <= limit else _rings(edges, graph.num_nodes, centre, limit)
    number = torch.full((graph.num_nodes,), -1)
    number[nodes] = torch.arange(nodes.numel())
    pairs = number[edges]
    pairs = pairs[:, (pairs >= 0).all(0) & (pairs[0] < pairs[1])]
    share = pairs
    if pairs.shape[1] > MOST_EDGES:
        chosen = torch.randperm(pairs.shape[1], generator=torch.Generator().manual_seed(0))[:MOST_EDGES]
        share = pairs[:, chosen.sort().values]
    return Drawn(nodes=nodes, pairs=pairs, shown=share, centre=centre)


def _rings(edges: Tensor, size: int, centre: int, limit: int) -> Tensor:
    """Breadth first; of the ring that would pass the limit, nodes drawn by lot with a fixed seed."""
    inside = torch.zeros(size, dtype=torch.bool)
    inside[centre] = True
    while (room := limit - int(inside.sum())) > 0:
        ring = torch.zeros_like(inside)
        ring[edges[1][inside[edges[0]]]] = True
        ring &= ~inside
        new = ring.nonzero().reshape(-1)
        if new.numel() == 0:
            break
        if new.numel() > room:
            new = new[torch.randperm(new.numel(), generator=torch.Generator().manual_seed(0))[:room]]
        inside[new] = True
    return inside.nonzero().reshape(-1)
