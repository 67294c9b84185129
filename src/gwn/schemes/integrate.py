"""The only time loop in the package, and its adjoint.

Forward, `(x_prev, x)` becomes `(x, x_next)` in two buffers. Backward, with G(n) the gradient of X(n),

    G(n) = a(n) G(n+1) + c(n) L_a(n)^T G(n+1) + b(n+1) G(n+2) + (gradient of the output with respect to X(n)),

the same kind of recurrence in the same two buffers. A fixed operator needs no state for it, so memory does not grow
with the number of steps. An operator that depends on the state needs X(n): all of them are kept for short runs, and
every sqrt(N)-th for long ones, with the stretch in between computed once more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from gwn.laplacians import Gradients, Operator
from gwn.schemes.base import Scheme

KEEP_ALL_STEPS = 16
"""Up to this many steps keeping every state is cheaper than computing states twice."""


def integrate(
    operator: Operator,
    scheme: Scheme,
    x: Tensor,
    x_prev: Tensor,
    steps: int,
    *,
    x0: Tensor | None = None,
    trajectory: bool = False,
) -> Tensor:
    """X(steps) from X(0) = `x` and the velocity `x_prev`, [N, d]; with `trajectory`, all of X(0) ... X(steps).

    x0   what the source term `eps(n) X(0)` refers to; `x` unless given.
    """
    anchor = x if x0 is None else x0
    arguments = (operator, scheme, steps, trajectory, x, x_prev, anchor, *operator.parameters)
    out: Tensor = _Integrate.apply(*arguments)  # type: ignore[no-untyped-call]
    return out


class _Integrate(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        operator: Operator,
        scheme: Scheme,
        steps: int,
        trajectory: bool,
        x: Tensor,
        x_prev: Tensor,
        x0: Tensor,
        *parameters: Tensor,
    ) -> Tensor:
        ctx.operator, ctx.scheme, ctx.steps, ctx.trajectory = operator, scheme, steps, trajectory
        keep_states = operator.needs_states and any(ctx.needs_input_grad)
        if trajectory:
            states = x.new_empty(steps + 1, *x.shape)
            states[0] = x
            for n in range(steps):
                states[n + 1] = x_prev if n == 0 else states[n - 1]
                operator.advance_(n, scheme.step(n), states[n], states[n + 1], x0)
            ctx.save_for_backward(x, x_prev, x0, states if keep_states else None, *parameters)
            return states
        ctx.save_for_backward(x, x_prev, x0, None, *parameters)
        tape = _Tape(steps) if keep_states else None
        current, previous = x.contiguous(), x_prev.clone(memory_format=torch.contiguous_format)
        for n in range(steps):
            if tape is not None:
                tape.record(n, current, previous)
            may_overwrite = n != 1 and (tape is None or not tape.holds(n - 1))  # at n = 1, `previous` is the input x
            target = previous if may_overwrite else previous.clone()
            current, previous = operator.advance_(n, scheme.step(n), current, target, x0), current
        ctx.tape = tape
        return current

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Any, ...]:
        operator, scheme, steps = ctx.operator, ctx.scheme, ctx.steps
        x, x_prev, x0, states, *_ = ctx.saved_tensors  # parameters too: PyTorch checks that they are unchanged
        total = Gradients(operator.parameters, x_prev, x0)
        outputs = grad_out if ctx.trajectory else None
        last = grad_out[steps] if outputs is not None else grad_out
        following = last.clone(memory_format=torch.contiguous_format)  # G(n+1)
        spare = torch.zeros_like(following)  # becomes G(n); before that it holds G(n+2)
        weight_of_spare = 0.0
        for n, state in _states_backwards(ctx, x, x_prev, x0, states):
            step = scheme.step(n)
            operator.pull_back_(n, step, state, following, spare, weight_of_spare, total)
            if outputs is not None:
                spare += outputs[n]
            following, spare, weight_of_spare = spare, following, step.x_prev
        grad_velocity = spare.mul_(weight_of_spare)
        extra = total.get("x_prev")
        if extra is not None:
            grad_velocity += extra
        return None, None, None, None, following, grad_velocity, total.get("x0"), *total.parameters


class _Tape:
    """The states a backward pass starts from: all of a short run, a pair every sqrt(N) steps of a long one."""

    def __init__(self, steps: int) -> None:
        self.stride = 1 if steps <= KEEP_ALL_STEPS else math.isqrt(steps)
        self.pairs: dict[int, tuple[Tensor, Tensor]] = {}

    def record(self, n: int, x: Tensor, x_prev: Tensor) -> None:
        """Keep what step n starts from, if n is a place to start from."""
        if n > 0 and n % self.stride == 0:
            self.pairs[n] = (x, x_prev)

    def holds(self, n: int) -> bool:
        """Whether the memory of X(n) must not be overwritten: it is in the pair of step n or n + 1."""
        return n in self.pairs or n + 1 in self.pairs


def _states_backwards(
    ctx: Any, x: Tensor, x_prev: Tensor, x0: Tensor, states: Tensor | None
) -> Iterator[tuple[int, Tensor | None]]:
    """`(n, X(n))` for n = steps - 1 ... 0; X(n) is None where the operator does not need it."""
    operator, scheme, steps = ctx.operator, ctx.scheme, ctx.steps
    if not operator.needs_states:
        yield from ((n, None) for n in reversed(range(steps)))
    elif states is not None:
        yield from ((n, states[n]) for n in reversed(range(steps)))
    else:
        tape: _Tape = ctx.tape
        for start in reversed(range(0, steps, tape.stride)):
            current, previous = tape.pairs[start] if start > 0 else (x.contiguous(), x_prev)
            segment = [current]
            for n in range(start, min(start + tape.stride, steps) - 1):
                target = previous.clone(memory_format=torch.contiguous_format)
                current, previous = operator.advance_(n, scheme.step(n), current, target, x0), current
                segment.append(current)
            while segment:
                yield start + len(segment) - 1, segment.pop()
