"""An experiment whose runs are trained by a team of processes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from torch import nn

from gwn.data import Split
from gwn.data.large.folder import GraphFolder
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.scale.experiment import folder_facts
from gwn.scale.runs import Leader
from gwn.training.experiment import Experiment
from gwn.training.loop import Fit, OnEpoch


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

    def fit(self, model: nn.Module, graph: Graph, split: Split, on_epoch: OnEpoch | None, checkpoint: Path) -> Fit:
        source = graph if self.graph is None else self.graph
        return self.leader.fit(model, source, split, self.config, self.dataset.metric, on_epoch, checkpoint)
