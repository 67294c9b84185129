"""The competitors on a graph folder, and what one of them takes at its peak, measured in a process of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import torch

from gwn.benchmarks.alone import run_alone
from gwn.benchmarks.cases import competitor, gwn_case, peer_case
from gwn.benchmarks.peers import PeerGAT, PeerGCN
from gwn.benchmarks.problem import Problem
from gwn.benchmarks.timing import Step, fixed_threads
from gwn.data.large.folder import GraphFolder
from gwn.errors import GWNError
from gwn.registry import lookup
from gwn.training.memory import PeakMemory


def one_head_gat(problem: Problem) -> Step:
    """PyG's two-layer GAT with a single head of the full width."""
    graph = problem.dense
    model = PeerGAT(graph.num_features, problem.width, graph.num_classes, heads=1, dropout=problem.dropout)
    return competitor(model, graph, problem)


CASES: dict[str, Callable[[Problem], Step]] = {
    "gwn-sym": partial(gwn_case, laplacian="sym"),
    "gwn-fa": partial(gwn_case, laplacian="fa"),
    "gwn-fa-symmetric": partial(gwn_case, laplacian="fa-symmetric"),
    "gcn": partial(peer_case, network=PeerGCN),
    "gat": one_head_gat,
}


@dataclass(frozen=True, kw_only=True)
class ScaleJob:
    """A graph folder and a competitor."""

    folder: str
    case: str
    width: int = 128
    steps: int = 5
    tau: float = 1.0
    threads: int = 1


def problem_on(folder: str | Path, *, width: int, steps: int, tau: float) -> Problem:
    """The folder's graph in memory, with its split by time."""
    data = GraphFolder.open(folder).dataset()
    return Problem(graph=data.graph, rows=data.published["time"][0].train, width=width, steps=steps, tau=tau)


def peak_here(job: ScaleJob) -> float:
    """MiB that two training steps add to a process that has the graph: with all that is kept beside it, such as S."""
    torch.manual_seed(0)
    with fixed_threads(job.threads):
        problem = problem_on(job.folder, width=job.width, steps=job.steps, tau=job.tau)
        make = lookup("case", job.case, CASES)
        with PeakMemory(torch.device("cpu")) as before:
            pass
        with PeakMemory(torch.device("cpu")) as during:
            step = make(problem)
            step()
            step()
    if before.mebibytes is None or during.mebibytes is None:
        raise GWNError("this system does not tell how much memory a process holds")
    return during.mebibytes - before.mebibytes


def peak_alone(job: ScaleJob, timeout: float = 3600.0) -> float:
    """The same in a fresh process."""
    what = f"{job.case} on {job.folder}"
    return float(run_alone(__spec__.name, asdict(job), what=what, threads=job.threads, timeout=timeout))


if __name__ == "__main__":
    print(peak_here(ScaleJob(**json.load(sys.stdin))))
