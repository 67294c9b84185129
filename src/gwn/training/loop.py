"""Training on a graph in memory: the steps, and what is evaluated after each epoch."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.adjacency import Adjacency
from gwn.data.splits import Split
from gwn.errors import Diverged, GWNError
from gwn.graph import Graph
from gwn.networks import GWN
from gwn.registry import lookup
from gwn.training.config import TrainConfig
from gwn.training.metrics import METRICS
from gwn.training.partitions import Clusters
from gwn.training.stopping import STOPPING


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
        norms = model.trajectory(graph.x, graph.edge_index, graph.edge_weight).double().square().sum((1, 2)).sqrt()
        finite = torch.isfinite(norms)
        reached = int(finite.sum()) - 1
        growth = float((norms[reached] / norms[0].clamp_min(1e-30)) ** (1 / max(1, reached)))
        what = f"the wave grows {growth:.3g}-fold a step"
        cure = f"use a smaller time or tau (now time={model.time:g}, tau={model.scheme.tau:g}: {model.num_steps} steps)"
        if not bool(finite.all()):
            return Diverged(f"{start}; {what} and overflows at step {reached + 1}; {cure}")
        return Diverged(f"{start}; {what}, to {float(norms[-1]):.3g} at the last step; {cure}, or a smaller lr")
    return Diverged(f"{start}; use a smaller lr")


OnEpoch = Callable[[int, float], None]


@dataclass(frozen=True, kw_only=True)
class Fit:
    """What one run of the loop gave: scores at the epoch chosen on validation, and that epoch's weights."""

    val: float
    test: float
    val_loss: float
    best_epoch: int
    epochs: int
    seconds: float
    weights: dict[str, Tensor]


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One epoch on validation; `test` is asked for only where the epoch is the best so far."""

    val: float
    val_loss: float
    test: Callable[[], float]


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a run stands after an epoch: the best so far, every epoch's validation loss and score, seconds used."""

    epoch: int
    best: Fit
    history: list[tuple[float, float]]
    seconds: float


def choose_epoch(
    model: nn.Module,
    config: TrainConfig,
    train_epoch: Callable[[int], None],
    evaluate: Callable[[int], Evaluation],
    on_epoch: OnEpoch | None = None,
    *,
    resumed: Progress | None = None,
    keep: Callable[[Progress], None] | None = None,
) -> Fit:
    """Train epoch by epoch, keep the one with the best validation score (ties: lower loss), restore its weights.

    resumed   go on from there; model, optimiser and random generator are already as they were
    keep      called after every epoch but the last with all that is needed to go on from it
    """
    stopping = STOPPING[config.stopping](config.patience)
    best: Fit | None = None if resumed is None else resumed.best
    history = [] if resumed is None else list(resumed.history)
    for loss, score in history:
        stopping.should_stop(loss, score)
    epoch = done = len(history)
    started = time.perf_counter() - (0.0 if resumed is None else resumed.seconds)
    for epoch in range(done + 1, config.epochs + 1):
        train_epoch(epoch)
        seen = evaluate(epoch)
        if best is None or (seen.val, -seen.val_loss) > (best.val, -best.val_loss):
            best = Fit(
                val=seen.val,
                test=seen.test(),
                val_loss=seen.val_loss,
                best_epoch=epoch,
                epochs=epoch,
                seconds=0.0,
                weights={name: tensor.detach().clone() for name, tensor in model.state_dict().items()},
            )
        if on_epoch is not None:
            on_epoch(epoch, seen.val)
        history.append((seen.val_loss, seen.val))
        if stopping.should_stop(seen.val_loss, seen.val):
            break
        if keep is not None and epoch < config.epochs:
            keep(Progress(epoch=epoch, best=best, history=history, seconds=time.perf_counter() - started))
    assert best is not None
    model.load_state_dict(best.weights)
    return replace(best, epochs=epoch, seconds=time.perf_counter() - started)


__all__ = [
    "Fit",
    "OnEpoch",
    "fit",
    "flushed_denormals",
    "logits_of",
    "make_optimizer",
    "predict_logits",
    "seed_everything",
    "train_step",
]


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
) -> Fit:
    """Train `model` in place, select the epoch by validation score (ties: lower validation loss), restore it.

    on_validation   called after every epoch with the logits of the validation nodes
    Model and graph must already be on the same device and of the same type; see `run_experiment`.
    """
    if config.batch_size > 0 and not (isinstance(model, GWN) and model.precompute):
        raise GWNError("batch_size needs a network with precompute=true, where a step costs what its nodes cost")
    if config.batch_size > 0 and config.partitions > 0:
        raise GWNError("batch_size and partitions are two ways to cut an epoch; use one of them")
    score = lookup("metric", metric, METRICS)
    y = graph.labels
    train, val, test = (part.to(y.device) for part in (split.train, split.val, split.test))
    evaluated = torch.cat([val, test])
    optimizer = make_optimizer(model, config)
    clusters = Clusters.of(graph, train, config.partitions, config.partitions_per_step) if config.partitions else None

    def train_epoch(epoch: int) -> None:
        whole = ((graph, rows) for rows in _batches(train, config.batch_size))
        for seen, rows in whole if clusters is None else clusters.epoch():
            loss, stepped = train_step(model, seen, rows, optimizer)
            if not stepped:
                raise diverged(model, graph, epoch, loss)

    def evaluate(epoch: int) -> Evaluation:
        model.eval()
        with torch.no_grad():
            logits = logits_of(model, graph, evaluated)
        val_logits, test_logits = logits[: val.numel()], logits[val.numel() :]
        if on_validation is not None:
            on_validation(val_logits)
        val_loss = F.cross_entropy(val_logits, y[val]).item()
        if not math.isfinite(val_loss):
            raise diverged(model, graph, epoch, val_loss)
        return Evaluation(val=score(val_logits, y[val]), val_loss=val_loss, test=lambda: score(test_logits, y[test]))

    return choose_epoch(model, config, train_epoch, evaluate, on_epoch)


def _batches(rows: Tensor, size: int) -> Iterable[Tensor]:
    """All rows at once, or in random order `size` at a time."""
    if size == 0:
        return (rows,)
    shuffled = rows[torch.randperm(rows.numel()).to(rows.device)]
    return [shuffled[start : start + size] for start in range(0, rows.numel(), size)]


def make_optimizer(model: nn.Module, config: TrainConfig) -> torch.optim.Optimizer:
    """Adam, as one fused kernel where the device has it: the plain one is a dozen passes over the weights."""
    fused = config.torch_device.type in ("cpu", "cuda")
    return torch.optim.Adam(model.parameters(), lr=config.lr, weight_decay=config.weight_decay, fused=fused)


def train_step(model: nn.Module, graph: Graph, rows: Tensor, optimizer: torch.optim.Optimizer) -> tuple[float, bool]:
    """One full-batch step on the cross-entropy of the nodes `rows`: the loss, and whether a step could be made.

    None is made where the loss is not finite, or the squared gradient, which Adam divides by, overflows: Adam would
    then stand still unnoticed.
    """
    model.train()
    optimizer.zero_grad(set_to_none=True)
    with flushed_denormals():
        loss = F.cross_entropy(logits_of(model, graph, rows), graph.labels.index_select(0, rows))
        value = loss.item()
        if not math.isfinite(value):
            return value, False
        loss.backward()  # type: ignore[no-untyped-call]
    norms = [torch.linalg.vector_norm(p.grad) for p in model.parameters() if p.grad is not None]
    if not bool(torch.isfinite(torch.stack(norms).sum())):
        return value, False
    optimizer.step()
    return value, True


@contextmanager
def flushed_denormals() -> Iterator[None]:
    """Treat numbers below 1e-38 as zero: a saturated softmax is full of them, and each costs a hundred others."""
    already = float(torch.tensor(1e-40) * 1.0) == 0.0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(already)


def logits_of(model: nn.Module, graph: Graph, rows: Tensor) -> Tensor:
    """Logits of some nodes; a network that can do so computes only those."""
    if isinstance(model, GWN):
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
