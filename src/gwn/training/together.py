"""Several runs of one configuration in one training loop: the same results as one by one, to rounding, for less."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor

from gwn.data.splits import Split
from gwn.graph import Graph
from gwn.networks import GWN
from gwn.networks.together import GWNTogether
from gwn.registry import lookup
from gwn.training.config import TrainConfig
from gwn.training.divergence import diverged
from gwn.training.fit import Fit, flushed_denormals, make_optimizer
from gwn.training.metrics import METRICS
from gwn.training.stopping import STOPPING


def fit_together(
    build: Callable[[], GWN],
    graph: Graph,
    splits: Sequence[Split],
    seeds: Sequence[int],
    config: TrainConfig,
    metric: str = "accuracy",
) -> list[Fit]:
    """One `Fit` for each split and seed, as `fit` would give after `seed_everything(seed)` and `build()`.

    A run that has stopped leaves the pass, so the others go on faster. Splits must be of equal sizes.
    """
    models, generators = [], []
    for seed in seeds:
        torch.manual_seed(seed)
        models.append(build())
        generators.append(torch.Generator().set_state(torch.get_rng_state()))
    network = GWNTogether(models, graph, generators)
    optimizer = make_optimizer(network, config)
    score, y = lookup("metric", metric, METRICS), graph.labels
    train, val, test = (torch.stack([getattr(split, part) for split in splits]) for part in ("train", "val", "test"))
    stopping = [STOPPING[config.stopping](config.patience) for _ in splits]
    best: list[Fit | None] = [None] * len(splits)
    epochs = [0] * len(splits)
    active = list(range(len(splits)))
    started = time.perf_counter()
    for epoch in range(1, config.epochs + 1):
        losses = step_together(network, y, train[active], optimizer)
        if not bool(torch.isfinite(losses).all()):
            place = int((~torch.isfinite(losses)).nonzero()[0])
            raise diverged(models[active[place]], graph, epoch, float(losses[place]))
        network.eval()
        with torch.no_grad():
            logits = network(torch.cat([val, test], dim=1)[active])
        val_logits, test_logits = logits[:, : val.shape[1]], logits[:, val.shape[1] :]
        val_losses = _losses(val_logits, y, val[active]).tolist()
        stopped = []
        for place, run in enumerate(active):
            if not math.isfinite(val_losses[place]):
                raise diverged(models[run], graph, epoch, val_losses[place])
            val_score, known = score(val_logits[place], y[val[run]]), best[run]
            if known is None or (val_score, -val_losses[place]) > (known.val, -known.val_loss):
                best[run] = Fit(
                    val=val_score,
                    test=score(test_logits[place], y[test[run]]),
                    val_loss=val_losses[place],
                    best_epoch=epoch,
                    epochs=epoch,
                    seconds=0.0,
                    weights=network.weights(place),
                )
            epochs[run] = epoch
            if stopping[run].should_stop(val_losses[place], val_score):
                stopped.append(place)
        if stopped:
            remaining = [place for place in range(len(active)) if place not in stopped]
            active = [active[place] for place in remaining]
            if not active:
                break
            network.keep(remaining, optimizer)
    share = (time.perf_counter() - started) / len(splits)
    return [replace(fit, seconds=share, epochs=epochs[run]) for run, fit in enumerate(best) if fit is not None]


def step_together(network: GWNTogether, y: Tensor, rows: Tensor, optimizer: torch.optim.Optimizer) -> Tensor:
    """One step of every run; their losses, [R]. The sum is differentiated: no run's gradient sees another's loss."""
    network.train()
    optimizer.zero_grad(set_to_none=True)
    with flushed_denormals():
        losses = _losses(network(rows), y, rows)
        if bool(torch.isfinite(losses).all()):
            losses.sum().backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    return losses.detach()


def _losses(logits: Tensor, y: Tensor, rows: Tensor) -> Tensor:
    """The mean cross-entropy of every run, [R], from logits [R, n, c] of the nodes `rows`, [R, n]."""
    each = F.cross_entropy(logits.flatten(0, 1), y[rows.reshape(-1)], reduction="none")
    return each.view(rows.shape).mean(1)
