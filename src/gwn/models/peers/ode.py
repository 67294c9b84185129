"""Ordinary differential equations of node features, solved by torchdiffeq: what CGNN and GRAND need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torchdiffeq
from torch import Tensor

from gwn.errors import GWNError
from gwn.registry import require_known

FIXED = ("euler", "midpoint", "heun3", "rk4")
ADAPTIVE = ("dopri5", "dopri8", "bosh3", "adaptive_heun")


def check_solver(method: str, time: float, step_size: float) -> None:
    """Refuse what torchdiffeq would refuse later, and less clearly."""
    require_known("ODE method", method, FIXED + ADAPTIVE)
    if not (time > 0 and step_size > 0):
        raise GWNError(f"time and step_size must be positive; got time={time}, step_size={step_size}")


def solve(
    f: Callable[[Tensor, Tensor], Tensor], x: Tensor, time: float, method: str, step_size: float, tolerance: float
) -> Tensor:
    """`x(time)` of `dx/dt = f(t, x)`, differentiated through the solver's own steps.

    A fixed-step method takes steps of `step_size`; an adaptive one chooses them by the error of all nodes together,
    to `tolerance` (relative, and a tenth of it absolute).
    """
    span = torch.tensor([0.0, time], dtype=x.dtype, device=x.device)
    options: dict[str, Any] = {"step_size": min(step_size, time)} if method in FIXED else {}
    try:
        states: Tensor = torchdiffeq.odeint(
            f, x, span, method=method, options=options, rtol=tolerance, atol=tolerance / 10
        )
    except AssertionError as error:
        raise GWNError(
            f"{method} failed ({error}); use a fixed-step method such as rk4, or a larger tolerance"
        ) from error
    return states[-1]
