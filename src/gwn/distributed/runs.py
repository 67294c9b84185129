"""An experiment whose runs are trained by a team of processes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import nn

from gwn.data import Split
from gwn.data.folders.folder import GraphFolder
from gwn.distributed.fit import PartTask, share_out
from gwn.distributed.parts import Part, cut, cut_folder
from gwn.distributed.process_group import Team
from gwn.errors import Diverged, GWNError, TeamBroken
from gwn.graph import Graph
from gwn.networks import GWN
from gwn.outofcore.experiment import folder_facts
from gwn.training.checkpoint import Checkpoint, Checkpoints, Fit
from gwn.training.config import TrainConfig
from gwn.training.experiment import Experiment
from gwn.training.loop import OnEpoch, train_task
from gwn.training.partitions import assign_rows


def check_divisible(model: nn.Module, config: TrainConfig) -> GWN:
    """The network, if its rows can be computed in several processes with the result of one."""
    if not isinstance(model, GWN):
        raise GWNError(
            f"{type(model).__name__} cannot be trained in several processes, only wave networks can; use model "
            f"gwn-sym, gwn-fa or gwn-plus, or one process"
        )
    for part in (model.scheme, model.laplacian):
        if part.indivisible:
            raise GWNError(f"{part.indivisible}, or one process")
    if any(isinstance(module, nn.BatchNorm1d) for module in model.modules()):
        raise GWNError(
            "norm 'batch' averages over all rows, which several processes cannot; use norm 'layer' or 'none'"
        )
    if config.batch_size > 0 and not model.precompute:
        raise GWNError("batch_size needs a network with precompute=true, where a step costs what its nodes cost")
    return model


@dataclass(frozen=True, kw_only=True, eq=False)
class Job:
    """What a process needs to take part in one run, beside its rows and its share of the split."""

    model: GWN
    config: TrainConfig
    metric: str
    threads: int
    generator: torch.Tensor
    checkpoint: Checkpoint | None
    new_rows: bool


class Leader:
    """Process 0: its `fit` stands where `gwn.training.loop.fit` stands in one process.

    partition   how rows are dealt out, see `assign_rows`
    """

    def __init__(self, team: Team, *, partition: str = "auto") -> None:
        self.team, self.partition = team, partition
        self._busy = False
        self._dealt: tuple[Any, ...] = ()
        self._part: Part | None = None
        self._nodes: list[torch.Tensor] = []

    def fit(
        self,
        model: nn.Module,
        graph: Graph | GraphFolder,
        split: Split,
        config: TrainConfig,
        metric: str,
        on_epoch: OnEpoch | None = None,
        checkpoints: Checkpoints | None = None,
    ) -> Fit:
        """Train `model` in place with all processes.

        A graph in memory is dealt out from here; of a graph folder, each process reads its rows.
        """
        network = check_divisible(model, config)
        rows = self._rows_of(network, graph)
        job = Job(
            model=network,
            config=config,
            metric=metric,
            threads=torch.get_num_threads(),
            generator=torch.get_rng_state(),
            checkpoint=None if checkpoints is None else checkpoints.load(),
            new_rows=rows is not None,
        )
        self._busy = True
        self.team.from_leader(job)
        if rows is not None:
            self._part = Part.build(self.team, self.team.deal(rows).load())
        share = self.team.deal(share_out(split, _labels(graph), self._nodes))
        assert self._part is not None
        try:
            fitted = _run(self.team, job, self._part, share, on_epoch, checkpoints)
        except Diverged:
            self._busy = False
            raise
        self._busy = False
        return fitted

    def dismiss(self) -> None:
        """There is no more work: the others may go.

        Not where this process failed in the middle of a run: there they wait for something else, and are told by the
        end of this process.
        """
        if not self._busy:
            with suppress(TeamBroken):
                self.team.from_leader(None)

    def _rows_of(self, model: GWN, graph: Graph | GraphFolder) -> list[Any] | None:
        """The rows of every process, None where they have them already."""
        if isinstance(graph, GraphFolder):
            dealt = (str(graph.path), model.directed, model.self_loops)
            if self._dealt == dealt:
                return None
            found = cut_folder(
                graph,
                self.team.size,
                self.partition,
                directed=model.directed,
                self_loops=model.self_loops,
                dtype=next(model.parameters()).dtype,
            )
            self._dealt, self._nodes = dealt, [part.nodes for part in found]
            return found
        wanted = (graph.x, graph.edge_index, graph.edge_weight, model.directed, model.self_loops, model.precompute)
        if len(self._dealt) == len(wanted) and all(a is b for a, b in zip(self._dealt, wanted, strict=True)):
            return None
        whole = graph.to("cpu")
        if model.precompute and whole.is_sparse:  # what is propagated is dense anyway
            whole = replace(whole, x=whole.x.to_dense())
        adjacency = model.adjacency(whole.x, whole.edge_index, whole.edge_weight)
        rows = cut(whole, adjacency, assign_rows(adjacency, self.team.size, self.partition))
        self._dealt, self._nodes = wanted, [part.nodes for part in rows]
        return rows


def _labels(graph: Graph | GraphFolder) -> torch.Tensor:
    return torch.from_numpy(graph.y.astype("int64")) if isinstance(graph, GraphFolder) else graph.labels.cpu()


def follow(team: Team) -> None:
    """The life of every process but the first: take part in runs until the leader has none left."""
    part: Part | None = None
    while True:
        job: Job | None = team.from_leader(None)
        if job is None:
            return
        torch.set_num_threads(job.threads)
        if job.new_rows:
            part = Part.build(team, team.deal(None).load())
        assert part is not None
        with suppress(Diverged):  # as it did for everybody; the leader tells
            _run(team, job, part, team.deal(None), None, None)


def _run(
    team: Team, job: Job, part: Part, share: Any, on_epoch: OnEpoch | None, checkpoints: Checkpoints | None
) -> Fit:
    torch.set_rng_state(job.generator)
    torch.use_deterministic_algorithms(job.config.deterministic)
    model = job.model.to(team.device)
    task = PartTask(team, model, part, share.to(team.device), job.config, job.metric)
    return train_task(model, task, job.config, on_epoch, resumed=job.checkpoint, checkpoints=checkpoints)


@dataclass(frozen=True, kw_only=True, eq=False)
class TeamExperiment(Experiment):
    """As `Experiment`: the same description, because the result does not depend on the team.

    graph   a folder from which each process reads its own rows; `dataset` then holds labels alone
    """

    leader: Leader
    graph: GraphFolder | None = None

    @classmethod
    def of(cls, experiment: Experiment, leader: Leader, graph: GraphFolder | None = None) -> TeamExperiment:
        """The same experiment for a team."""
        if type(experiment) is not Experiment:
            raise GWNError("--memory works from file to file in one process; leave out --memory or --processes")
        same = {field.name: getattr(experiment, field.name) for field in fields(Experiment)}
        return cls(**same, leader=leader, graph=graph)

    @property
    def sizes(self) -> tuple[int, int]:
        return super().sizes if self.graph is None else (self.graph.num_features, self.graph.num_classes)

    def facts(self) -> dict[str, Any]:
        return super().facts() if self.graph is None else folder_facts(self.graph)

    def fit(
        self, model: nn.Module, graph: Graph, split: Split, on_epoch: OnEpoch | None, checkpoints: Checkpoints
    ) -> Fit:
        source = graph if self.graph is None else self.graph
        return self.leader.fit(model, source, split, self.config, self.dataset.metric, on_epoch, checkpoints)
