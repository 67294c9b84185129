"""The competitors: each is a function from a problem to one training step. A new one is one entry in `COMPETITORS`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GCNConv
from torch_geometric.utils import to_torch_csr_tensor

from benchmarks.message_passing import MessagePassingGWN
from benchmarks.problem import Problem
from gwn.graph import Graph
from gwn.models.peers.gat import GAT
from gwn.models.peers.gcn import GCN
from gwn.networks import GWN
from gwn.training import TrainConfig
from gwn.training.loop import flushed_denormals, make_optimizer, node_loss, train_step

TrainStep = Callable[[], tuple[float, bool]]
"""The loss, and whether a step could be made."""


class PeerGCN(nn.Module):
    """Two `GCNConv`; what they normalise is cached. The edges are an edge list or, faster, a CSR matrix."""

    def __init__(self, in_channels: int, hidden_channels: int, out_channels: int, *, dropout: float = 0.5) -> None:
        super().__init__()
        self.dropout = dropout
        self.first = GCNConv(in_channels, hidden_channels, cached=True)
        self.second = GCNConv(hidden_channels, out_channels, cached=True)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        x = drop_input(x, self.dropout, self.training)
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
        x = drop_input(x, self.dropout, self.training)
        x = F.elu(self.first(x, edge_index))
        x = F.dropout(x, self.dropout, self.training)
        logits: Tensor = self.second(x, edge_index)
        return logits


def drop_input(x: Tensor, p: float, training: bool) -> Tensor:
    """PyTorch's dropout; of a CSR tensor on its stored values."""
    if x.layout != torch.sparse_csr:
        return F.dropout(x, p, training)
    values = F.dropout(x.values(), p, training)
    return torch.sparse_csr_tensor(x.crow_indices(), x.col_indices(), values, x.shape, check_invariants=False)


def adam(model: nn.Module) -> torch.optim.Optimizer:
    """The optimiser of `gwn train`, for everybody: what is compared is the networks."""
    return make_optimizer(model, TrainConfig(device="cpu"))


def plain_step(
    model: nn.Module, graph: Graph, rows: Tensor, optimizer: torch.optim.Optimizer, edges: Tensor | None = None
) -> tuple[float, bool]:
    """The training loop of PyTorch Geometric's examples, for the others: ours also looks at its gradients.

    edges   the adjacency as a matrix, in the place of the edge list
    """
    model.train()
    optimizer.zero_grad()
    with flushed_denormals():
        logits = model(graph.x, *((graph.edge_index, graph.edge_weight) if edges is None else (edges,)))
        loss = F.cross_entropy(logits[rows], graph.labels[rows])
        loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    value = float(loss.detach())
    return value, math.isfinite(value)


def gwn_model(problem: Problem, laplacian: str, **options: Any) -> GWN:
    """Ours, in the sizes of the problem."""
    graph = problem.graph
    sizes: dict[str, Any] = {"time": problem.time, "tau": problem.tau, "dropout": problem.dropout}
    return GWN(graph.num_features, problem.width, graph.num_classes, laplacian=laplacian, **sizes, **options)


def gwn(problem: Problem, laplacian: str, **options: Any) -> TrainStep:
    """What `fit` does in an epoch before it validates, on the graph as `load_dataset` gives it."""
    model = gwn_model(problem, laplacian, **options)
    return partial(train_step, model, partial(node_loss, model, problem.graph, problem.rows), adam(model))


def message_passing(problem: Problem, laplacian: str) -> TrainStep:
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
    return partial(plain_step, model, graph, problem.rows, adam(model))


def peer(problem: Problem, network: type[PeerGCN] | type[PeerGAT], fastest: bool = False, **options: Any) -> TrainStep:
    """PyTorch Geometric's default way, as in its examples: an edge list and dense features. Or its fastest one: sparse
    features where they are sparse, and for a GCN a CSR adjacency; a `GATConv` takes longer with one than without."""
    graph = problem.graph if fastest else problem.dense
    model = network(graph.num_features, problem.width, graph.num_classes, dropout=problem.dropout, **options)
    edges = csr_adjacency(graph) if fastest and network is PeerGCN else None
    return partial(plain_step, model, graph, problem.rows, adam(model), edges)


def csr_adjacency(graph: Graph) -> Tensor:
    """What PyTorch Geometric calls `adj_t`: rows are targets."""
    size = (graph.num_nodes, graph.num_nodes)
    matrix: Tensor = to_torch_csr_tensor(graph.edge_index.flip(0), graph.edge_weight, size=size)
    return matrix


def own_peer(problem: Problem, network: type[GCN] | type[GAT], **options: Any) -> TrainStep:
    """A peer of `gwn train`: sparse features, and the same sparse products as a GWN has."""
    graph = problem.graph
    model = network(graph.num_features, problem.width, graph.num_classes, dropout=problem.dropout, **options)
    return partial(train_step, model, partial(node_loss, model, graph, problem.rows), adam(model))


COMPETITORS: dict[str, Callable[[Problem], TrainStep]] = {
    "gwn-sym": partial(gwn, laplacian="sym"),
    "gwn-fa": partial(gwn, laplacian="fa"),
    "gwn-physical": partial(gwn, laplacian="physical"),
    "gwn-fa-symmetric": partial(gwn, laplacian="fa-symmetric"),
    "gwn-sym-precomputed": partial(gwn, laplacian="sym", precompute=True),
    "gwn-sym-rescaled": partial(gwn, laplacian="sym", scheme="leapfrog-rescaled"),
    "mp-sym": partial(message_passing, laplacian="sym"),
    "mp-fa": partial(message_passing, laplacian="fa"),
    "gcn": partial(peer, network=PeerGCN),
    "gcn-fastest": partial(peer, network=PeerGCN, fastest=True),
    "gcn-own": partial(own_peer, network=GCN),
    "gat": partial(peer, network=PeerGAT),
    "gat-fastest": partial(peer, network=PeerGAT, fastest=True),
    "gat-own": partial(own_peer, network=GAT, attention_dropout=0.5),
    "gat-one-head": partial(peer, network=PeerGAT, heads=1),
}
