"""The training steps of one epoch in several processes: on the whole graph, or on rows of propagated features."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler

from gwn.dropout import Numbers, drawn_by_number
from gwn.networks import GWN
from gwn.scale.parts import Part
from gwn.scale.share import Share
from gwn.scale.team import Team, blaming_others
from gwn.training.config import TrainConfig
from gwn.training.fit import flushed_denormals

Steps = Callable[[], Iterator[tuple[float, bool]]]
"""One epoch: for every step the loss, and whether it could be made."""


def whole_steps(
    team: Team, model: GWN, part: Part, share: Share, config: TrainConfig, optimizer: torch.optim.Optimizer
) -> Steps:
    """One step an epoch, on all training nodes: the processes meet in every product of the wave."""
    numbers = numbers_of(part, share.train)
    return lambda: iter([part_step(team, model, part, share, numbers, optimizer)])


def numbers_of(part: Part, rows: Tensor) -> Numbers:
    """What the rows of every tensor that meets dropout are called in all processes, see `gwn.dropout`."""
    numbers = {(2, part.nodes.numel()): part.nodes, (2, rows.numel()): part.nodes[rows]}
    if part.x.layout == torch.sparse_csr:  # of sparse features, only the stored values are dropped
        row = torch.repeat_interleave(part.nodes, part.x.crow_indices().diff())
        numbers[1, row.numel()] = row * part.x.shape[1] + part.x.col_indices()
    return numbers


def part_step(
    team: Team, model: GWN, part: Part, share: Share, numbers: Numbers, optimizer: torch.optim.Optimizer
) -> tuple[float, bool]:
    """As `gwn.training.fit.train_step`: the loss of all training nodes, and whether a step could be made."""
    model.train()
    optimizer.zero_grad(set_to_none=True)
    with flushed_denormals():
        with drawn_by_number(numbers):
            logits = model(part.x, part.edge_index, rows=share.train)
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
                logits = replica(part.x, part.edge_index, rows=rows)
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
