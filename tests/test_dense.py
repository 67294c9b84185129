"""Large dense products by oneDNN: the same numbers as PyTorch's own, with every derivative, and only where it pays."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import gwn.dense
from dense import close
from graphs import normal
from gwn.dense import dense_linear
from gwn.networks.feedforward import Linear
from tolerance import rounding

needs_onednn = pytest.mark.skipif(
    not (torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")),
    reason="PyTorch is built without oneDNN here",
)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """oneDNN for every product of single precision, whatever the processor."""
    monkeypatch.setattr(gwn.dense, "LARGE", 1)
    monkeypatch.setattr(gwn.dense, "onednn_is_faster", lambda: True)


def single(*shape: int, seed: int = 0) -> Tensor:
    return normal(*shape, seed=seed).float()


def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The shapes that oneDNN is asked for from now on."""
    seen: list[tuple[int, ...]] = []
    apply = gwn.dense._Product.apply

    def watched(x: Tensor, weight: Tensor) -> Tensor:
        seen.append((*x.shape, weight.shape[1]))
        out: Tensor = apply(x, weight)
        return out

    monkeypatch.setattr(gwn.dense._Product, "apply", watched)
    return seen


@needs_onednn
@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("with_bias", [False, True])
def test_values_and_gradients_are_pytorchs_own(with_bias: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = asked(monkeypatch)
    layer, plain, x = Linear(7, 5, bias=with_bias), Linear(7, 5, bias=with_bias).double(), single(11, 7)
    plain.load_state_dict(layer.state_dict())
    inputs, exact = x.requires_grad_(), x.detach().double().requires_grad_()
    (layer(inputs) * single(11, 5, seed=1)).sum().backward()
    (plain(exact) * single(11, 5, seed=1).double()).sum().backward()
    assert seen == [(11, 7, 5), (11, 5, 7), (7, 11, 5)]
    bound = rounding(11, 4.0, torch.float32)
    close(layer(inputs).double(), plain(exact), bound)
    for ours, theirs in [(inputs, exact), *zip(layer.parameters(), plain.parameters(), strict=True)]:
        assert ours.grad is not None
        assert theirs.grad is not None
        close(ours.grad.double(), theirs.grad, bound)


@needs_onednn
@pytest.mark.usefixtures("always")
def test_second_derivatives_forward_mode_and_vmap(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = asked(monkeypatch)
    x, weight, direction = single(6, 4), single(4, 3, seed=1), single(6, 4, seed=2)
    bound = rounding(40, 10.0, torch.float32)

    def energy(x: Tensor, linear: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        return linear(x, weight).pow(3).sum()

    hessian = torch.autograd.functional.hessian(lambda x: energy(x, dense_linear), x)
    assert seen
    close(hessian, torch.autograd.functional.hessian(lambda x: energy(x, torch.matmul), x), bound)
    both = [torch.func.jvp(lambda x, f=f: f(x, weight), (x,), (direction,)) for f in (dense_linear, torch.matmul)]
    for ours, theirs in zip(*both, strict=True):
        close(ours, theirs, bound)
    stacked = torch.stack([weight, 2 * weight])
    close(torch.func.vmap(dense_linear, (None, 0))(x, stacked), x @ stacked, bound)


@pytest.mark.usefixtures("always")
def test_other_tensors_stay_with_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = asked(monkeypatch)
    dense_linear(normal(3, 4), normal(4, 2))
    dense_linear(single(2, 3, 4), single(4, 2))
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        dense_linear(single(3, 4), single(5, 2))
    with torch.autocast("cpu", torch.bfloat16):
        assert dense_linear(single(3, 4), single(4, 2)).dtype == torch.bfloat16
    assert seen == []


@needs_onednn
@pytest.mark.usefixtures("always")
def test_any_strides_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = asked(monkeypatch)
    whole, weight, bound = single(12, 10), single(5, 3, seed=1), rounding(10, 4.0, torch.float32)
    for x in (whole[:, ::2], whole[3:, 5:], whole[:1, :5].expand(4, 5), whole[:5].t()[:, :5]):
        close(dense_linear(x, weight), x @ weight, bound)
    assert len(seen) == 4
    x = whole[:, 5:].clone().requires_grad_()
    dense_linear(x, weight).sum().backward()  # a gradient without strides
    assert x.grad is not None
    close(x.grad, weight.sum(1).expand(12, 5), bound)


@pytest.mark.usefixtures("always")
def test_an_exported_model_has_pytorchs_products_for_any_number_of_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gwn.dense, "LARGE", 60)  # between both numbers of nodes
    seen = asked(monkeypatch)
    layer, nodes = Linear(4, 2, bias=False), torch.export.Dim("nodes")
    exported = torch.export.export(layer, (single(6, 4),), dynamic_shapes={"x": {0: nodes}})
    assert seen == []
    close(exported.module()(single(9, 4)), single(9, 4) @ layer.weight, rounding(4, 4.0, torch.float32))


def test_small_products_stay_with_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gwn.dense, "onednn_is_faster", lambda: True)
    seen = asked(monkeypatch)
    dense_linear(single(30, 40), single(40, 20))
    assert seen == []


@pytest.mark.parametrize(
    ("chosen", "maker", "vectors", "asked_for"),
    [
        ("auto", "AuthenticAMD", "AVX512", True),
        ("torch", "AuthenticAMD", "AVX512", False),
        ("auto", "GenuineIntel", "AVX512", False),
        ("auto", "AuthenticAMD", "AVX2", False),
    ],
)
@needs_onednn
def test_onednn_is_for_processors_that_mkl_holds_back(
    chosen: str, maker: str, vectors: str, asked_for: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GWN_KERNELS", chosen)
    monkeypatch.setattr(gwn.dense, "_processor", lambda: f"vendor_id : {maker}")
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: vectors)
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)
    assert gwn.dense.onednn_is_faster.__wrapped__() is asked_for
