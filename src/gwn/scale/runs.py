"""Runs of a team: the leader hands out the graph and the work, the others follow it until it is done."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from gwn.data.large.folder import GraphFolder
from gwn.data.splits import Split
from gwn.errors import Diverged, GWNError, TeamBroken
from gwn.graph import Graph
from gwn.networks import GWN
from gwn.scale.assignment import assign_rows
from gwn.scale.fit_parts import Keeping, fit_part
from gwn.scale.folder_rows import cut_folder
from gwn.scale.parts import Part, cut
from gwn.scale.refuse import check_divisible
from gwn.scale.share import share_out
from gwn.scale.team import Team
from gwn.training.checkpoint import Checkpoint, load_checkpoint
from gwn.training.config import TrainConfig
from gwn.training.loop import Fit, OnEpoch


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
    """Process 0: its `fit` stands where `gwn.training.fit.fit` stands in one process.

    partition   how rows are dealt out, see `assign_rows`
    seconds     between two checkpoints of a run
    fresh       begin anew where there is a checkpoint
    say         hears what a person should know
    """

    def __init__(
        self,
        team: Team,
        *,
        partition: str = "auto",
        seconds: float = 60.0,
        fresh: bool = False,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.team, self.partition, self.seconds, self.fresh, self.say = team, partition, seconds, fresh, say
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
        path: Path | None = None,
    ) -> Fit:
        """Train `model` in place with all processes; with `path`, checkpoints are written there.

        A graph in memory is dealt out from here; of a graph folder, each process reads its rows.
        """
        network = check_divisible(model, config)
        keeping, checkpoint = None, None
        if path is not None:
            keeping = Keeping(
                path=path, key=f"{path.parent.name}/{path.stem} {split.content_hash()[:12]}", seconds=self.seconds
            )
            checkpoint = None if self.fresh else load_checkpoint(path, keeping.key)
            if checkpoint is not None:
                self.say(f"{path.stem}: going on after epoch {checkpoint.progress.epoch}")
        rows = self._rows_of(network, graph)
        job = Job(
            model=network,
            config=config,
            metric=metric,
            threads=torch.get_num_threads(),
            generator=torch.get_rng_state(),
            checkpoint=checkpoint,
            new_rows=rows is not None,
        )
        self._busy = True
        self.team.from_leader(job)
        if rows is not None:
            self._part = Part.build(self.team, self.team.deal(rows).load())
        share = self.team.deal(share_out(split, _labels(graph), self._nodes))
        assert self._part is not None
        try:
            fitted = _run(self.team, job, self._part, share, on_epoch, keeping)
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
            if self._dealt != (str(graph.path), model.self_loops):
                loops, dtype = model.self_loops == "add", next(model.parameters()).dtype
                found = cut_folder(graph, self.team.size, self.partition, loops=loops, dtype=dtype)
                self._dealt, self._nodes = (str(graph.path), model.self_loops), [part.nodes for part in found]
                return found
            return None
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


def _run(team: Team, job: Job, part: Part, share: Any, on_epoch: OnEpoch | None, keeping: Keeping | None) -> Fit:
    torch.set_rng_state(job.generator)
    torch.use_deterministic_algorithms(job.config.deterministic)
    model = job.model.to(team.device)
    if not isinstance(model, GWN):
        raise GWNError("only wave networks are trained in several processes")
    return fit_part(
        team,
        model,
        part,
        share.to(team.device),
        job.config,
        job.metric,
        on_epoch=on_epoch,
        checkpoint=job.checkpoint,
        keeping=keeping,
    )
