"""Why a run overflowed: the states of the wave are looked at, and the cause is named."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn

from gwn.errors import Diverged
from gwn.networks import GWN


class Seen(Protocol):
    """What a network sees of a graph, or of one process's part of it."""

    @property
    def x(self) -> Tensor: ...
    @property
    def edge_index(self) -> Tensor: ...
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
