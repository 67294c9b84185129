"""Which nodes are drawn, and where: all of a small graph, the neighbourhood of one node of a large one.

The layout is a force layout, started from a smooth one and the same every time. Joined nodes pull each other, near ones
a little harder; all nodes push each other apart as in t-SNE, strongly when near and hardly when far, which keeps
clusters compact; a weak pull to the middle keeps separate parts together. All pairs are computed: nothing is
approximated, and a few thousand nodes take seconds. In the end, discs that still overlap are pushed apart, so that the
leaves of a hub are not one spot. Nodes without edges, which no wave reaches, stand in rows below.
`python -m benchmarks layouts` compares it with another by numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from scipy.spatial import cKDTree
from torch import Tensor

from gwn.adjacency import normalised_adjacency
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.io import read_json, read_weights, write_json, write_weights

MOST_NODES = 6000
MOST_EDGES = 15000
"""What a browser still moves smoothly; of more edges, the strongest are drawn."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawn:
    """The drawn part of a graph.

    nodes    [n] their numbers in the graph, in rising order
    pairs    [2, m] undirected edges between them, numbered within `nodes`
    weights  [m] their weights, 1 where the graph has none
    shown    [k] places among `pairs` of those that are drawn as lines
    centre   the graph's number of the node that the neighbourhood was grown from, and that an impulse strikes
    """

    nodes: Tensor
    pairs: Tensor
    weights: Tensor
    shown: Tensor
    centre: int


def check_limit(limit: int) -> None:
    """Refuse more nodes than a page can show."""
    if not 2 <= limit <= MOST_NODES:
        raise GWNError(
            f"--limit must be from 2 to {MOST_NODES}, the most that a browser draws smoothly; got {limit}. Of a larger "
            f"graph the neighbourhood of one node is drawn: choose it with --centre"
        )


def choose_nodes(graph: Graph, limit: int, centre: int | None = None) -> Drawn:
    """At most `limit` nodes: ring by ring around `centre`, which is the node with the most neighbours unless given."""
    check_limit(limit)
    adjacency = normalised_adjacency(graph.edge_index, graph.edge_weight, graph.num_nodes)
    edges = adjacency.edge_index
    if edges.shape[1] == 0:
        raise GWNError(f"graph {graph.name!r} has no edges, so no wave travels on it; give one that has some")
    degree = torch.bincount(edges[0], minlength=graph.num_nodes)
    centre = int(degree.argmax()) if centre is None else centre
    if not degree[centre]:
        name = centre if graph.node_ids is None else repr(graph.node_ids[centre])
        raise GWNError(f"node {name} has no edges, so no wave travels from it; choose another with --centre")
    nodes = torch.arange(graph.num_nodes) if graph.num_nodes <= limit else _rings(edges, graph.num_nodes, centre, limit)
    number = torch.full((graph.num_nodes,), -1)
    number[nodes] = torch.arange(nodes.numel())
    pairs = number[edges]
    once = (pairs >= 0).all(0) & (pairs[0] < pairs[1])
    pairs, strength = pairs[:, once], adjacency.matrix.values[adjacency.is_edge][once]
    shown = torch.arange(pairs.shape[1])
    if pairs.shape[1] > MOST_EDGES:  # by S_ij, so that what has few edges keeps them
        shown = strength.argsort(descending=True, stable=True)[:MOST_EDGES].sort().values
    weights = torch.ones(pairs.shape[1])  # exactly: from S they would be 1 but for rounding
    if graph.edge_weight is not None:
        weights = adjacency.plain.values[adjacency.is_edge][once]
    return Drawn(nodes=nodes, pairs=pairs, weights=weights, shown=shown, centre=centre)


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


VERSION = 4
"""Of the layout: raised when the same graph comes out differently, so that no old one is read from the cache."""

ITERATIONS, SPREADING = 150, 300
SMOOTHING, WIDENESS = (200, 6000), 6
PULL, NEAR_PULL, GRAVITY = 0.1, 0.8, 0.01
ROW_GAP = 6
"""Radii between the part that has edges and the rows of nodes that have none."""
BLOCK = 1024
"""Rows of the table of all pairs that are held at once."""

OnStep = Callable[[int, int], None]


def place_nodes(pairs: Tensor, nodes: int, cache: Path | None = None, on_step: OnStep | None = None) -> Tensor:
    """Positions [nodes, 2] in [-1, 1] for undirected edges `pairs` [2, m]; read from `cache` where they are known."""
    digest = hashlib.sha256(pairs.to(torch.int64).contiguous().numpy().tobytes())
    name = f"{digest.hexdigest()[:16]}-{nodes}-{VERSION}"
    if cache is None:
        return force_layout(pairs, nodes, on_step)
    weights, record = cache / f"{name}.safetensors", cache / f"{name}.json"
    with suppress(GWNError, KeyError):
        return read_weights(weights, read_json(record)["sha256"])["positions"]
    positions = force_layout(pairs, nodes, on_step)
    with suppress(GWNError):  # a cache that cannot be written is no reason to stop
        write_json(record, {"sha256": write_weights(weights, {"positions": positions})})
    return positions


def force_layout(pairs: Tensor, nodes: int, on_step: OnStep | None = None) -> Tensor:
    """The layout itself: by forces where there are edges, in rows where there are none."""
    has_edge = torch.zeros(nodes, dtype=torch.bool)
    has_edge[pairs.reshape(-1)] = True
    number = has_edge.cumsum(0) - 1
    radius = node_radius(nodes)
    places = spread(_lay_flat(_by_forces(number[pairs], int(has_edge.sum()), on_step)), radius)
    if bool(has_edge.all()):
        return torch.from_numpy(_lay_flat(places)).float()
    rows = _rows(nodes - len(places), radius)
    room = 2 - np.ptp(rows[:, 1]) - ROW_GAP * radius
    places = spread(places * min(1.0, room / max(float(np.ptp(places[:, 1])), 1e-9)), radius)
    rows[:, 1] += places[:, 1].min() - ROW_GAP * radius
    placed = np.empty((nodes, 2))
    placed[has_edge.numpy()], placed[~has_edge.numpy()] = places, rows
    placed -= (placed.max(0) + placed.min(0)) / 2
    return torch.from_numpy(placed / np.abs(placed).max()).float()


def _rows(count: int, radius: float) -> np.ndarray:
    """So many discs in rows from -1 to 1, downwards from zero."""
    apart = 2.5 * radius
    place, a_row = np.arange(count), int(2 / apart) + 1
    return np.stack([place % a_row * apart - 1, -(place // a_row) * apart], axis=1)


def _by_forces(pairs: Tensor, nodes: int, on_step: OnStep | None) -> np.ndarray:
    """Where forces leave nodes that all have edges; a node's move is bounded by a temperature that falls to zero."""
    both = torch.cat([pairs, pairs.flip(0)], dim=1).numpy()
    joined = csr_array((np.ones(both.shape[1], dtype=np.float32), (both[0], both[1])), shape=(nodes, nodes))
    degree = torch.from_numpy(np.diff(joined.indptr)).float()
    position = smooth_start(joined, nodes, degree) * nodes**0.5
    for step in range(ITERATIONS):
        force = _repulsion(position) + _attraction(position, joined) - GRAVITY * position
        move = force / (1 + PULL * degree)[:, None]
        length = move.norm(dim=1, keepdim=True).clamp_min(1e-9)
        temperature = nodes**0.5 / 10 * (1 - step / ITERATIONS) ** 2 + 0.01
        position = position + move / length * length.clamp_max(temperature)
        if on_step is not None:
            on_step(step + 1, ITERATIONS)
    places: np.ndarray = position.numpy()
    return places


def node_radius(nodes: int) -> float:
    """Of the disc that a node is drawn as, where the picture is 2 wide; discs of this size never overlap."""
    return float(np.clip(0.45 / np.sqrt(nodes), 0.0035, 0.02))


def spread(position: np.ndarray, radius: float) -> np.ndarray:
    """Push apart whatever is nearer than two radii, pair by pair, until nothing is."""
    place = position + np.random.default_rng(1).normal(scale=radius / 1000, size=position.shape)
    for _ in range(SPREADING):
        near = cKDTree(place).query_pairs(2 * radius, output_type="ndarray")
        if len(near) == 0:
            break
        apart = place[near[:, 0]] - place[near[:, 1]]
        distance = np.linalg.norm(apart, axis=1, keepdims=True).clip(1e-12)
        move = apart / distance * (2.04 * radius - distance) * 0.4
        np.add.at(place, near[:, 0], move)
        np.add.at(place, near[:, 1], -move)
    return place


def _lay_flat(position: np.ndarray) -> np.ndarray:
    """Centred in [-1, 1], its longest direction across: a screen is wider than high."""
    place = position - position.mean(0)
    across = np.linalg.svd(place, full_matrices=False)[2]
    across *= np.sign(across[np.arange(2), np.abs(across).argmax(1)])[:, None]  # one and the same of two directions
    turned: np.ndarray = place @ across.T
    return turned / max(float(np.abs(turned).max()), 1e-9)


def _attraction(position: Tensor, joined: Any) -> Tensor:
    """`sum_j a(|p_j - p_i|) (p_j - p_i)` over the neighbours of each node."""
    place = position.numpy()
    row = np.repeat(np.arange(len(place)), np.diff(joined.indptr))
    distance = np.square(place[joined.indices] - place[row]).sum(1)
    strength = csr_array((PULL + NEAR_PULL / (1 + distance), joined.indices, joined.indptr), shape=joined.shape)
    sums: np.ndarray = strength @ np.concatenate([place, np.ones_like(place[:, :1])], axis=1)
    return torch.from_numpy(sums[:, :2] - place * sums[:, 2:])


def _repulsion(position: Tensor) -> Tensor:
    """`sum_j (p_i - p_j) / (1 + |p_i - p_j|²)²`, a block of rows at a time."""
    out = torch.empty_like(position)
    square = position.square().sum(1)
    with_one = torch.cat([position, torch.ones_like(position[:, :1])], dim=1)
    for start in range(0, position.shape[0], BLOCK):
        rows = slice(start, start + BLOCK)
        near = torch.addmm(square[rows, None] + square[None, :] + 1, position[rows], position.t(), alpha=-2.0)
        sums = near.clamp_min_(1.0).square_().reciprocal_() @ with_one
        out[rows] = position[rows] * sums[:, 2:] - sums[:, :2]
    return out


def smooth_start(joined: Any, nodes: int, degree: Tensor) -> Tensor:
    """Random numbers, smoothed by a lazy random walk and kept apart: the outline of the graph at little cost.

    A walk takes the square of a distance to get there, so a graph that is wide, such as a grid, is smoothed longer; one
    that is not would shrink to its longest tail.
    """
    vectors: np.ndarray = np.random.default_rng(0).standard_normal((nodes, 2), dtype=np.float32)
    count = degree.numpy()[:, None]
    share = count / count.sum()
    hops = shortest_path(joined, unweighted=True, indices=int(degree.argmax()))
    wide = float(np.square(hops[np.isfinite(hops)]).mean())
    for _ in range(int(np.clip(WIDENESS * wide, *SMOOTHING))):
        vectors = (vectors + (joined @ vectors) / count) / 2
        vectors -= (share * vectors).sum(0)
        vectors /= np.sqrt((share * np.square(vectors)).sum(0)).clip(1e-9)
        vectors[:, 1] -= vectors[:, 0] * (share[:, 0] * vectors[:, 0] * vectors[:, 1]).sum()
    vectors += np.random.default_rng(1).normal(scale=0.05, size=vectors.shape)  # leaves of one hub are smoothed alike
    return torch.from_numpy(vectors / (1 + np.abs(vectors)))  # far ones closer: a start need not have outliers
