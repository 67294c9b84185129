"""Training in several processes, each on its part of the graph: the same loop, the same numbers.

The loss is the mean over all training nodes, so each process has a share of it and a share of its gradient; their sum
is what one process computes. Weights and optimiser are the same everywhere and never travel.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler

from gwn.data.splits import Split
from gwn.distributed.parts import Part
from gwn.distributed.process_group import Team, blaming_others
from gwn.networks import GWN
from gwn.registry import lookup
from gwn.training.checkpoint import Checkpoint, save_checkpoint
from gwn.training.config import TrainConfig
from gwn.training.loop import (
    Evaluation,
    Fit,
    OnEpoch,
    Progress,
    choose_epoch,
    diverged,
    flushed_denormals,
    make_optimizer,
)
from gwn.training.metrics import METRICS


@dataclass(frozen=True, kw_only=True, eq=False)
class Share:
    """One process's share of a run.

    train, evaluated   own rows that train, and those that validate or test
    train_places       where own training rows stand among those of all processes
    train_size         how many those are
    answers            for the leader: the labels of all evaluated nodes, and how many of them validate
    order              for the leader: puts what the processes send, one after the other, in the order of `answers`
    """

    train: Tensor
    train_places: Tensor
    evaluated: Tensor
    train_size: int
    answers: Tensor | None = None
    order: Tensor | None = None
    val_size: int = 0

    def to(self, device: torch.device) -> Share:
        """The same on another device."""
        moved: dict[str, Any] = {n: v.to(device) for n, v in vars(self).items() if isinstance(v, Tensor)}
        return replace(self, **moved)


def share_out(split: Split, y: Tensor, nodes: Sequence[Tensor]) -> list[Share]:
    """The share of every process; `nodes` has the nodes that each owns, in the order of its rows."""
    place = torch.full((y.numel(),), -1)
    place[split.train] = torch.arange(split.train.numel())
    evaluated = torch.cat([split.val, split.test])
    asked = torch.full((y.numel(),), -1)
    asked[evaluated] = torch.arange(evaluated.numel())
    shares = []
    for own in nodes:
        train = (place[own] >= 0).nonzero().flatten()
        shares.append(
            Share(
                train=train,
                train_places=place[own[train]],
                train_size=split.train.numel(),
                evaluated=(asked[own] >= 0).nonzero().flatten(),
            )
        )
    sent = torch.cat([asked[own[share.evaluated]] for own, share in zip(nodes, shares, strict=True)])
    leader = replace(shares[0], answers=y[evaluated], order=torch.argsort(sent), val_size=split.val.numel())
    return [leader, *shares[1:]]


Steps = Callable[[], Iterator[tuple[float, bool]]]
"""One epoch: for every step the loss, and whether it could be made."""


def whole_steps(
    team: Team, model: GWN, part: Part, share: Share, config: TrainConfig, optimizer: torch.optim.Optimizer
) -> Steps:
    """One step an epoch, on all training nodes: the processes meet in every product of the wave."""
    return lambda: iter([part_step(team, model, part, share, optimizer)])


def part_step(team: Team, model: GWN, part: Part, share: Share, optimizer: torch.optim.Optimizer) -> tuple[float, bool]:
    """As `gwn.training.loop.train_step`: the loss of all training nodes, and whether a step could be made."""
    model.train()
    optimizer.zero_grad(set_to_none=True)
    with flushed_denormals():
        logits = model(part.x, part.adjacency, rows=share.train)
        loss = F.cross_entropy(logits, part.y[share.train], reduction="sum") / share.train_size
        value = team.sum_(loss.detach().clone()).item()
        if not math.isfinite(value):
            return value, False
        loss.backward()  # type: ignore[no-untyped-call]
    if not bool(torch.isfinite(sum_gradients_(team, model.parameters()))):
        return value, False
    optimizer.step()
    return value, True


def sum_gradients_(team: Team, parameters: Iterable[Tensor]) -> Tensor:
    """Every process's gradients become their sum, in one message; the sum of their norms."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    flat = team.sum_(torch.cat([gradient.flatten() for gradient in gradients]))
    for gradient, summed in zip(gradients, torch.split(flat, [g.numel() for g in gradients]), strict=True):
        gradient.copy_(summed.view_as(gradient))
    return torch.stack([torch.linalg.vector_norm(gradient) for gradient in gradients]).sum()


class OwnBatches(DistributedSampler[Tensor]):
    """Batches drawn from all training nodes, of which each process takes the rows that it owns.

    Everybody draws the same permutation, so the batches are those of one process, and no row ever travels.
    """

    def __init__(self, team: Team, share: Share, size: int) -> None:
        super().__init__(range(share.train_size), num_replicas=team.size, rank=team.rank)  # type: ignore[arg-type]
        self.size, self.train_size = size or share.train_size, share.train_size
        self.whole = share.train if size == 0 else None
        self.row_at = torch.full((share.train_size,), -1)
        self.row_at[share.train_places.cpu()] = share.train.cpu()
        self.device = share.train.device

    def __len__(self) -> int:
        return -(-self.train_size // self.size)

    def __iter__(self) -> Iterator[Tensor]:
        if self.whole is not None:
            yield self.whole
            return
        order = torch.randperm(self.train_size)
        for batch in torch.split(order, self.size):
            rows = self.row_at[batch]
            yield rows[rows >= 0].to(self.device)


def replicated_steps(
    team: Team, model: GWN, part: Part, share: Share, config: TrainConfig, optimizer: torch.optim.Optimizer
) -> Steps:
    """Mini-batches of propagated features: they meet only where `DistributedDataParallel` averages gradients."""
    with blaming_others():
        replica = DistributedDataParallel(model)
    sampler = OwnBatches(team, share, config.batch_size)

    def steps() -> Iterator[tuple[float, bool]]:
        for number, rows in enumerate(sampler):
            size = min(sampler.size, share.train_size - number * sampler.size)
            model.train()
            optimizer.zero_grad(set_to_none=True)
            with flushed_denormals(), blaming_others():
                logits = replica(part.x, part.adjacency, rows=rows)
                loss = F.cross_entropy(logits, part.y[rows], reduction="sum") / size
                value = team.sum_(loss.detach().clone()).item()
                if not math.isfinite(value):
                    yield value, False
                    return
                scaled = loss * team.size  # gradients are averaged over the processes: the sum again
                scaled.backward()  # type: ignore[no-untyped-call]
            norms = torch.stack([torch.linalg.vector_norm(p.grad) for p in model.parameters() if p.grad is not None])
            stepped = bool(torch.isfinite(norms.sum()))
            if stepped:
                optimizer.step()
            yield value, stepped

    return steps


@dataclass(frozen=True, kw_only=True, eq=False)
class Keeping:
    """Where the leader writes checkpoints, for which run, and how many seconds apart."""

    path: Path
    key: str
    seconds: float


def fit_part(
    team: Team,
    model: GWN,
    part: Part,
    share: Share,
    config: TrainConfig,
    metric: str,
    *,
    on_epoch: OnEpoch | None = None,
    checkpoint: Checkpoint | None = None,
    keeping: Keeping | None = None,
) -> Fit:
    """As `gwn.training.loop.fit`, called by all processes at the same time; each returns the same."""
    optimizer = make_optimizer(model, config)
    resumed = None if checkpoint is None else checkpoint.restore(model, optimizer)
    make_steps = replicated_steps if model.precompute else whole_steps
    steps = make_steps(team, model, part, share, config, optimizer)
    saved = time.monotonic()

    def train_epoch(epoch: int) -> None:
        for loss, stepped in steps():
            if not stepped:
                raise diverged(model, part, epoch, loss)

    def evaluate(epoch: int) -> Evaluation:
        val_loss, val, test = _evaluate(team, model, part, share, metric)
        if not math.isfinite(val_loss):
            raise diverged(model, part, epoch, val_loss)
        return Evaluation(val=val, val_loss=val_loss, test=lambda: test)

    def keep(progress: Progress) -> None:
        nonlocal saved
        if keeping is not None and time.monotonic() - saved >= keeping.seconds:
            save_checkpoint(keeping.path, keeping.key, model, optimizer, progress)
            saved = time.monotonic()

    return choose_epoch(model, config, train_epoch, evaluate, on_epoch, resumed=resumed, keep=keep)


def _evaluate(team: Team, model: GWN, part: Part, share: Share, metric: str) -> tuple[float, float, float]:
    """Validation loss, validation score and test score: computed by the leader, told to everybody."""
    model.eval()
    with torch.no_grad():
        logits = team.gather(model(part.x, part.adjacency, rows=share.evaluated))
    scores = torch.zeros(3, dtype=torch.float64, device=team.device)
    if logits is not None:
        assert share.answers is not None
        assert share.order is not None
        score, logits = lookup("metric", metric, METRICS), logits[share.order]
        (val, test), (y_val, y_test) = (
            (rows[: share.val_size], rows[share.val_size :]) for rows in (logits, share.answers)
        )
        scores[0] = F.cross_entropy(val, y_val)
        if math.isfinite(float(scores[0])):
            scores[1], scores[2] = score(val, y_val), score(test, y_test)
    found: list[float] = team.sum_(scores).tolist()
    return found[0], found[1], found[2]
