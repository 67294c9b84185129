"""One training step in a process of its own, for its peak of memory.

A process that has trained before holds memory it has already freed, so every figure here comes from a fresh one:
`measure_alone` starts `python -m benchmarks.worker` with a job as JSON and reads its answer.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import torch

from benchmarks.problem import Problem, adam, problem_of, uniform_graph
from benchmarks.timing import fixed_threads, run_alone
from gwn.data import load_dataset
from gwn.errors import GWNError
from gwn.networks import GWN
from gwn.training.loop import node_loss, train_step
from gwn.training.memory import PeakMemory

TRAINING_SHARE = 2
"""Of a generated graph, every second node trains."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """A graph (a dataset's name, or nodes and edges of a generated one), a GWN, and how many threads to use."""

    dataset: str = ""
    nodes: int = 0
    edges: int = 0
    laplacian: str = "sym"
    scheme: str = "leapfrog"
    steps: int = 5
    tau: float = 1.0
    width: int = 64
    threads: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def graph_name(self) -> str:
        return self.dataset or f"{self.nodes:,} nodes, {self.edges:,} edges"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the fresh process found.

    step_mib      what the step added to the process at its peak
    process_mib   the whole process at its peak, loading included
    trained       whether a step could be made: loss and gradient finite
    """

    step_mib: float
    process_mib: float
    loss: float | None
    trained: bool


def measure_alone(job: Job, *, live: bool = True, timeout: float = 1800.0) -> Answer:
    """The answer of a fresh process; `live` and `timeout` as for `run_alone`."""
    what = f"{job.laplacian} with {job.steps} steps on {job.graph_name}"
    said = run_alone(__spec__.name, asdict(job), what=what, threads=job.threads, live=live, timeout=timeout)
    return Answer(**json.loads(said))


def measure_here(job: Job) -> Answer:
    """The work itself; its memory means something only in a fresh process."""
    torch.manual_seed(0)
    device = torch.device("cpu")
    with fixed_threads(job.threads):
        with PeakMemory(device) as setup:
            problem = job_problem(job)
            # Libraries, thread pools and what is kept with the graph (S, its transpose) are not the step's doing.
            train_step(*job_training(job, problem, width=1, steps=2))
            _give_back()
        step = job_training(job, problem, width=job.width, steps=job.steps)
        with PeakMemory(device) as before:
            pass
        with PeakMemory(device) as during:
            loss, trained = train_step(*step)
    if before.mebibytes is None or during.mebibytes is None or setup.mebibytes is None:
        raise GWNError("this system does not tell how much memory a process holds")
    return Answer(
        step_mib=during.mebibytes - before.mebibytes,
        process_mib=max(setup.mebibytes, during.mebibytes),
        loss=loss if abs(loss) < float("inf") else None,
        trained=trained,
    )


def job_problem(job: Job) -> Problem:
    """The graph of a job."""
    if job.dataset:
        return problem_of(load_dataset(job.dataset))
    return Problem(graph=uniform_graph(job.nodes, job.edges), rows=torch.arange(0, job.nodes, TRAINING_SHARE))


def job_training(job: Job, problem: Problem, *, width: int, steps: int) -> tuple[Any, ...]:
    """The arguments of `train_step` for the model of a job."""
    graph = problem.graph
    model = GWN(
        graph.num_features,
        width,
        graph.num_classes,
        laplacian=job.laplacian,
        scheme=job.scheme,
        time=steps * job.tau,
        tau=job.tau,
        **job.options,
    )
    return model, partial(node_loss, model, graph, problem.rows), adam(model)


def _give_back() -> None:
    """Freed memory back to the system, where the C library can be asked to (glibc)."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def main() -> None:
    """Read a job from standard input, print its answer."""
    try:
        answer = measure_here(Job(**json.load(sys.stdin)))
    except GWNError as error:
        sys.exit(str(error))
    print(json.dumps(asdict(answer)))


if __name__ == "__main__":
    main()
