"""The only time loop in the package, and its adjoint.

Forward, `(x_prev, x)` becomes `(x, x_next)` in two buffers. Backward, with G(n) the gradient of X(n),

    G(n) = a(n) G(n+1) + c(n) L_a(n)^T G(n+1) + b(n+1) G(n+2) + (gradient of the output with respect to X(n)),

the same kind of recurrence in the same two buffers. A fixed operator needs no state for it, so memory does not grow
with the number of steps; `states.py` says where the others get X(n) from.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gwn.laplacians import Gradients, Operator
from gwn.schemes.base import Scheme
from gwn.schemes.states import KEEP_ALL_STEPS, states_for


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
    prepared = scheme.prepare(operator)
    prepared.remember = steps <= KEEP_ALL_STEPS and torch.is_grad_enabled()
    anchor = x if x0 is None else x0
    arguments = (prepared, scheme, steps, trajectory, x, x_prev, anchor, *prepared.parameters)
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
        needed = operator.needs_states and any(ctx.needs_input_grad)
        if trajectory:
            out = x.new_empty(steps + 1, *x.shape)
            out[0] = x
            for n in range(steps):
                out[n + 1] = x_prev if n == 0 else out[n - 1]
                operator.advance_(n, scheme.step(n), out[n], out[n + 1], x0)
        else:
            may_reverse = needed and scheme.time_symmetric and operator.reversible
            reversible = may_reverse and scheme.keeps_bounded(operator.interval)
            ctx.states = states = states_for(steps, needed=needed, reversible=reversible)
            out, previous = x.contiguous(), x_prev.clone(memory_format=torch.contiguous_format)
            for n in range(steps):
                states.record(n, out, previous)
                may_overwrite = n != 1 and not states.holds(n - 1)  # at n = 1, `previous` is the input x
                target = previous if may_overwrite else previous.clone()
                out, previous = operator.advance_(n, scheme.step(n), out, target, x0), out
        # The parameters are saved so that PyTorch notices if they are changed before the backward pass.
        ctx.save_for_backward(x, x_prev, x0, out if needed else None, *parameters)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Any, ...]:
        operator, scheme, steps = ctx.operator, ctx.scheme, ctx.steps
        x, x_prev, x0, out, *_ = ctx.saved_tensors
        total = Gradients(operator.parameters, x_prev, x0)
        if ctx.trajectory:
            outputs, last = grad_out, grad_out[steps]
            states = (None if out is None else out[n] for n in reversed(range(steps)))
        else:
            outputs, last = None, grad_out
            states = ctx.states.backwards(
                lambda n, x, x_prev: operator.advance_(n, scheme.step(n), x, x_prev, x0),
                x.contiguous(),
                x_prev.contiguous(),
                out,
            )
        following = last.clone(memory_format=torch.contiguous_format)  # G(n+1)
        spare = torch.zeros_like(following)  # becomes G(n); before that it holds G(n+2)
        weight_of_spare = 0.0
        for n, state in zip(reversed(range(steps)), states, strict=True):
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
