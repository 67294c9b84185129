"""Dropout whose random numbers do not cost more than the network."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from gwn import kernels
from gwn.errors import GWNError
from gwn.sparse import Pattern, SparseMatrix

LEVELS = 1 << 16


def check_dropout(**shares: float) -> None:
    """Refuse a probability outside of [0, 1), by the name that it was given under."""
    for name, share in shares.items():
        if not 0.0 <= share < 1.0:
            raise GWNError(f"{name} must be in [0, 1); got {share}")


def dropout(x: Tensor, p: float, training: bool, numbers: Tensor | None = None) -> Tensor:
    """Zero each entry with probability `p`, scale the others by `1 / (1 - p)`.

    On the CPU, PyTorch draws one 64-bit number an entry, which took a quarter of a training step on Cora. Here each
    draw serves four entries, 16 bits each, so the probability is rounded to 1 / 65536; the scale uses the rounded
    one, and the expectation is exact. Other devices have fast kernels of their own.

    numbers   what the rows of `x` are called in all processes that share a graph; see `numbered_mask`
    """
    if not training or p == 0.0:
        return x
    if numbers is not None:
        return x * numbered_mask(x, p, numbers)
    if x.device.type != "cpu":
        return F.dropout(x, p, training)
    mask = dropout_mask(x, p)
    return x * mask if x.requires_grad else mask.mul_(x)


def dropout_mask(like: Tensor, p: float, generator: torch.Generator | None = None) -> Tensor:
    """A mask of zeros and `1 / (1 - p)`, shaped as `like`."""
    kept = _kept(p)
    if kept == LEVELS:
        return torch.ones_like(like)
    return _mask(_draw(like, generator), kept, like.dtype)


def kept_entries(x: SparseMatrix, like: Tensor, p: float) -> SparseMatrix:
    """`x` with the dropout that `dropout` draws for `like`, which is its values or the matrix written out; dropped
    entries are no longer stored, so that products do not meet them."""
    kept = _kept(p)
    if kept == LEVELS:
        return x
    crow, col, values = kernels.keep_entries(x.pattern, x.values, _draw(like), kept - LEVELS // 2, _scale(kept))
    return SparseMatrix(Pattern(crow, col, x.pattern.shape), values)


def _draw(like: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """16 random bits for every entry."""
    draws = torch.empty(-(-like.numel() // 4), dtype=torch.int64, device=like.device)
    draws.random_(-(2**63), None, generator=generator)
    return draws.view(torch.int16)[: like.numel()].view(like.shape)


def numbered_mask(like: Tensor, p: float, numbers: Tensor) -> Tensor:
    """As `dropout_mask`, but row i of the mask depends only on numbers[i] and on one draw of the global generator.

    So it does not depend on which rows are at hand: processes that share a graph draw the masks of the whole.
    """
    kept, seed = _kept(p), int(torch.randint(2**62, ()))
    if kept == LEVELS:
        return torch.ones_like(like)
    width = like[0].numel() if like.shape[0] > 0 else 1
    words = -(-width // 4)
    counter = numbers.to(torch.int64)[:, None] * words + torch.arange(words, device=like.device)
    bits = _scramble_(counter.mul_(_GOLDEN).add_(seed)).view(torch.int16)[:, :width]
    return _mask(bits.reshape(like.shape), kept, like.dtype)


_GOLDEN, _FIRST, _SECOND = -7046029254386353131, -4658895280553007687, -7723592293110705685


def _scramble_(z: Tensor) -> Tensor:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, 2014): counters become random numbers, in place."""
    for shift, factor in ((30, _FIRST), (27, _SECOND), (31, 1)):
        z.bitwise_xor_((z >> shift).bitwise_and_((1 << (64 - shift)) - 1))
        if factor != 1:
            z.mul_(factor)
    return z


def _kept(p: float) -> int:
    return max(1, round((1.0 - p) * LEVELS))


def _scale(kept: int) -> float:
    return LEVELS / kept


def _mask(bits: Tensor, kept: int, dtype: torch.dtype) -> Tensor:
    """`LEVELS / kept` where 16 random bits are among the `kept` lowest numbers, else 0."""
    limit = kept - LEVELS // 2
    # -1 where bits < limit, else 0: in 16-bit integers, whose conversion is much faster than that of booleans.
    return bits.clamp_(limit - 1, limit).sub_(limit).to(dtype).mul_(-_scale(kept))
