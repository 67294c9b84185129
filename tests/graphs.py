"""Small graphs for every test: hand-made ones with all the awkward cases, random ones for Hypothesis."""

from __future__ import annotations

import torch
from hypothesis import strategies as st
from torch import Tensor

from gwn.data import Dataset, contextual_sbm
from gwn.graph import Graph
from seeds import generator
from seeds import seed as seed_of


def edges(*pairs: tuple[int, int]) -> Tensor:
    """Columns (source, target)."""
    return torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).t().contiguous()


NO_EDGES = edges()

AWKWARD_NODES = 8
AWKWARD_WEIGHTS = torch.tensor([0.5, 2.0, 1.5, 0.25, 3.0, 1.0, 0.75, 0.1, 2.5, 0.3], dtype=torch.float64)


def awkward() -> Tensor:
    """Eight nodes: one-way and two-way edges, a duplicate, a self-loop, an odd cycle, node 6 isolated, 7 loop only."""
    return edges((0, 1), (1, 2), (2, 0), (2, 3), (3, 2), (3, 4), (3, 4), (4, 5), (5, 5), (7, 7))


def random_edges(nodes: int, count: int, seed: int = 0) -> Tensor:
    """`count` arcs between `nodes` nodes, self-loops and duplicates as they come."""
    return torch.randint(nodes, (2, count), generator=generator(seed))


def cycle(nodes: int) -> Tensor:
    """Each undirected edge once; the tests rely on the package to add the other direction."""
    return edges(*((i, (i + 1) % nodes) for i in range(nodes)))


def path(nodes: int) -> Tensor:
    return edges(*((i, i + 1) for i in range(nodes - 1)))


def complete(nodes: int) -> Tensor:
    return edges(*((i, j) for i in range(nodes) for j in range(i)))


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    """Standard normal numbers, the same ones every time."""
    return torch.randn(shape, generator=generator(seed), dtype=torch.float64).to(dtype)


@st.composite
def edge_lists(draw: st.DrawFn, max_nodes: int = 8) -> tuple[int, Tensor]:
    """(number of nodes, edge_index): any arcs, self-loops, duplicates, isolated nodes, none at all."""
    nodes = draw(st.integers(1, max_nodes))
    node = st.integers(0, nodes - 1)
    return nodes, edges(*draw(st.lists(st.tuples(node, node), max_size=20)))


def toy_graph(nodes: int = 40, classes: int = 2, seed: int = 0) -> Graph:
    """A labelled graph that every model can learn something from."""
    return contextual_sbm(
        nodes=nodes, degree=4, homophily=0.8, features=8, classes=classes, signal=2.0, seed=seed_of(seed)
    )


def toy_dataset(graph: Graph | None = None, metric: str = "accuracy") -> Dataset:
    return Dataset(
        name="toy",
        graph=toy_graph() if graph is None else graph,
        metric=metric,
        default_split="stratified",
        directed=False,
        published={},
        files={},
    )
