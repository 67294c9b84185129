"""The one training loop and its one step, and training on a graph in memory: as a whole, in batches or in parts."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from gwn.adjacency import Adjacency
from gwn.data.splits import Split
from gwn.errors import Diverged, GWNError
from gwn.graph import Graph
from gwn.memory import freed_blocks_kept
from gwn.models import MODELS
from gwn.models.peers.boosted import BoostedTrees
from gwn.networks import GWN
from gwn.networks.bank import BankGWN
from gwn.registry import lookup
from gwn.training.boosting import fit_trees
from gwn.training.checkpoint import Checkpoint, Checkpoints, Curves, Fit, Progress
from gwn.training.config import TrainConfig
from gwn.training.label_input import KnownLabels
from gwn.training.loss import NodeLoss, Scaling, balanced_weights, loss_for, plain_loss
from gwn.training.metrics import METRICS
from gwn.training.outputs import FALLEN, Outputs
from gwn.training.partitions import Clusters
from gwn.training.prior import Prior, PriorCorrection, cost_of_shift, require_converged
from gwn.training.smoothing import Strength, choose_strength
from gwn.training.stopping import SELECT, STOPPING

__all__ = [
    "Evaluation",
    "Fit",
    "Loss",
    "OnEpoch",
    "Task",
    "diverged",
    "fit",
    "flushed_denormals",
    "former_determinism",
    "logits_of",
    "make_optimizer",
    "node_loss",
    "predict_logits",
    "seed_everything",
    "train_epochs",
    "train_step",
    "train_task",
]

OnEpoch = Callable[[int, float], bool | None]
"""Hears of an epoch and its validation score; true ends the training there, as a rule for stopping would."""

Loss = Callable[[], Tensor]


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One epoch on validation; `test` is asked for only where the epoch is the best so far."""

    val: float
    val_loss: float
    test: Callable[[], float]


class Task(ABC):
    """What a network is trained on: all that differs between a graph in memory, in files and in several processes."""

    @abstractmethod
    def losses(self) -> Iterable[Loss]:
        """One epoch: for every step, the function that computes its loss."""

    @abstractmethod
    def evaluate(self) -> Evaluation:
        """The network as it is now, on validation and test; the score counts where the loss is finite."""

    @abstractmethod
    def diverged(self, epoch: int, loss: float) -> Diverged:
        """The error for a loss or a gradient too large to compute with."""

    def outputs(self) -> Outputs | None:
        """What the network says now about validation and test nodes; None where they are too many to hold."""
        return None

    sum_: Callable[[Tensor], Tensor] | None = None
    """Sums a tensor over all processes in place; None where there is one."""
    keeps_freed_memory = True
    """Whether the process may hold somewhat more than it needs, for speed."""


def train_task(
    model: nn.Module,
    task: Task,
    config: TrainConfig,
    on_epoch: OnEpoch | None = None,
    *,
    resumed: Checkpoint | None = None,
    checkpoints: Checkpoints | None = None,
) -> Fit:
    """Train epoch by epoch, keep the one that is best on validation as `config.select` says, restore its weights.

    resumed       go on from there: the result is that of the run that was not interrupted
    checkpoints   where to write all that is needed to go on
    """
    optimizer = make_optimizer(model, config)
    progress = None if resumed is None else resumed.restore(model, optimizer)
    stopping, merit = STOPPING[config.stopping](config.patience, config.select), SELECT[config.select]
    best: Fit | None = None if progress is None else progress.best
    history = [] if progress is None else list(progress.history)
    train_loss = [] if progress is None else list(progress.train_loss)
    for loss, score in history:
        stopping.should_stop(loss, score)
    epoch = done = len(history)
    started = time.perf_counter() - (0.0 if progress is None else progress.seconds)
    with freed_blocks_kept(task.keeps_freed_memory) as after_epoch:
        for epoch in range(done + 1, config.epochs + 1):
            for loss_of in task.losses():
                loss, stepped = train_step(model, loss_of, optimizer, task.sum_)
                if not stepped:
                    raise task.diverged(epoch, loss)
            seen = task.evaluate()
            if not math.isfinite(seen.val_loss):
                raise task.diverged(epoch, seen.val_loss)
            if best is None or merit(seen.val_loss, seen.val) > merit(best.val_loss, best.val):
                best = Fit(
                    val=seen.val,
                    test=seen.test(),
                    val_loss=seen.val_loss,
                    best_epoch=epoch,
                    epochs=epoch,
                    seconds=0.0,
                    weights={name: tensor.detach().clone() for name, tensor in model.state_dict().items()},
                )
            ended = on_epoch is not None and on_epoch(epoch, seen.val)
            history.append((seen.val_loss, seen.val))
            train_loss.append(loss)
            if stopping.should_stop(seen.val_loss, seen.val) or ended:
                break
            after_epoch()
            if checkpoints is not None and epoch < config.epochs:
                seconds = time.perf_counter() - started
                reached = Progress(epoch=epoch, best=best, history=history, seconds=seconds, train_loss=train_loss)
                checkpoints.keep(model, optimizer, reached)
    assert best is not None
    model.load_state_dict(best.weights)
    curves = Curves(train_loss, [loss for loss, _ in history], [score for _, score in history])
    fell = len(history) == 1 or min(curves.val_loss) < FALLEN * curves.val_loss[0]
    seconds = time.perf_counter() - started
    return replace(best, epochs=epoch, seconds=seconds, curves=curves, outputs=task.outputs(), loss_fell=fell)


def train_epochs(model: nn.Module, task: Task, config: TrainConfig) -> None:
    """Train all epochs and keep the last one: nothing is validated."""
    optimizer = make_optimizer(model, config)
    with freed_blocks_kept(task.keeps_freed_memory) as after_epoch:
        for epoch in range(1, config.epochs + 1):
            for loss_of in task.losses():
                loss, stepped = train_step(model, loss_of, optimizer, task.sum_)
                if not stepped:
                    raise task.diverged(epoch, loss)
            after_epoch()


def train_step(
    model: nn.Module,
    loss_of: Loss,
    optimizer: torch.optim.Optimizer,
    sum_: Callable[[Tensor], Tensor] | None = None,
) -> tuple[float, bool]:
    """One step down the gradient of a loss: the loss, and whether a step could be made.

    None is made where the loss is not finite, or the squared gradient, which Adam divides by, overflows: Adam would
    then stand still unnoticed.

    sum_   where several processes have a part of the loss each: sums a tensor over them, in place
    """
    model.train()
    optimizer.zero_grad(set_to_none=True)
    with flushed_denormals():
        loss = loss_of()
        value = loss.item() if sum_ is None else sum_(loss.detach().clone()).item()
        if not math.isfinite(value):
            return value, False
        loss.backward()  # type: ignore[no-untyped-call]
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    if sum_ is not None:
        _sum_gradients_(gradients, sum_)
    if not bool(torch.isfinite(torch.stack([torch.linalg.vector_norm(gradient) for gradient in gradients]).sum())):
        return value, False
    optimizer.step()
    return value, True


def _sum_gradients_(gradients: list[Tensor], sum_: Callable[[Tensor], Tensor]) -> None:
    """Every process's gradients become their sum, in one message."""
    flat = sum_(torch.cat([gradient.flatten() for gradient in gradients]))
    for gradient, summed in zip(gradients, torch.split(flat, [g.numel() for g in gradients]), strict=True):
        gradient.copy_(summed.view_as(gradient))


def make_optimizer(model: nn.Module, config: TrainConfig) -> torch.optim.Optimizer:
    """Adam, as one fused kernel where the device has it: the plain one is a dozen passes over the weights."""
    fused = config.torch_device.type in ("cpu", "cuda")
    groups = parameter_groups(model, config)
    return torch.optim.Adam(groups, lr=config.lr, weight_decay=config.weight_decay, fused=fused)


def parameter_groups(model: nn.Module, config: TrainConfig) -> list[dict[str, Any]]:
    """All parameters in their order; where `config` says so, those of the network's `parameter_group` after the others.

    A network names the parameters and layers of its group in the attribute `parameter_group`; it may be wrapped, for
    known labels or normalised features. Settings for a group that is not there are refused.
    """
    if not config.of_group:
        return [{"params": list(model.parameters())}]
    group = [
        parameter
        for module in model.modules()
        for name, parameter in module.named_parameters()
        if name.partition(".")[0] in getattr(module, "parameter_group", ())
    ]
    if not group:
        name, value = next(iter(config.of_group.items()))
        has = [spec.name for spec in MODELS.values() if any(d.setting == "group_lr" for d in spec.search)]
        raise GWNError(
            f"group_{name}={value:g} is for models with a group of parameters apart ({', '.join(has)}), which this one "
            f"does not have; leave it out, or set {name} for all parameters"
        )
    apart = {id(parameter) for parameter in group}
    others = [parameter for parameter in model.parameters() if id(parameter) not in apart]
    return [{"params": others}, {"params": group, **config.of_group}]


@contextmanager
def flushed_denormals() -> Iterator[None]:
    """Treat numbers below 1e-38 as zero: a saturated softmax is full of them, and each costs a hundred others."""
    already = float(torch.tensor(1e-40) * 1.0) == 0.0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(already)


@contextmanager
def former_determinism() -> Iterator[None]:
    """What `seed_everything` says of deterministic algorithms holds inside; after it, what its caller had said."""
    before = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before, warn_only=warn_only)


def seed_everything(seed: int, deterministic: bool = False) -> None:
    """The same random numbers from here on; with `deterministic`, operations that could still differ are errors."""
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(deterministic)


def fit(
    model: nn.Module,
    graph: Graph,
    split: Split,
    config: TrainConfig,
    metric: str = "accuracy",
    on_epoch: OnEpoch | None = None,
    on_validation: Callable[[Tensor], None] | None = None,
    checkpoints: Checkpoints | None = None,
) -> Fit:
    """Train `model` in place, select the epoch on validation as `config.select` says, restore it.

    on_validation   called after every epoch with the logits of the validation nodes, or their predicted numbers [n, 1]
    checkpoints     go on from the one that is there, and write others
    Model and graph must already be on the same device and of the same type; see `run_experiment`.
    """
    task = GraphTask(model, graph, split, config, metric, on_validation)
    if isinstance(model, BoostedTrees):
        parameter_groups(model, config)  # they have none, and no optimiser that would say so
        return fit_trees(model, task, config, on_epoch)
    resumed = None if checkpoints is None else checkpoints.load()
    fitted = train_task(model, task, config, on_epoch, resumed=resumed, checkpoints=checkpoints)
    if config.smooth == "none" or not isinstance(model, KnownLabels):
        return fitted
    return _smoothed(model, graph, task, metric, fitted)


def _smoothed(model: KnownLabels, graph: Graph, task: GraphTask, metric: str, fitted: Fit) -> Fit:
    """The trained network corrected and smoothed as validation likes it, in place, and what that gives."""
    model.eval()
    task.on_validation = None  # this is no epoch, and validation has chosen it

    def answers(strength: Strength) -> Tensor:
        model.strength.copy_(torch.tensor(strength))
        return task.answers()[0]

    with torch.no_grad():
        chosen, val = choose_strength(answers, graph.labels[task.val], metric)
        model.strength.copy_(torch.tensor(chosen))
    seen = task.evaluate()
    weights = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    return replace(fitted, val=val, test=seen.test(), val_loss=seen.val_loss, weights=weights, outputs=task.outputs())


class GraphTask(Task):
    """A graph in memory: all training nodes at once, `batch_size` of them at a time, or some partitions at a time."""

    def __init__(
        self,
        model: nn.Module,
        graph: Graph,
        split: Split,
        config: TrainConfig,
        metric: str = "accuracy",
        on_validation: Callable[[Tensor], None] | None = None,
    ) -> None:
        if config.batch_size > 0 and isinstance(model, BankGWN) and model.precompute:
            raise GWNError(
                "batch_size is for gwn-sym and gwn-plus with precompute=true; gwn-bank trains on all nodes at once"
            )
        if config.batch_size > 0 and not (isinstance(model, GWN) and model.precompute):
            raise GWNError("batch_size needs a network with precompute=true, where a step costs what its nodes cost")
        if config.batch_size > 0 and config.partitions > 0:
            raise GWNError("batch_size and partitions are two ways to cut an epoch; use one of them")
        self.scaling = Scaling.of(graph.labels, split.train)
        graph = graph if self.scaling is None else replace(graph, y=self.scaling.apply(graph.labels, graph.x.dtype))
        self.model, self.graph, self.batch_size, self.on_validation = model, graph, config.batch_size, on_validation
        self.score = lookup("metric", metric, METRICS)
        y = graph.labels
        self.train, self.val, self.test = (part.to(y.device) for part in (split.train, split.val, split.test))
        weights = balanced_weights(y[self.train], graph.num_classes, config)
        self.loss, self.class_weights = loss_for(weights), weights
        self.prior = prior_correction(graph, self.train, self.val, weights, config, metric)
        parted = (self.train, self.val, self.test)
        others = everyone_else(graph.num_nodes, parted) if config.prior == "em" else self.val[:0]
        self.evaluated = torch.cat([self.val, self.test, others])
        parts, per_step = config.partitions, config.partitions_per_step
        self.clusters = Clusters.of(graph, self.train, parts, per_step) if parts else None

    def losses(self) -> Iterator[Loss]:
        whole = ((self.graph, rows) for rows in _batches(self.train, self.batch_size))
        if isinstance(self.model, KnownLabels) and self.model.shown:
            yield partial(node_loss, self.model.network, *self.model.draw(self.graph), self.loss)
            return
        for seen, rows in whole if self.clusters is None else self.clusters.epoch():
            yield partial(node_loss, self.model, seen, rows, self.loss)

    def evaluate(self) -> Evaluation:
        val, test = self.answers()
        if self.on_validation is not None:
            self.on_validation(val if self.scaling is None else self.scaling.undo(val).unsqueeze(1))
        y_val, y_test = self.graph.labels[self.val], self.graph.labels[self.test]
        val_loss = plain_loss(val, y_val).item()
        return Evaluation(
            val=self.score(val, y_val) if math.isfinite(val_loss) else math.nan,
            val_loss=val_loss,
            test=lambda: self.score(test, y_test) if y_test.numel() else math.nan,
        )

    def outputs(self) -> Outputs:
        return self.outputs_of(self._said())

    def outputs_of(self, said: Tensor) -> Outputs:
        """What outputs of the nodes `evaluated` are worth; refused where their prior could not be found."""
        val, test, prior = self._parts(said)
        if prior is not None:
            require_converged(prior)
        y_train, y_val, y_test = (self.graph.labels[part] for part in (self.train, self.val, self.test))
        shift = None
        if prior is None and self.score is METRICS["accuracy"] and y_val.numel():
            shift = cost_of_shift(val, y_train, y_val, self.class_weights, self.score)
        return Outputs(val=val, y_val=y_val, test=test, y_test=y_test, scaling=self.scaling, prior=prior, shift=shift)

    def answers(self, said: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Outputs for validation and test, corrected for their prior; `said` has those of the nodes `evaluated`."""
        return self._parts(self._said() if said is None else said)[:2]

    @torch.no_grad()
    def _said(self) -> Tensor:
        self.model.eval()
        return logits_of(self.model, self.graph, self.evaluated)

    def _parts(self, said: Tensor) -> tuple[Tensor, Tensor, Prior | None]:
        sizes = [self.val.numel(), self.test.numel()]
        val, test, others = torch.split(said, [*sizes, said.shape[0] - sum(sizes)])
        return (val, test, None) if self.prior is None else self.prior(val, test, others)

    def diverged(self, epoch: int, loss: float) -> Diverged:
        if isinstance(self.model, KnownLabels):
            return diverged(self.model.network, self.model.widened(self.graph), epoch, loss)
        return diverged(self.model, self.graph, epoch, loss)


def prior_correction(
    graph: Graph, train: Tensor, val: Tensor, weights: Tensor | None, config: TrainConfig, metric: str
) -> PriorCorrection | None:
    """The correction that `config.prior` asks for."""
    if config.prior == "none":
        return None
    y, names = graph.labels, [graph.label_name(number) for number in range(graph.num_classes)]
    return PriorCorrection(config.prior, y[train], y[val], names, weights, halves=metric != "roc-auc")


def everyone_else(nodes: int, parts: Iterable[Tensor]) -> Tensor:
    """The nodes that are in none of these parts."""
    left: Tensor | None = None
    for part in parts:
        left = torch.ones(nodes, dtype=torch.bool, device=part.device) if left is None else left
        left[part] = False
    assert left is not None
    return left.nonzero().flatten()


def node_loss(model: nn.Module, graph: Graph, rows: Tensor, loss: NodeLoss | None = None) -> Tensor:
    """The loss of the nodes `rows`: cross-entropy or squared error, unless another is given."""
    return (loss or plain_loss)(logits_of(model, graph, rows), graph.labels.index_select(0, rows))


def _batches(rows: Tensor, size: int) -> Iterable[Tensor]:
    """All rows at once, or in random order `size` at a time."""
    if size == 0:
        return (rows,)
    shuffled = rows[torch.randperm(rows.numel()).to(rows.device)]
    return [shuffled[start : start + size] for start in range(0, rows.numel(), size)]


def logits_of(model: nn.Module, graph: Graph, rows: Tensor) -> Tensor:
    """Logits of some nodes; a network that can do so computes only those."""
    if isinstance(model, (GWN, KnownLabels)):
        only: Tensor = model(graph.x, graph.edge_index, graph.edge_weight, rows=rows)
        return only
    logits: Tensor = model(graph.x, graph.edge_index, graph.edge_weight)
    return logits.index_select(0, rows)


@torch.no_grad()
def predict_logits(model: nn.Module, graph: Graph) -> Tensor:
    """Logits in evaluation mode, [N, c]."""
    model.eval()
    logits: Tensor = model(graph.x, graph.edge_index, graph.edge_weight)
    return logits


class Seen(Protocol):
    """What a network sees of a graph, or of one process's part of it."""

    @property
    def x(self) -> Tensor: ...
    @property
    def edge_index(self) -> Tensor | Adjacency: ...
    @property
    def edge_weight(self) -> Tensor | None: ...


def diverged(model: nn.Module, graph: Seen, epoch: int, loss: float) -> Diverged:
    """The error for a loss or a gradient too large to compute with, with its cause and the setting to change."""
    start = f"training diverged in epoch {epoch}: the loss is {loss:.4g}"
    if any(not bool(torch.isfinite(p).all()) for p in model.parameters()):
        return Diverged(f"{start} because the weights are no longer finite; use a smaller lr")
    if isinstance(model, GWN):
        states = model.trajectory(graph.x, graph.edge_index, graph.edge_weight)
        norms = states.cpu().double().square().sum((1, 2)).sqrt()
        finite = torch.isfinite(norms)
        reached = int(finite.sum()) - 1
        growth = float((norms[reached] / norms[0].clamp_min(1e-30)) ** (1 / max(1, reached)))
        what = f"the wave grows {growth:.3g}-fold a step"
        cure = f"use a smaller time or tau (now time={model.time:g}, tau={model.scheme.tau:g}: {model.num_steps} steps)"
        if not bool(finite.all()):
            return Diverged(f"{start}; {what} and overflows at step {reached + 1}; {cure}")
        return Diverged(f"{start}; {what}, to {float(norms[-1]):.3g} at the last step; {cure}, or a smaller lr")
    if isinstance(model, BankGWN):
        cure = f"use a smaller time or tau (now tau={model.first.scheme.tau:g}, {model.first.steps} steps)"
        return Diverged(f"{start}; {cure}, or a smaller lr")
    if epoch == 1:
        return Diverged(f"{start}; scale the features, use fewer layers, or a smaller lr")
    return Diverged(f"{start}; use a smaller lr")
