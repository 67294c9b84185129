"""The competitors: each is a function from a problem to one training step. A new one is one entry in `CASES`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GCNConv

from benchmarks.floor import floor_kernels
from benchmarks.floor import run as run_kernels
from benchmarks.message_passing import MessagePassingGWN
from benchmarks.problem import Problem, adam, plain_step
from benchmarks.timing import Step
from gwn.graph import Graph
from gwn.networks import GWN
from gwn.training.loop import node_loss, train_step


class PeerGCN(nn.Module):
    """Two `GCNConv`; the normalised edges are cached, which is the faster of the two ways PyG offers."""

    def __init__(self, in_channels: int, hidden_channels: int, out_channels: int, *, dropout: float = 0.5) -> None:
        super().__init__()
        self.dropout = dropout
        self.first = GCNConv(in_channels, hidden_channels, cached=True)
        self.second = GCNConv(hidden_channels, out_channels, cached=True)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        x = F.dropout(x, self.dropout, self.training)
        x = F.relu(self.first(x, edge_index, edge_weight))
        x = F.dropout(x, self.dropout, self.training)
        logits: Tensor = self.second(x, edge_index, edge_weight)
        return logits


class PeerGAT(nn.Module):
    """Two `GATConv`: `heads` heads that share the hidden width (8 x 8), then one."""

    def __init__(
        self, in_channels: int, hidden_channels: int, out_channels: int, *, heads: int = 8, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.dropout = dropout
        width = hidden_channels // heads
        self.first = GATConv(in_channels, width, heads=heads, dropout=dropout)
        self.second = GATConv(width * heads, out_channels, heads=1, concat=False, dropout=dropout)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        x = F.dropout(x, self.dropout, self.training)
        x = F.elu(self.first(x, edge_index))
        x = F.dropout(x, self.dropout, self.training)
        logits: Tensor = self.second(x, edge_index)
        return logits


MakeStep = Callable[[Problem], Step]


def competitor(model: nn.Module, graph: Graph, problem: Problem) -> Step:
    """One training step of someone else's network."""
    return partial(plain_step, model, graph, problem.rows, adam(model))


def gwn_case(problem: Problem, laplacian: str, **options: Any) -> Step:
    """Ours: what `fit` does in an epoch before it validates, on the graph as `load_dataset` gives it."""
    model = _gwn(problem, laplacian, **options)
    return partial(train_step, model, partial(node_loss, model, problem.graph, problem.rows), adam(model))


def _gwn(problem: Problem, laplacian: str, **options: Any) -> GWN:
    return GWN(
        problem.graph.num_features,
        problem.width,
        problem.graph.num_classes,
        laplacian=laplacian,
        time=problem.time,
        tau=problem.tau,
        dropout=problem.dropout,
        **options,
    )


def message_passing_case(problem: Problem, laplacian: str) -> Step:
    """The same network from the paper's equations, on dense features."""
    graph = problem.dense
    model = MessagePassingGWN(
        graph.num_features,
        problem.width,
        graph.num_classes,
        laplacian=laplacian,
        steps=problem.steps,
        tau=problem.tau,
        dropout=problem.dropout,
    )
    return competitor(model, graph, problem)


def peer_case(problem: Problem, network: type[PeerGCN] | type[PeerGAT]) -> Step:
    """PyTorch Geometric's own, on dense features."""
    graph = problem.dense
    model = network(graph.num_features, problem.width, graph.num_classes, dropout=problem.dropout)
    return competitor(model, graph, problem)


def floor_case(problem: Problem, laplacian: str) -> Step:
    """The raw products alone."""
    return partial(run_kernels, floor_kernels(problem, laplacian))


CASES: dict[str, MakeStep] = {
    "gwn-sym": partial(gwn_case, laplacian="sym"),
    "gwn-fa": partial(gwn_case, laplacian="fa"),
    "mp-sym": partial(message_passing_case, laplacian="sym"),
    "mp-fa": partial(message_passing_case, laplacian="fa"),
    "gcn": partial(peer_case, network=PeerGCN),
    "gat": partial(peer_case, network=PeerGAT),
    "floor-sym": partial(floor_case, laplacian="sym"),
    "floor-fa": partial(floor_case, laplacian="fa"),
    "gwn-sym-precomputed": partial(gwn_case, laplacian="sym", precompute=True),
}
