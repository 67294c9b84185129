"""How far two correct computations of one number may lie apart: derived from the arithmetic, not from one processor."""

from __future__ import annotations

import math

import torch

MARGIN = 10.0
"""Processors order their sums differently; a bound that is derived is multiplied by this."""


def rounding(roundings: float = 1.0, growth: float = 1.0, dtype: torch.dtype = torch.float64) -> float:
    """`10 eps roundings growth`: the largest relative error that is still rounding.

    roundings   how many of them add up: n for a sum or n steps in a row, n² for n steps of a three-term recurrence,
                which carries each of n errors on as a velocity, so for up to n steps
    growth      the largest number on the way over the size of the result: what cancels, or the condition of a matrix
    """
    return MARGIN * torch.finfo(dtype).eps * roundings * growth


def double_root(dtype: torch.dtype = torch.float64) -> float:
    """`10 sqrt(eps)`: a double eigenvalue, or root, moves by the square root of what its matrix does."""
    return MARGIN * math.sqrt(torch.finfo(dtype).eps)
