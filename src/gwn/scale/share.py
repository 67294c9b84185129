"""Which of a run's nodes each process has, and how the leader puts their answers together again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from gwn.data.splits import Split


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
