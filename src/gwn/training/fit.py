"""Training on a graph in memory: the steps, and what is evaluated after each epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.data.splits import Split
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.networks import GWN
from gwn.registry import lookup
from gwn.scale.clusters import Clusters
from gwn.training.config import TrainConfig
from gwn.training.divergence import diverged
from gwn.training.loop import Evaluation, Fit, OnEpoch, choose_epoch
from gwn.training.metrics import METRICS

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
