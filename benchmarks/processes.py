"""A training step by several processes, against one process on one core and the same with a thread on each of two.

Graphs of the shape of ogbn-arxiv: one with communities, as real graphs have them, and one whose edges lead anywhere.

torchrun starts this module in every process with the job as JSON; the leader prints the answer. While it measures a
step of its own, the others wait for it without using their core.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec

import torch

from benchmarks.competitors import TrainStep, adam, gwn_model
from benchmarks.harness import Result, Row, Settings, Verdict
from benchmarks.problem import arxiv_folder, community_folder, problem_in, sizes_of
from benchmarks.worker import run_python
from gwn.distributed.fit import part_loss
from gwn.distributed.parts import Part, cut
from gwn.distributed.process_group import Message, ProcessGroup, joined
from gwn.training import fixed_threads
from gwn.training.loop import node_loss, train_step
from gwn.training.partitions import assign_rows

PROCESSES = 2
MORE = (4, 8)
"""Beyond the cores of a small machine: what these send is counted, how long they take means little there."""
LOCAL = "communities"
FOLDERS = {LOCAL: community_folder, "anywhere": arxiv_folder}
WIDTH, STEPS = 128, 5


@dataclass(frozen=True, kw_only=True)
class ProcessJob:
    """A graph folder, a network, and for how many seconds a step of one process is repeated."""

    folder: str
    laplacian: str
    partition: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class ProcessAnswer:
    """Milliseconds of the fastest step of one process, with one thread and with two, and of the group, and what the
    group sends in it.

    halo_rows   boundary rows of all processes, each counted where it is needed
    own_rows    rows of the largest part
    """

    one_ms: float
    threads_ms: float
    team_ms: float
    rounds: int
    halo_rows: int
    own_rows: int


def processes(settings: Settings) -> Result:
    """All take turns in one run, one thread a process; METIS where it is installed."""
    partition = "contiguous" if find_spec("pymetis") is None else "metis"
    rows = []
    for name, folder in FOLDERS.items():
        graph = folder(settings)
        for laplacian in ("sym", "fa"):
            for count in (PROCESSES, *(MORE if name == LOCAL else ())):
                settings.say(f"processes: GWN-{laplacian} in {count} processes, {name}")
                job = ProcessJob(
                    folder=str(graph.path), laplacian=laplacian, partition=partition, seconds=settings.seconds
                )
                answer = measure_processes(job, count)
                megabytes = answer.halo_rows * WIDTH * 4 / 1e6
                described = {"model": f"gwn-{laplacian}", "graph": name, "partition": partition, "processes": count}
                rows.append({**described, **asdict(answer), "mb_an_exchange": megabytes})
    cores = os.cpu_count() or 1
    notes = [] if cores >= PROCESSES else [f"this machine has {cores} core: the processes take turns on it"]
    facts = {**sizes_of(graph), "width": WIDTH, "steps": STEPS, "cores": cores}
    return Result(facts=facts, rows=rows, verdicts=process_verdicts(rows), notes=notes)


def process_verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """Two processes are to be half as fast again as one, where a partition has communities to find."""
    what = f"{PROCESSES} processes on {PROCESSES} cores, times as fast as one on one"
    return [
        Verdict(subject=row["model"], what=what, value=row["one_ms"] / row["team_ms"], sign=">=", bar=1.5)
        for row in rows
        if row["graph"] == LOCAL and row["processes"] == PROCESSES
    ]


def measure_processes(job: ProcessJob, count: int) -> ProcessAnswer:
    """The answer of a group that torchrun starts."""
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
    command = [*launcher, "-m", __spec__.name, json.dumps(asdict(job))]
    said = run_python(command, what=f"{count} processes on {job.folder}", threads=1)
    return ProcessAnswer(**json.loads(said.strip().splitlines()[-1]))


def measure_group(group: ProcessGroup, job: ProcessJob) -> ProcessAnswer:
    """All processes call this at the same time."""
    torch.manual_seed(0)
    problem = problem_in(job.folder, width=WIDTH, steps=STEPS)
    graph = problem.graph
    models = [gwn_model(problem, job.laplacian) for _ in "12"]
    adjacency = models[0].adjacency(graph.x, graph.edge_index)
    owned = Message(tensors={"owner": assign_rows(adjacency, group.size, job.partition)}) if group.leads else None
    owner = group.broadcast(owned).tensors["owner"]
    part = Part.build(group, cut(graph, adjacency, owner)[group.rank])
    mine = torch.isin(part.nodes, problem.rows).nonzero().flatten()
    part_of_loss = partial(part_loss, models[1], part, mine, problem.rows.numel())
    of_group = partial(train_step, models[1], part_of_loss, adam(models[1]), group.sum_)
    of_one = partial(train_step, models[0], partial(node_loss, models[0], graph, problem.rows), adam(models[0]))
    if not group.leads:
        del problem, graph, adjacency, of_one
    times: dict[str, list[float]] = {"one": [], "threads": [], "group": []}
    begin, more = time.perf_counter(), True
    while more:
        if group.leads:
            _time(of_one, times["one"])
            with fixed_threads(PROCESSES):
                _time(of_one, times["threads"])
        group.sum_(torch.zeros(1))  # the others wait here
        _time(of_group, times["group"])
        wanted = group.leads and (time.perf_counter() - begin < job.seconds or len(times["one"]) < 3)
        more = bool(group.sum_(torch.tensor([int(wanted)])))
    counts = torch.tensor([part.adjacency.matrix.pattern.exchange.halo_size])  # type: ignore[attr-defined]
    return ProcessAnswer(
        one_ms=1e3 * min(times["one"][1:] or [0.0]),  # the first one builds what later ones reuse
        threads_ms=1e3 * min(times["threads"][1:] or [0.0]),
        team_ms=1e3 * min(times["group"][1:]),
        rounds=len(times["group"]) - 1,
        halo_rows=int(group.sum_(counts)),
        own_rows=int(torch.bincount(owner).max()),
    )


def _time(step: TrainStep, times: list[float]) -> None:
    started = time.perf_counter()
    step()
    times.append(time.perf_counter() - started)


if __name__ == "__main__":
    with fixed_threads(1), joined() as joined_group:
        assert joined_group is not None
        found = measure_group(joined_group, ProcessJob(**json.loads(sys.argv[1])))
        if joined_group.leads:
            print(json.dumps(asdict(found)))
