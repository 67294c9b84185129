"""Training steps in a process of their own, for their peak of memory.

A process that has trained before holds memory it has already freed, so every figure here comes from a fresh one:
`measure_alone` starts `python -m benchmarks.worker` with a job as JSON and reads its answer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

import gwn.kernels
from benchmarks.competitors import COMPETITORS
from benchmarks.problem import Problem, problem_in, problem_of, uniform_graph
from gwn.data import load_dataset
from gwn.errors import GWNError
from gwn.memory import PeakMemory, give_back_freed_blocks
from gwn.registry import lookup
from gwn.training import fixed_threads

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, kw_only=True)
class Job:
    """A graph (a dataset's name, a folder, or nodes and edges of a generated one), a competitor, and its sizes.

    warm   a narrow step is made beforehand, so that libraries and what is kept with the graph (S, its transpose) do not
           count; otherwise they do, with the model and two steps of it
    live   the C library gives every freed tensor back at once, so that the peak is what was in use: figures repeat to
           half a per cent, where its own thresholds add or leave out a tensor or two. False: as any user's process
           is, which is the question where the memory of the whole process is meant.
    """

    model: str = "gwn-sym"
    dataset: str = ""
    folder: str = ""
    nodes: int = 0
    edges: int = 0
    community: int = 0
    width: int = 64
    steps: int = 5
    tau: float = 1.0
    threads: int = 1
    warm: bool = True
    live: bool = True

    @property
    def graph_name(self) -> str:
        return self.dataset or self.folder or f"{self.nodes:,} nodes, {self.edges:,} edges"

    def problem(self) -> Problem:
        """The graph in memory; of a generated one, every second node trains."""
        sizes: dict[str, Any] = {"width": self.width, "steps": self.steps, "tau": self.tau}
        if self.dataset:
            return problem_of(load_dataset(self.dataset), **sizes)
        if self.folder:
            return problem_in(self.folder, **sizes)
        graph = uniform_graph(self.nodes, self.edges, community=self.community)
        return Problem(graph=graph, rows=torch.arange(0, self.nodes, 2), **sizes)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the fresh process found.

    step_mib      what training added to the process at its peak
    process_mib   the whole process at its peak, loading included
    trained       whether a step could be made: loss and gradient finite
    """

    step_mib: float
    process_mib: float
    loss: float | None
    trained: bool


def measure_alone(job: Job) -> Answer:
    """The answer of a fresh process."""
    what = f"{job.model} with {job.steps} steps on {job.graph_name}"
    said = run_python(
        ["-m", __spec__.name], what=what, threads=job.threads, live=job.live, given=json.dumps(asdict(job))
    )
    return Answer(**json.loads(said))


def run_python(
    arguments: Sequence[str], *, what: str, threads: int, live: bool = False, given: str = "", timeout: float = 3600.0
) -> str:
    """What `python ARGUMENTS` prints; `live` as in `Job`."""
    finished = subprocess.run(
        [sys.executable, *arguments],
        input=given,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**process_environment(threads), **({"MALLOC_MMAP_THRESHOLD_": "131072"} if live else {})},
    )
    if finished.returncode != 0 or not finished.stdout.strip():
        said = finished.stderr.strip().splitlines() or [f"ended with code {finished.returncode}"]
        last = [line for line in said if "Error" in line][-1:] or said[-1:]
        raise GWNError(f"{what} could not be measured: {last[0]}")
    return finished.stdout


def process_environment(threads: int) -> dict[str, str]:
    """So many threads, and the benchmarks found from any working directory."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads), "PYTHONPATH": path}


def measure_here(job: Job) -> Answer:
    """The work itself; its memory means something only in a fresh process."""
    torch.manual_seed(0)
    device = torch.device("cpu")
    make = lookup("competitor", job.model, COMPETITORS)
    with fixed_threads(job.threads):
        with PeakMemory(device) as setup:
            problem = job.problem()
            if job.warm:
                _warm_up(make, problem)
        step = make(problem) if job.warm else None
        with PeakMemory(device) as before:
            pass
        with PeakMemory(device) as during:
            if step is None:
                step = make(problem)
                step()
            loss, trained = step()
    if before.mebibytes is None or during.mebibytes is None or setup.mebibytes is None:
        raise GWNError("this system does not tell how much memory a process holds")
    return Answer(
        step_mib=during.mebibytes - before.mebibytes,
        process_mib=max(setup.mebibytes, during.mebibytes),
        loss=loss if abs(loss) < float("inf") else None,
        trained=trained,
    )


def _warm_up(make: Callable[[Problem], Any], problem: Problem) -> None:
    """A narrow step with compiled kernels, which so small a product would do without: their library counts as one."""
    usual, gwn.kernels.SMALLEST = gwn.kernels.SMALLEST, 0
    try:
        make(replace(problem, width=1, steps=2))()
    finally:
        gwn.kernels.SMALLEST = usual
    give_back_freed_blocks()


def main() -> None:
    """Read a job from standard input, print its answer."""
    try:
        answer = measure_here(Job(**json.load(sys.stdin)))
    except GWNError as error:
        sys.exit(str(error))
    print(json.dumps(asdict(answer)))


if __name__ == "__main__":
    main()
