"""The one time loop and its adjoint: gradcheck, agreement with plain autograd, and nobody's tensors overwritten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

import dense
from dense import close
from graphs import AWKWARD_NODES, AWKWARD_WEIGHTS, awkward, normal, random_edges
from gwn.adjacency import Adjacency, normalised_adjacency
from gwn.laplacians import Operator
from gwn.laplacians.attention import AttentionOperator
from gwn.laplacians.base import FixedOperator
from gwn.schemes import Leapfrog, integrate
from gwn.schemes.states import KEEP_ALL_STEPS, Checkpoints, NoStates
from tolerance import rounding

SHORT, LONG = 5, 21  # keeps all states; keeps every fourth
assert SHORT <= KEEP_ALL_STEPS < LONG


def graph(dtype: torch.dtype = torch.float64, weighted: bool = False, **options: object) -> Adjacency:
    weight = AWKWARD_WEIGHTS if weighted else None
    return normalised_adjacency(awkward(), weight, AWKWARD_NODES, dtype=dtype, **options)  # type: ignore[arg-type]


def inputs(steps: int, channels: int = 2, dtype: torch.dtype = torch.float64, count: int = 4) -> list[Tensor]:
    """phi0, phi1, g, eps, small enough for a long run to stay tame."""
    made = [
        normal(AWKWARD_NODES, channels, seed=1, dtype=dtype),
        normal(AWKWARD_NODES, channels, seed=2, dtype=dtype),
        normal(steps, 2, channels, seed=3, dtype=dtype) * 0.5,
        normal(max(steps - 1, 0), seed=4, dtype=dtype).sigmoid(),
    ]
    return [tensor.requires_grad_() for tensor in made[:count]]


def adaptive(
    adjacency: Adjacency, tau: float, steps: int, *, velocity: bool = False, dropout: float = 0.0, **more: Any
) -> Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]:
    def wave(phi0: Tensor, phi1: Tensor, g: Tensor, eps: Tensor) -> Tensor:
        start = "velocity" if velocity else "displacement"
        operator = AttentionOperator(adjacency, g, eps, from_first=start, dropout=dropout)
        operator.seed = 11
        return integrate(operator, Leapfrog(tau), phi0, phi1, steps, **more)

    return wave


OPTIONS: list[dict[str, Any]] = [
    {},
    {"directed": True},
    {"directed": True, "self_loops": "add"},
    {"weighted": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("steps", [1, 2, 3, SHORT, LONG])
@pytest.mark.parametrize("trajectory", [False, True])
def test_gradients_of_a_fixed_operator(kernels: str, options: dict[str, Any], steps: int, trajectory: bool) -> None:
    adjacency = graph(**options)

    def wave(phi0: Tensor, phi1: Tensor) -> Tensor:
        return integrate(FixedOperator(adjacency, -0.5, 0.7), Leapfrog(0.3), phi0, phi1, steps, trajectory=trajectory)

    assert gradcheck(wave, inputs(steps, count=2), fast_mode=True)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("steps", [1, 2, SHORT, LONG])
@pytest.mark.parametrize("trajectory", [False, True])
def test_gradients_of_attention(kernels: str, options: dict[str, Any], steps: int, trajectory: bool) -> None:
    wave = adaptive(graph(**options), 0.3, steps, trajectory=trajectory)
    assert gradcheck(wave, inputs(steps), fast_mode=True)


@pytest.mark.parametrize("steps", [SHORT, LONG])
@pytest.mark.parametrize("velocity", [False, True])
def test_gradients_with_dropout_and_attention_from_the_velocity(steps: int, velocity: bool) -> None:
    wave = adaptive(graph(self_loops="add"), 0.3, steps, velocity=velocity, dropout=0.4)
    assert gradcheck(wave, inputs(steps), fast_mode=True)


def test_every_entry_of_the_gradients_of_a_short_run() -> None:
    """`gradcheck` in full, not along one random direction."""
    for more in ({}, {"velocity": True, "dropout": 0.4}, {"trajectory": True}):
        assert gradcheck(adaptive(graph(directed=True, self_loops="keep"), 0.7, 3, **more), inputs(3))


@pytest.mark.parametrize("trajectory", [False, True])
@pytest.mark.parametrize(
    ("steps", "dtype", "tolerance"),
    [(steps, torch.float64, 1e-11) for steps in (SHORT, 16, 17, LONG, 36)]
    + [(steps, torch.float32, rounding(steps**2, dtype=torch.float32)) for steps in (SHORT, 16, 17, LONG)],
)
def test_attention_agrees_with_autograd_through_a_dense_loop(
    steps: int, trajectory: bool, dtype: torch.dtype, tolerance: float
) -> None:
    tau, adjacency = 0.2, graph(dtype)
    ours, theirs = inputs(steps, dtype=dtype), inputs(steps, dtype=dtype)
    wave = adaptive(adjacency, tau, steps, trajectory=trajectory)(*ours)
    phi0, phi1, g, eps = theirs
    plain = dense.torch_waves(adjacency.matrix.csr.to_dense(), phi0, phi1, tau, steps, g, eps)
    plain = plain if trajectory else plain[-1]
    close(wave, plain, tolerance)
    upstream = normal(*plain.shape, seed=9, dtype=dtype)
    found, right = torch.autograd.grad(wave, ours, upstream), torch.autograd.grad(plain, theirs, upstream)
    for a, b in zip(found, right, strict=True):
        close(a, b, tolerance)


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, rounding(6**2, dtype=torch.float32))]
)
def test_a_fixed_operator_agrees_with_autograd_on_a_larger_graph(dtype: torch.dtype, tolerance: float) -> None:
    adjacency = normalised_adjacency(random_edges(60, 200), None, 60, dtype=dtype)
    S = adjacency.matrix.csr.to_dense()
    ours = [normal(60, 7, seed=s, dtype=dtype).requires_grad_() for s in (1, 2)]
    theirs = [tensor.detach().clone().requires_grad_() for tensor in ours]
    upstream = normal(60, 7, seed=3, dtype=dtype)
    wave, plain = (
        integrate(FixedOperator(adjacency), Leapfrog(0.5), ours[0], ours[1], 6),
        dense.torch_waves(S, theirs[0], theirs[1], 0.5, 6)[-1],
    )
    close(wave, plain, tolerance)
    found, right = torch.autograd.grad(wave, ours, upstream), torch.autograd.grad(plain, theirs, upstream)
    for a, b in zip(found, right, strict=True):
        close(a, b, tolerance)


@pytest.mark.parametrize("make", [FixedOperator, lambda a: AttentionOperator(a, *inputs(LONG)[2:])])
@pytest.mark.parametrize("steps", [1, 2, 3, SHORT, LONG])
def test_the_end_is_the_last_state_of_the_trajectory(make: Callable[[Adjacency], Operator], steps: int) -> None:
    phi0, phi1, *_ = inputs(steps)
    states = integrate(make(graph()), Leapfrog(0.3), phi0, phi1, steps, trajectory=True)
    assert states.shape == (steps + 1, AWKWARD_NODES, 2)
    assert torch.equal(states[0], phi0)
    close(integrate(make(graph()), Leapfrog(0.3), phi0, phi1, steps), states[-1], 1e-14)
    with torch.no_grad():
        close(integrate(make(graph()), Leapfrog(0.3), phi0, phi1, steps), states[-1], 1e-14)


@pytest.mark.parametrize("make", [FixedOperator, lambda a: AttentionOperator(a, *inputs(LONG)[2:])])
@pytest.mark.parametrize("steps", [1, 2, 3, LONG])
@pytest.mark.parametrize("trajectory", [False, True])
def test_inputs_are_left_alone(make: Callable[[Adjacency], Operator], steps: int, trajectory: bool) -> None:
    phi0, phi1, *_ = inputs(steps)
    before = phi0.detach().clone(), phi1.detach().clone()
    out = integrate(make(graph()), Leapfrog(0.3), phi0, phi1, steps, trajectory=trajectory)
    upstream = torch.ones_like(out)
    out.backward(upstream)
    assert torch.equal(phi0, before[0])
    assert torch.equal(phi1, before[1])
    assert torch.equal(upstream, torch.ones_like(out))
    assert out.data_ptr() != phi0.data_ptr()


def test_inputs_need_not_be_contiguous_nor_different() -> None:
    phi = normal(2, AWKWARD_NODES).t()
    assert not phi.is_contiguous()
    for operator in (FixedOperator(graph()), AttentionOperator(graph(), *inputs(LONG)[2:])):
        close(
            integrate(operator, Leapfrog(0.3), phi, phi, LONG),
            integrate(operator, Leapfrog(0.3), phi.contiguous(), phi.contiguous().clone(), LONG),
        )


def test_x0_may_be_another_tensor() -> None:
    phi0, phi1, g, eps = inputs(4)
    x0 = normal(AWKWARD_NODES, 2, seed=8).requires_grad_()
    adjacency = graph()

    def wave(phi0: Tensor, phi1: Tensor, x0: Tensor, g: Tensor, eps: Tensor) -> Tensor:
        return integrate(AttentionOperator(adjacency, g, eps), Leapfrog(0.3), phi0, phi1, 4, x0=x0)

    assert gradcheck(wave, (phi0, phi1, x0, g, eps), fast_mode=True)
    difference = wave(phi0, phi1, x0 + 1, g, torch.zeros_like(eps)) - wave(phi0, phi1, x0, g, torch.zeros_like(eps))
    assert not difference.any()
    assert bool((wave(phi0, phi1, x0 + 1, g, eps) - wave(phi0, phi1, x0, g, eps)).any())


def test_gradient_when_only_some_inputs_need_one() -> None:
    everything = inputs(LONG)
    wave = adaptive(graph(), 0.2, LONG)
    upstream = normal(AWKWARD_NODES, 2, seed=9)
    full = torch.autograd.grad(wave(*everything), everything, upstream)
    for index in range(4):
        part = [tensor.detach().clone().requires_grad_(place == index) for place, tensor in enumerate(everything)]
        close(torch.autograd.grad(wave(*part), part[index], upstream)[0], full[index], 1e-13)


def test_a_parameter_changed_before_the_backward_pass_is_noticed() -> None:
    """As PyTorch's own operations do: never a silently wrong gradient."""
    phi0, phi1, g, eps = inputs(SHORT)
    out = adaptive(graph(), 0.3, SHORT)(phi0, phi1, g, eps)
    with torch.no_grad():
        g.mul_(2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_a_short_run_keeps_all_states_and_a_long_one_a_few() -> None:
    assert Checkpoints(KEEP_ALL_STEPS).stride == 1
    assert Checkpoints(KEEP_ALL_STEPS + 1).stride == 4
    phi0, phi1, g, eps = inputs(400)
    out = integrate(AttentionOperator(graph(), g * 0.01, eps * 0), Leapfrog(0.01), phi0, phi1, 400)
    kept = out.grad_fn.states  # type: ignore[union-attr]
    assert isinstance(kept, Checkpoints)
    assert len({tensor.data_ptr() for pair in kept._pairs.values() for tensor in pair}) == 38  # 19 pairs


def test_without_gradients_nothing_is_kept() -> None:
    phi0, phi1, g, eps = (tensor.detach() for tensor in inputs(SHORT))
    assert adaptive(graph(), 0.3, SHORT)(phi0, phi1, g, eps).grad_fn is None
    linear = integrate(FixedOperator(graph()), Leapfrog(0.3), phi0.requires_grad_(), phi1, SHORT)
    assert isinstance(linear.grad_fn.states, NoStates)  # type: ignore[union-attr]
