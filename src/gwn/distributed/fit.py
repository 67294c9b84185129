"""Training in several processes, each on its part of the graph: the same loop, the same numbers.

The loss is the mean over all training nodes, so each process has a share of it and a share of its gradient; their sum
is what one process computes. Weights and optimiser are the same everywhere and never travel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from gwn.data.splits import Split
from gwn.distributed.parts import Part
from gwn.distributed.process_group import Message, ProcessGroup
from gwn.errors import Diverged
from gwn.networks import GWN
from gwn.registry import lookup
from gwn.training.config import TrainConfig
from gwn.training.loop import Evaluation, Loss, Task, diverged
from gwn.training.metrics import METRICS
from gwn.training.outputs import Outputs


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeShare:
    """One process's share of a run.

    train, evaluated   own rows that train, and those that validate or test
    train_places       where own training rows stand among those of all processes
    train_size         how many those are
    class_weights      what a node of each class weighs in the loss, None for one
    answers            for the leader: the labels of all evaluated nodes, and how many of them validate
    order              for the leader: puts what the processes send, one after the other, in the order of `answers`
    """

    train: Tensor
    train_places: Tensor
    evaluated: Tensor
    train_size: int
    class_weights: Tensor | None = None
    answers: Tensor | None = None
    order: Tensor | None = None
    val_size: int = 0

    @classmethod
    def from_message(cls, message: Message) -> NodeShare:
        """What a process receives."""
        return cls(**message.fields)

    def to(self, device: torch.device) -> NodeShare:
        """The same on another device."""
        moved: dict[str, Any] = {n: v.to(device) for n, v in vars(self).items() if isinstance(v, Tensor)}
        return replace(self, **moved)


def split_among_processes(
    split: Split, y: Tensor, nodes: Sequence[Tensor], class_weights: Tensor | None = None
) -> list[NodeShare]:
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
            NodeShare(
                train=train,
                train_places=place[own[train]],
                train_size=split.train.numel(),
                evaluated=(asked[own] >= 0).nonzero().flatten(),
                class_weights=class_weights,
            )
        )
    sent = torch.cat([asked[own[share.evaluated]] for own, share in zip(nodes, shares, strict=True)])
    leader = replace(shares[0], answers=y[evaluated], order=torch.argsort(sent), val_size=split.val.numel())
    return [leader, *shares[1:]]


def part_loss(model: GWN, part: Part, rows: Tensor, size: int, weights: Tensor | None = None) -> Tensor:
    """What own `rows` add to the mean cross-entropy of `size` nodes, whose other rows other processes own."""
    logits = model(part.x, part.adjacency, rows=rows)
    weights = None if weights is None else weights.to(logits.dtype)
    return F.cross_entropy(logits, part.y[rows], weight=weights, reduction="sum") / size


class PartTask(Task):
    """One process's part of the graph: the same steps as one process makes, each on the rows that are owned here."""

    def __init__(
        self,
        group: ProcessGroup,
        model: GWN,
        part: Part,
        share: NodeShare,
        config: TrainConfig,
        metric: str = "accuracy",
    ) -> None:
        self.group, self.model, self.part, self.share, self.metric = group, model, part, share, metric
        self.batch_size = config.batch_size
        self.sum_ = group.sum_

    def losses(self) -> Iterator[Loss]:
        for rows, size in self._batches():
            yield partial(part_loss, self.model, self.part, rows, size, self.share.class_weights)

    def _batches(self) -> Iterator[tuple[Tensor, int]]:
        """Own rows of every batch, and how many rows it has in all processes.

        Everybody draws the same permutation of all training nodes, so the batches are those of one process, and no row
        ever travels.
        """
        share = self.share
        if self.batch_size == 0:
            yield share.train, share.train_size
            return
        row_at = torch.full((share.train_size,), -1)
        row_at[share.train_places.cpu()] = share.train.cpu()
        for batch in torch.split(torch.randperm(share.train_size), self.batch_size):
            rows = row_at[batch]
            yield rows[rows >= 0].to(share.train.device), batch.numel()

    def evaluate(self) -> Evaluation:
        """Computed by the leader, told to everybody."""
        answers = self.outputs()
        scores = torch.zeros(3, dtype=torch.float64, device=self.group.device)
        if answers is not None:
            score = lookup("metric", self.metric, METRICS)
            scores[0] = F.cross_entropy(answers.val, answers.y_val)
            if math.isfinite(float(scores[0])):
                scores[1] = score(answers.val, answers.y_val)
                scores[2] = score(answers.test, answers.y_test) if answers.y_test.numel() else math.nan
        val_loss, val_score, test_score = self.group.sum_(scores).tolist()
        return Evaluation(val=val_score, val_loss=val_loss, test=lambda: test_score)

    @torch.no_grad()
    def outputs(self) -> Outputs | None:
        """Everybody computes, the leader has them."""
        self.model.eval()
        share = self.share
        logits = self.group.gather(self.model(self.part.x, self.part.adjacency, rows=share.evaluated))
        if logits is None:
            return None
        assert share.answers is not None
        assert share.order is not None
        logits, val = logits[share.order], share.val_size
        return Outputs(val=logits[:val], y_val=share.answers[:val], test=logits[val:], y_test=share.answers[val:])

    def diverged(self, epoch: int, loss: float) -> Diverged:
        return diverged(self.model, self.part, epoch, loss)
