"""An experiment whose runs are trained by a group of processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor, nn

from gwn.data import Split
from gwn.data.folders.folder import GraphFolder
from gwn.distributed.fit import NodeShare, PartTask, split_among_processes
from gwn.distributed.parts import FolderRows, Part, Rows, cut, cut_folder, rows_of_message
from gwn.distributed.process_group import Message, ProcessGroup
from gwn.errors import Diverged, GWNError, ProcessLost
from gwn.graph import Graph
from gwn.models import model_spec
from gwn.networks import GWN
from gwn.training.checkpoint import Checkpoint, Checkpoints, Fit
from gwn.training.config import TrainConfig
from gwn.training.experiment import Experiment
from gwn.training.loop import OnEpoch, former_determinism, parameter_groups, train_task
from gwn.training.loss import balanced_weights
from gwn.training.metrics import METRICS
from gwn.training.partitions import assign_rows
from gwn.training.prior import cost_of_shift

NO_MORE_WORK = Message(facts={"end": True})


def check_divisible(model: nn.Module, config: TrainConfig) -> GWN:
    """The network, if its rows can be computed in several processes with the result of one."""
    if (config.labels, config.smooth) != ("none", "none"):
        raise GWNError("labels=masked and smooth=correct need the whole graph in one process; leave out --processes")
    if config.prior != "none":
        raise GWNError(f"prior={config.prior} needs all answers in one process; leave out --processes")
    if not isinstance(model, GWN):
        raise GWNError(
            f"{type(model).__name__} cannot be trained in several processes; use model gwn-sym, gwn-fa or "
            f"gwn-plus, or one process"
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
    parameter_groups(model, config)  # refused here rather than in every process
    return model


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What every process builds the network from: a model by its name, its settings, and the sizes of the graph."""

    model: str
    settings: Mapping[str, Any]
    features: int
    classes: int

    def build(self) -> nn.Module:
        return model_spec(self.model).build(self.features, self.classes, **self.settings)


@dataclass(frozen=True, kw_only=True, eq=False)
class Job:
    """What a process needs to take part in one run, beside its rows and its nodes of the split."""

    recipe: Recipe
    weights: dict[str, Tensor]
    config: TrainConfig
    metric: str
    threads: int
    generator: Tensor
    checkpoint: Checkpoint | None
    new_rows: bool

    def to_message(self) -> Message:
        """What the leader sends."""
        facts = {
            "recipe": {**vars(self.recipe), "settings": dict(self.recipe.settings)},
            "config": asdict(self.config),
            "metric": self.metric,
            "threads": self.threads,
            "new_rows": self.new_rows,
            "checkpoint": None,
        }
        tensors = {"generator": self.generator, **{f"weights.{name}": w for name, w in self.weights.items()}}
        if self.checkpoint is not None:
            facts["checkpoint"], members = self.checkpoint.to_parts()
            tensors.update({f"checkpoint.{name}": tensor for name, tensor in members.items()})
        return Message(facts=facts, tensors=tensors)

    @classmethod
    def from_message(cls, message: Message) -> Job:
        """What the others receive."""
        facts = dict(message.facts)
        facts["recipe"], facts["config"] = Recipe(**facts["recipe"]), TrainConfig(**facts["config"])
        if facts["checkpoint"] is not None:
            facts["checkpoint"] = Checkpoint.from_parts(facts["checkpoint"], message.below("checkpoint"))
        return cls(
            **facts,
            weights=message.below("weights"),
            generator=message.tensors["generator"],
        )

    def build(self) -> GWN:
        """The leader's network."""
        model = check_divisible(self.recipe.build(), self.config).to(self.config.torch_dtype)
        model.load_state_dict(self.weights)
        return model


class Leader:
    """Process 0: its `fit` stands where `gwn.training.loop.fit` stands in one process.

    partition   which process owns which rows, see `assign_rows`
    """

    def __init__(self, group: ProcessGroup, *, partition: str = "auto") -> None:
        self.group, self.partition = group, partition
        self._busy = False
        self._placed: tuple[Any, ...] = ()
        self._part: Part | None = None
        self._nodes: list[Tensor] = []

    def fit(
        self,
        recipe: Recipe,
        model: nn.Module,
        graph: Graph | GraphFolder,
        split: Split,
        config: TrainConfig,
        metric: str,
        on_epoch: OnEpoch | None = None,
        checkpoints: Checkpoints | None = None,
    ) -> Fit:
        """Train `model`, which was built from `recipe`, in place with all processes.

        The rows of a graph in memory are sent from here; of a graph folder, each process reads its own.
        """
        network, y = check_divisible(model, config), _labels(graph)
        if y.is_floating_point():
            raise GWNError("numbers are learnt in one process (task regression); leave out --processes")
        rows = self._rows_of(network, graph)
        job = Job(
            recipe=recipe,
            weights=network.state_dict(),
            config=config,
            metric=metric,
            threads=torch.get_num_threads(),
            generator=torch.get_rng_state(),
            checkpoint=None if checkpoints is None else checkpoints.load(),
            new_rows=rows is not None,
        )
        self._busy = True
        self.group.broadcast(job.to_message())
        if rows is not None:
            own = self.group.scatter(part.to_message() for part in rows)
            self._part = Part.build(self.group, rows_of_message(own))
        weights = balanced_weights(y[split.train], graph.num_classes, config)
        shares = split_among_processes(split, y, self._nodes, weights)
        share = NodeShare.from_message(self.group.scatter(Message.of(share) for share in shares))
        assert self._part is not None
        try:
            fitted = _run(self.group, job, network, self._part, share, on_epoch, checkpoints)
        except Diverged:
            self._busy = False
            raise
        self._busy = False
        outputs = fitted.outputs
        if outputs is None or metric != "accuracy" or not outputs.y_val.numel():
            return fitted
        shift = cost_of_shift(outputs.val, y[split.train], outputs.y_val, weights, METRICS[metric])
        return replace(fitted, outputs=replace(outputs, shift=shift))

    def dismiss(self) -> None:
        """There is no more work: the others may go.

        Not where this process failed in the middle of a run: there they wait for something else, and are told by the
        end of this process.
        """
        if not self._busy:
            with suppress(ProcessLost):
                self.group.broadcast(NO_MORE_WORK)

    def _rows_of(self, model: GWN, graph: Graph | GraphFolder) -> Sequence[Rows | FolderRows] | None:
        """The rows of every process, None where they have them already."""
        if isinstance(graph, GraphFolder):
            dtype = next(model.parameters()).dtype
            dealt = (str(graph.path), graph.facts()["hash"], model.directed, model.self_loops, dtype)
            if self._placed == dealt:
                return None
            found = cut_folder(
                graph,
                self.group.size,
                self.partition,
                directed=model.directed,
                self_loops=model.self_loops,
                dtype=dtype,
            )
            self._placed, self._nodes = dealt, [part.nodes for part in found]
            return found
        of_graph = (graph.x, graph.y, graph.edge_index, graph.edge_weight)  # a type is that of x
        wanted = (*of_graph, model.directed, model.self_loops, model.precompute)
        if len(self._placed) == len(wanted) and all(a is b for a, b in zip(self._placed, wanted, strict=True)):
            return None
        whole = graph.to("cpu")
        if model.precompute and whole.is_sparse:  # what is propagated is dense anyway
            whole = replace(whole, x=whole.x.to_dense())
        adjacency = model.adjacency(whole.x, whole.edge_index, whole.edge_weight)
        rows = cut(whole, adjacency, assign_rows(adjacency, self.group.size, self.partition))
        self._placed, self._nodes = wanted, [part.nodes for part in rows]
        return rows


def _labels(graph: Graph | GraphFolder) -> Tensor:
    return torch.from_numpy(graph.y.astype("int64")) if isinstance(graph, GraphFolder) else graph.labels.cpu()


def follow(group: ProcessGroup) -> None:
    """The life of every process but the first: take part in runs until the leader has none left."""
    part: Part | None = None
    while (message := group.broadcast(None)).facts != NO_MORE_WORK.facts:
        job = Job.from_message(message)
        torch.set_num_threads(job.threads)
        if job.new_rows:
            part = Part.build(group, rows_of_message(group.scatter(None)))
        assert part is not None
        share = NodeShare.from_message(group.scatter(None))
        with suppress(Diverged):  # as it did for everybody; the leader tells
            _run(group, job, job.build(), part, share, None, None)


@former_determinism()
def _run(
    group: ProcessGroup,
    job: Job,
    model: GWN,
    part: Part,
    share: NodeShare,
    on_epoch: OnEpoch | None,
    checkpoints: Checkpoints | None,
) -> Fit:
    torch.set_rng_state(job.generator)
    torch.use_deterministic_algorithms(job.config.deterministic)
    model = model.to(group.device)
    task = PartTask(group, model, part, share.to(group.device), job.config, job.metric)
    return train_task(model, task, job.config, on_epoch, resumed=job.checkpoint, checkpoints=checkpoints)


@dataclass(frozen=True, kw_only=True, eq=False)
class DistributedExperiment(Experiment):
    """As `Experiment`: the same description, because the result does not depend on the group.

    graph   a folder from which each process reads its own rows; `dataset` then holds labels alone
    """

    leader: Leader
    graph: GraphFolder | None = None

    @classmethod
    def of(cls, experiment: Experiment, leader: Leader, graph: GraphFolder | None = None) -> DistributedExperiment:
        """The same experiment for a group."""
        if type(experiment) is not Experiment:
            raise GWNError("--memory works from file to file in one process; leave out --memory or --processes")
        same = {field.name: getattr(experiment, field.name) for field in fields(Experiment)}
        return cls(**same, leader=leader, graph=graph)

    @property
    def sizes(self) -> tuple[int, int]:
        return super().sizes if self.graph is None else (self.graph.num_features, self.graph.num_classes)

    def facts(self) -> dict[str, Any]:
        return super().facts() if self.graph is None else self.graph.facts()

    def fit(
        self, model: nn.Module, graph: Graph, split: Split, on_epoch: OnEpoch | None, checkpoints: Checkpoints
    ) -> Fit:
        source = graph if self.graph is None else self.graph
        features, classes = self.sizes
        recipe = Recipe(model=self.model.name, settings=self.settings, features=features, classes=classes)
        return self.leader.fit(recipe, model, source, split, self.config, self.dataset.metric, on_epoch, checkpoints)
