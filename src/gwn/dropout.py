"""Dropout whose random numbers do not cost more than the network."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

LEVELS = 1 << 16


def dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """Zero each entry with probability `p`, scale the others by `1 / (1 - p)`.

    On the CPU, PyTorch draws one 64-bit number an entry, which took a quarter of a training step on Cora. Here each
    draw serves four entries, 16 bits each, so the probability is rounded to 1 / 65536; the scale uses the rounded
    one, and the expectation is exact. Other devices have fast kernels of their own.
    """
    if not training or p == 0.0:
        return x
    if x.device.type != "cpu":
        return F.dropout(x, p, training)
    mask = dropout_mask(x, p)
    return x * mask if x.requires_grad else mask.mul_(x)


def dropout_mask(like: Tensor, p: float, generator: torch.Generator | None = None) -> Tensor:
    """A mask of zeros and `1 / (1 - p)`, shaped as `like`."""
    kept = max(1, round((1.0 - p) * LEVELS))
    if kept == LEVELS:
        return torch.ones_like(like)
    draws = torch.empty(-(-like.numel() // 4), dtype=torch.int64, device=like.device)
    draws.random_(-(2**63), None, generator=generator)
    bits = draws.view(torch.int16)[: like.numel()].view(like.shape)
    limit = kept - LEVELS // 2
    # -1 where bits < limit, else 0: in 16-bit integers, whose conversion is much faster than that of booleans.
    return bits.clamp_(limit - 1, limit).sub_(limit).to(like.dtype).mul_(-LEVELS / kept)
