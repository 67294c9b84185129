"""One graph to train on: everything a competitor needs to know."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.data import Dataset, make_splits
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.training import TrainConfig
from gwn.training.loop import flushed_denormals, make_optimizer


def uniform_graph(nodes: int, edges: int, features: int = 32, classes: int = 4, seed: int = 0) -> Graph:
    """Exactly `edges` different undirected edges, stored in both directions; dense normal features, random labels."""
    possible = nodes * (nodes - 1) // 2
    if edges > possible // 2:
        raise GWNError(f"{edges} edges asked for between {nodes} nodes, where {possible} exist; ask for fewer")
    draw = torch.Generator().manual_seed(seed)
    keys = torch.empty(0, dtype=torch.int64)
    while keys.numel() < edges:
        pairs = torch.randint(nodes, (2, edges + edges // 8 + 16), generator=draw)
        low, high = torch.aminmax(pairs, dim=0)
        keys = torch.unique(torch.cat([keys, (low * nodes + high)[low != high]]))
    # `unique` sorts, so the first ones would all be edges of low nodes: keep a random choice instead.
    keys = keys[torch.randperm(keys.numel(), generator=draw)[:edges]].sort().values
    low, high = torch.div(keys, nodes, rounding_mode="floor"), keys % nodes
    return Graph(
        x=torch.randn(nodes, features, generator=draw),
        edge_index=torch.stack([torch.cat([low, high]), torch.cat([high, low])]),
        y=torch.randint(classes, (nodes,), generator=draw),
        name=f"uniform-{nodes}-{edges}",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """A graph, its training nodes, and the sizes that all competitors share."""

    graph: Graph
    rows: Tensor
    width: int = 64
    steps: int = 5
    tau: float = 1.0
    dropout: float = 0.5

    @cached_property
    def dense(self) -> Graph:
        """The same graph with dense features, as PyTorch Geometric's datasets come."""
        return replace(self.graph, x=self.graph.x.to_dense()) if self.graph.is_sparse else self.graph

    @property
    def time(self) -> float:
        return self.steps * self.tau


def problem_of(dataset: Dataset, **sizes: float) -> Problem:
    """The first split of a dataset, in single precision on the CPU."""
    split = make_splits(dataset, None, 1)[0]
    return Problem(graph=dataset.graph.to("cpu", torch.float32), rows=split.train, **sizes)  # type: ignore[arg-type]


def adam(model: nn.Module) -> torch.optim.Optimizer:
    """The optimiser of `gwn train`, for everybody: what is compared is the networks."""
    return make_optimizer(model, TrainConfig(device="cpu"))


def plain_step(model: nn.Module, graph: Graph, rows: Tensor, optimizer: torch.optim.Optimizer) -> float:
    """The training loop of PyTorch Geometric's examples, for the competitors: ours also looks at its gradients."""
    model.train()
    optimizer.zero_grad()
    with flushed_denormals():
        logits = model(graph.x, graph.edge_index, graph.edge_weight)
        loss = F.cross_entropy(logits[rows], graph.labels[rows])
        loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return float(loss.detach())
