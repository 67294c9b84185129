"""One training step by one process and by a team, in turns: what every process of `scale_parts/processes.py` runs.

Started by torchrun with the job as JSON; the leader prints the answer. While it measures a step of its own, the others
wait for it without using their core.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from functools import partial

import torch

from benchmarks.problem import adam
from benchmarks.scale_part import problem_on
from benchmarks.timing import fixed_threads
from gwn.distributed.fit import part_loss
from gwn.distributed.parts import Part, cut
from gwn.distributed.process_group import Team, joined
from gwn.networks import GWN
from gwn.training.loop import node_loss, train_step
from gwn.training.partitions import assign_rows


@dataclass(frozen=True, kw_only=True)
class ProcessJob:
    """A graph folder, a network, and for how many seconds a step of one process is repeated."""

    folder: str
    laplacian: str
    partition: str
    width: int
    steps: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class ProcessAnswer:
    """Milliseconds of the fastest step of one process and of the team, and what the team sends in it.

    halo_rows   boundary rows of all processes, each counted where it is needed
    own_rows    rows of the largest part
    """

    one_ms: float
    team_ms: float
    rounds: int
    halo_rows: int
    own_rows: int


def measure_team(team: Team, job: ProcessJob) -> ProcessAnswer:
    """All processes call this at the same time."""
    torch.manual_seed(0)
    problem = problem_on(job.folder, width=job.width, steps=job.steps, tau=1.0)
    graph = problem.graph
    sizes = graph.num_features, job.width, graph.num_classes
    models = [GWN(*sizes, laplacian=job.laplacian, time=problem.time, tau=1.0, dropout=problem.dropout) for _ in "12"]
    adjacency = models[0].adjacency(graph.x, graph.edge_index)
    owner = team.from_leader(assign_rows(adjacency, team.size, job.partition) if team.leads else None)
    part = Part.build(team, cut(graph, adjacency, owner)[team.rank])
    mine = torch.isin(part.nodes, problem.rows).nonzero().flatten()
    part_of_loss = partial(part_loss, models[1], part, mine, problem.rows.numel())
    together = partial(train_step, models[1], part_of_loss, adam(models[1]), team.sum_)
    alone = partial(train_step, models[0], partial(node_loss, models[0], graph, problem.rows), adam(models[0]))
    if not team.leads:
        del problem, graph, adjacency, alone
    times: dict[str, list[float]] = {"one": [], "team": []}
    begin, more = time.perf_counter(), True
    while more:
        if team.leads:
            _time(alone, times["one"])
        team.sum_(torch.zeros(1))  # the others wait here
        _time(together, times["team"])
        more = bool(team.from_leader(time.perf_counter() - begin < job.seconds or len(times["one"]) < 3))
    counts = torch.tensor([part.adjacency.matrix.pattern.exchange.halo_size])  # type: ignore[attr-defined]
    return ProcessAnswer(
        one_ms=1e3 * min(times["one"][1:] or [0.0]),  # the first one builds what later ones reuse
        team_ms=1e3 * min(times["team"][1:]),
        rounds=len(times["team"]) - 1,
        halo_rows=int(team.sum_(counts)),
        own_rows=int(torch.bincount(owner).max()),
    )


def _time(step: partial[tuple[float, bool]], times: list[float]) -> None:
    started = time.perf_counter()
    step()
    times.append(time.perf_counter() - started)


if __name__ == "__main__":
    with fixed_threads(1), joined() as joined_team:
        assert joined_team is not None
        answer = measure_team(joined_team, ProcessJob(**json.loads(sys.argv[1])))
        if joined_team.leads:
            print(json.dumps(asdict(answer)))
