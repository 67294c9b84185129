"""The competitors: each is a function from a problem to one training step. A new one is one entry in `CASES`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import nn

from gwn.benchmarks.floor import floor_kernels
from gwn.benchmarks.floor import run as run_kernels
from gwn.benchmarks.message_passing import MessagePassingGWN
from gwn.benchmarks.peers import PeerGAT, PeerGCN
from gwn.benchmarks.problem import Problem, adam, plain_step
from gwn.benchmarks.timing import Step
from gwn.graph import Graph
from gwn.networks import GWN
from gwn.training.fit import train_step

MakeStep = Callable[[Problem], Step]


def competitor(model: nn.Module, graph: Graph, problem: Problem) -> Step:
    """One training step of someone else's network."""
    return partial(plain_step, model, graph, problem.rows, adam(model))


def gwn_case(problem: Problem, laplacian: str, **options: Any) -> Step:
    """Ours: what `fit` does in an epoch before it validates, on the graph as `load_dataset` gives it."""
    graph = problem.graph
    model = GWN(
        graph.num_features,
        problem.width,
        graph.num_classes,
        laplacian=laplacian,
        time=problem.time,
        tau=problem.tau,
        dropout=problem.dropout,
        **options,
    )
    return partial(train_step, model, graph, problem.rows, adam(model))


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


def precomputed_case(problem: Problem) -> Step:
    """Training without a sparse product. Waits for `GWN(..., precompute=True)`; then: one entry in `CASES`."""
    raise NotImplementedError


def ten_runs_case(problem: Problem) -> Step:
    """Ten runs trained together as extra channels. Waits for its API; then: one entry in `CASES`."""
    raise NotImplementedError


CASES: dict[str, MakeStep] = {
    "gwn-sym": partial(gwn_case, laplacian="sym"),
    "gwn-fa": partial(gwn_case, laplacian="fa"),
    "mp-sym": partial(message_passing_case, laplacian="sym"),
    "mp-fa": partial(message_passing_case, laplacian="fa"),
    "gcn": partial(peer_case, network=PeerGCN),
    "gat": partial(peer_case, network=PeerGAT),
    "floor-sym": partial(floor_case, laplacian="sym"),
    "floor-fa": partial(floor_case, laplacian="fa"),
    # "gwn-sym-precomputed": precomputed_case and "gwn-sym-ten-runs": ten_runs_case; their targets stand already.
}
