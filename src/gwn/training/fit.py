"""The one training loop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.data.splits import Split
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.networks import GWN
from gwn.registry import lookup
from gwn.training.config import TrainConfig
from gwn.training.divergence import diverged
from gwn.training.metrics import METRICS
from gwn.training.stopping import STOPPING

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
) -> Fit:
    """Train `model` in place, select the epoch by validation score (ties: lower validation loss), restore it.

    Model and graph must already be on the same device and of the same type; see `run_experiment`.
    """
    if config.batch_size > 0 and not (isinstance(model, GWN) and model.precompute):
        raise GWNError("batch_size needs a network with precompute=true, where a step costs what its nodes cost")
    score = lookup("metric", metric, METRICS)
    y = graph.labels
    train, val, test = (part.to(y.device) for part in (split.train, split.val, split.test))
    evaluated = torch.cat([val, test])
    optimizer = make_optimizer(model, config)
    stopping = STOPPING[config.stopping](config.patience)
    best: Fit | None = None
    started = time.perf_counter()
    epoch = 0
    for epoch in range(1, config.epochs + 1):
        for rows in _batches(train, config.batch_size):
            loss, stepped = train_step(model, graph, rows, optimizer)
            if not stepped:
                raise diverged(model, graph, epoch, loss)
        model.eval()
        with torch.no_grad():
            logits = logits_of(model, graph, evaluated)
        val_logits, test_logits = logits[: val.numel()], logits[val.numel() :]
        val_loss = F.cross_entropy(val_logits, y[val]).item()
        if not math.isfinite(val_loss):
            raise diverged(model, graph, epoch, val_loss)
        val_score = score(val_logits, y[val])
        if best is None or (val_score, -val_loss) > (best.val, -best.val_loss):
            best = Fit(
                val=val_score,
                test=score(test_logits, y[test]),
                val_loss=val_loss,
                best_epoch=epoch,
                epochs=epoch,
                seconds=0.0,
                weights={name: tensor.detach().clone() for name, tensor in model.state_dict().items()},
            )
        if on_epoch is not None:
            on_epoch(epoch, val_score)
        if stopping.should_stop(val_loss, val_score):
            break
    assert best is not None
    model.load_state_dict(best.weights)
    return Fit(**{**best.__dict__, "epochs": epoch, "seconds": time.perf_counter() - started})


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
