"""WaveConv: one step of the equation; enough of them in a row are the network's trajectory."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

import dense
from dense import close
from graphs import AWKWARD_NODES, AWKWARD_WEIGHTS, awkward, edges, normal
from gwn import GWN, GWNError, WaveConv
from seeds import reseed

N, D, TAU = AWKWARD_NODES, 3, 0.6
S = torch.from_numpy(dense.normalise(dense.adjacency(awkward(), N)))


def layer(laplacian: str = "sym", **options: Any) -> WaveConv:
    reseed(5)
    return WaveConv(D, TAU, laplacian, **options).double()


def states() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    x, x_prev, velocity, x0 = (normal(N, D, seed=seed).requires_grad_() for seed in range(1, 5))
    return x, x_prev, velocity, x0


def test_the_two_kinds_of_step_of_sym() -> None:
    x, x_prev, velocity, x0 = states()
    conv = layer()
    close(conv(x, awkward()), x + TAU**2 / 2 * S @ x)
    close(conv(x, awkward(), velocity=velocity), TAU * velocity + x + TAU**2 / 2 * S @ x)
    close(conv(x, awkward(), x_prev), 2 * x + TAU**2 * S @ x - x_prev)
    assert torch.equal(conv(x, awkward(), x_prev, x0=x0), conv(x, awkward(), x_prev))
    assert list(conv.parameters()) == []


def test_the_two_kinds_of_step_of_fa() -> None:
    x, x_prev, velocity, x0 = states()
    conv = layer("fa")
    state = conv.laplacian.state_dict()
    L = torch.from_numpy(dense.attention(state["g"].reshape(-1).numpy(), x.detach().numpy())) * S
    eps = torch.sigmoid(state["raw_epsilon"])
    assert eps.shape == (1,)
    close(conv(x, awkward(), velocity=velocity), TAU * velocity + x + TAU**2 / 2 * L @ x)
    close(conv(x, awkward(), velocity=velocity, x0=x0), TAU * velocity + x + TAU**2 / 2 * L @ x)
    close(conv(x, awkward(), x_prev), 2 * x + TAU**2 * L @ x - x_prev)
    close(conv(x, awkward(), x_prev, x0=x0), eps * x0 + 2 * x + TAU**2 * L @ x - x_prev)


@pytest.mark.parametrize("laplacian", ["sym", "fa"])
@pytest.mark.parametrize("start", ["displacement", "velocity"])
def test_layers_in_a_row_are_the_network(laplacian: str, start: str) -> None:
    options: dict[str, Any] = {"attention_start": start} if laplacian == "fa" else {}
    model = GWN(4, D, 2, laplacian=laplacian, time=4 * TAU, tau=TAU, **options).double().eval()
    x = normal(N, 4)
    layers = [WaveConv(D, TAU, laplacian, **options).double() for _ in range(4)]
    if laplacian == "fa":
        with torch.no_grad():
            for n, conv in enumerate(layers):
                conv.laplacian.g.copy_(model.laplacian.g[n : n + 1])
                if n > 0:
                    conv.laplacian.raw_epsilon.copy_(model.laplacian.raw_epsilon[n - 1])
    x0 = model.phi0(x)
    before, now = x0, layers[0](x0, awkward(), velocity=model.phi1(x))
    for conv in layers[1:]:
        before, now = now, conv(now, awkward(), before, x0=x0)
    close(now, model.trajectory(x, awkward())[-1], 1e-12)


@pytest.mark.parametrize("laplacian", ["sym", "fa"])
def test_gradients(laplacian: str) -> None:
    conv = layer(laplacian)
    names, values = [name for name, _ in conv.named_parameters()], tuple(conv.parameters())

    def call(inputs: dict[str, Tensor], *parameters: Tensor) -> Tensor:
        state = dict(zip(names, parameters, strict=True))
        result: Tensor = torch.func.functional_call(conv, state, (inputs.pop("x"), awkward()), inputs)
        return result

    x, x_prev, velocity, x0 = states()
    assert gradcheck(lambda x, v, *p: call({"x": x, "velocity": v}, *p), (x, velocity, *values))
    assert gradcheck(lambda x, b, x0, *p: call({"x": x, "x_prev": b, "x0": x0}, *p), (x, x_prev, x0, *values))
    assert gradcheck(lambda x, *p: call({"x": x}, *p), (x, *values))


@pytest.mark.parametrize("before", ["x_prev", "velocity"])
def test_gradients_with_attention_from_the_velocity(before: str) -> None:
    conv = layer("fa", attention_start="velocity")
    x, x_prev, _, _ = states()
    assert gradcheck(lambda x, b: conv(x, awkward(), **{before: b}), (x, x_prev))


def test_the_step_runs_backwards() -> None:
    """X(n-1) follows from X(n) and X(n+1) by the same step."""
    x, x_prev, _, _ = states()
    conv = layer()
    close(conv(x, awkward(), conv(x, awkward(), x_prev)), x_prev, 1e-12)


def test_directed_weighted_self_loops() -> None:
    x, x_prev, _, _ = states()
    several: tuple[dict[str, Any], ...] = (
        {"directed": True},
        {"self_loops": "add"},
        {"directed": True, "self_loops": "keep"},
    )
    for options in several:
        A = dense.adjacency(
            awkward(), N, AWKWARD_WEIGHTS.tolist(), options.get("directed", False), options.get("self_loops", "none")
        )
        expected = 2 * x + TAU**2 * torch.from_numpy(dense.normalise(A)) @ x - x_prev
        close(layer(**options)(x, awkward(), x_prev, edge_weight=AWKWARD_WEIGHTS), expected)


def test_inputs_are_left_alone() -> None:
    x, x_prev, velocity, x0 = states()
    for given in ({"x_prev": x_prev, "x0": x0}, {"velocity": velocity}):
        before = [tensor.detach().clone() for tensor in (x, *given.values())]
        layer("fa")(x, awkward(), **given).sum().backward()
        assert all(torch.equal(a, b) for a, b in zip(before, (x, *given.values()), strict=True))


def test_it_is_an_ordinary_layer() -> None:
    conv = layer("fa")
    assert repr(conv).startswith("WaveConv(\n  3, tau=0.6")
    before = conv.laplacian.g.detach().clone()
    conv.reset_parameters()
    assert not torch.equal(before, conv.laplacian.g)  # type: ignore[arg-type]
    with pytest.raises(GWNError, match="unknown laplacian"):
        WaveConv(3, laplacian="fast")
    with pytest.raises(GWNError, match="tau must be"):
        WaveConv(3, tau=-1)
    with pytest.raises(GWNError, match="unknown self_loops 'both'"):
        WaveConv(3, self_loops="both")
    with pytest.raises(GWNError, match="unknown setting of laplacian 'sym'"):
        WaveConv(3, epsilon="free")
    with pytest.raises(GWNError, match="names node 9"):
        conv(normal(2, D), edges((0, 9)))


def test_no_scheme_is_advised_where_there_is_one_only() -> None:
    with pytest.raises(GWNError, match=r"use a smaller tau$"):
        WaveConv(4, tau=3.0, laplacian="physical")
