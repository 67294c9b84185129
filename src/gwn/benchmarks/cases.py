"""The competitors: each is a function from a problem to one training step. A new one is one entry in `CASES`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

from gwn.benchmarks.floor import floor_kernels
from gwn.benchmarks.floor import run as run_kernels
from gwn.benchmarks.message_passing import MessagePassingGWN
from gwn.benchmarks.peers import PeerGAT, PeerGCN
from gwn.benchmarks.problem import Problem, adam, plain_step
from gwn.benchmarks.timing import Step
from gwn.graph import Graph
from gwn.networks import GWN
from gwn.networks.together import GWNTogether
from gwn.training.fit import train_step
from gwn.training.together import step_together

TOGETHER = 10

MakeStep = Callable[[Problem], Step]


def competitor(model: nn.Module, graph: Graph, problem: Problem) -> Step:
    """One training step of someone else's network."""
    return partial(plain_step, model, graph, problem.rows, adam(model))


def gwn_case(problem: Problem, laplacian: str, **options: Any) -> Step:
    """Ours: what `fit` does in an epoch before it validates, on the graph as `load_dataset` gives it."""
    model = _gwn(problem, laplacian, **options)
    return partial(train_step, model, problem.graph, problem.rows, adam(model))


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


def ten_runs_case(problem: Problem) -> Step:
    """Ten runs in one pass; they share the training rows here, which changes nothing of the work."""
    graph = problem.graph
    models = [_gwn(problem, "sym") for _ in range(TOGETHER)]
    network = GWNTogether(models, graph, [torch.Generator().manual_seed(run) for run in range(TOGETHER)])
    return partial(step_together, network, graph.labels, problem.rows.expand(TOGETHER, -1), adam(network))


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
    "gwn-sym-ten-runs": ten_runs_case,
}
