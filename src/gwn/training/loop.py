"""The one training loop: epochs, the choice among them on validation alone, and when to stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from torch import Tensor, nn

from gwn.training.config import TrainConfig
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
