"""Ordinary differential equations of node features, solved by torchdiffeq: what CGNN and GRAND need."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
import torchdiffeq
from torch import Tensor

from gwn.errors import GWNError
from gwn.registry import require_known

FIXED = {"euler": 1, "midpoint": 2, "heun3": 3, "rk4": 4}
"""Methods with steps of one length, and how often a step asks for `f`."""
ADAPTIVE = ("dopri5", "dopri8", "bosh3", "adaptive_heun")


def check_solver(method: str, time: float, step_size: float) -> None:
    """Refuse what torchdiffeq would refuse later, and less clearly."""
    require_known("ODE method", method, (*FIXED, *ADAPTIVE))
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


def solve_linear(
    product: Callable[[Tensor], Tensor], start: Tensor, rates: tuple[Tensor, Tensor, Tensor], time: float, method: str,
    step_size: float, tolerance: float, *, learns_source: bool = True,
) -> Tensor:  # fmt: skip
    """`x(time)` of `dx/dt = a A x + b x + c x(0)`: what `solve` computes, with fewer products.

    Steps of a fixed length make a polynomial of it, `sum_k (p_k + c q_k) A^k x(0)`. Its coefficients are the solution,
    by the same method, of the same equation with `A^k -> A^(k+1)` in the place of the product. For `A` of norm one,
    `0 <= a` and `-1 <= b h <= 0` they are positive and fall as `(a T)^k / k!` does: what is below rounding is left out,
    and some thirty of GRAND's 76 products remain. Where that does not hold, `solve` is called.

    product         `x -> A x`
    rates           `a`, `b` and `c`, which may be learned
    learns_source   whether `c x(0)` passes a gradient on to `x(0)`; if not, nothing that `A` holds may be learned
    """
    a, b, c = rates
    if method not in FIXED or a.item() < 0.0 or not -1.0 <= b.item() * step_size <= 0.0:
        source = c * (start if learns_source else start.detach())
        return solve(lambda _, x: a * product(x) + b * x + source, start, time, method, step_size, tolerance)
    degree = FIXED[method] * math.ceil(time / step_size)
    begin, one = torch.zeros(2, 2, degree + 1, dtype=torch.float64)
    begin[0, 0] = one[1, 0] = 1.0  # the first row answers to x(0), the second to a source of one
    up, same = (rate.to("cpu", torch.float64) for rate in (a, b))
    answers = solve(
        lambda _, p: up * F.pad(p[:, :-1], (1, 0)) + same * p + one, begin, time, method, step_size, tolerance
    )
    left_out = answers.detach().sum(0).flip(0).cumsum(0).flip(0)
    terms = int((left_out > torch.finfo(start.dtype).eps * left_out[0]).sum())
    of_start, of_source = answers[:, :terms].to(start).unbind()
    power, out = start, torch.zeros_like(start)
    for k, (p, q) in enumerate(zip(of_start, of_source, strict=True)):
        power = product(power) if k else power
        if learns_source:
            out = torch.addcmul(out, power, p + c * q)
        else:
            out = torch.addcmul(torch.addcmul(out, power, p), power.detach(), c * q)
    return out
