"""The competitors on a graph folder, and what one of them takes at its peak, measured in a process of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks.cases import PeerGAT, PeerGCN, competitor, gwn_case, peer_case
from benchmarks.problem import Problem
from benchmarks.targets import Verdict
from benchmarks.timing import Step, fixed_threads, run_alone
from gwn.data.folders.folder import GraphFolder
from gwn.data.folders.generate import BlockModel, generate_folder, model_like
from gwn.errors import GWNError
from gwn.registry import lookup
from gwn.training.memory import PeakMemory

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class ScaleSettings:
    """`work` holds generated graphs; `shrink` divides all sizes, for tests."""

    work: Path
    threads: int = 1
    seconds: float = 20.0
    shrink: int = 1
    width: int = 128
    steps: int = 5
    say: Say = lambda line: None

    def arxiv(self) -> GraphFolder:
        """The graph of the shape of ogbn-arxiv."""
        full = model_like("ogbn-arxiv")
        nodes, edges = max(400, full.nodes // self.shrink), max(1000, full.edges // self.shrink)
        return self.graph("arxiv", model_like("ogbn-arxiv", nodes=nodes, edges=edges))

    def ten_million(self) -> GraphFolder:
        """Ten million undirected edges between a million nodes."""
        nodes, edges = 1_000_000 // self.shrink, 10_000_000 // self.shrink
        return self.graph("ten-million", BlockModel(nodes=nodes, edges=edges, features=64, classes=16))

    def graph(self, name: str, model: BlockModel) -> GraphFolder:
        """The graph as a folder below `work`, made where it is not there or not the same."""
        path = self.work / f"{name}-{model.nodes}-{model.edges}"
        try:
            found = GraphFolder.open(path)
            if found.meta["made"] == {"by": "block model", **vars_of(model)}:
                return found
        except GWNError:
            pass
        self.say(f"generating {model.nodes:,} nodes and {model.edges:,} edges")
        return generate_folder(model, path, force=(path / "meta.json").is_file())


def vars_of(model: BlockModel) -> dict[str, Any]:
    """Its fields, as they stand in `meta.json`."""
    from dataclasses import asdict

    return asdict(model)


@dataclass(frozen=True, kw_only=True)
class PartResult:
    """A table of what was measured, and what it says.

    facts   the sizes that all rows share
    rows    one dictionary a line of the table, all with the same keys
    """

    facts: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...]
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "facts": dict(self.facts),
            "rows": [dict(row) for row in self.rows],
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "notes": list(self.notes),
        }


def sizes_of(graph: GraphFolder) -> dict[str, Any]:
    """What a table says about its graph."""
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_arcs // 2,
        "features": graph.num_features,
        "classes": graph.num_classes,
    }


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
