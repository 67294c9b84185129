"""Large dense products by the faster of the two libraries that PyTorch brings for the CPU.

PyTorch multiplies single precision with MKL, which gives processors that are not Intel's at most half of their vector
width (AVX2). oneDNN is in PyTorch too and uses all of it, which pays on AMD processors with AVX-512
(docs/performance.md, wide networks). `GWN_KERNELS=torch` leaves the choice to PyTorch.
"""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from gwn.kernels import allowed

LARGE = 1 << 30
"""Multiplications of a product from which oneDNN is asked: below it a training step has other things to wait for, and
results keep the bits that they have on every processor with MKL."""


def dense_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x W + b`."""
    if _for_onednn(x, weight):
        out: Tensor = _Product.apply(x, weight)  # type: ignore[no-untyped-call]
        return out if bias is None else out + bias
    return x @ weight if bias is None else torch.addmm(bias, x, weight)


class _Product(torch.autograd.Function):
    """`X W` by oneDNN, and its derivatives by the same: `G W^T` and `X^T G`."""

    @staticmethod
    def forward(x: Tensor, weight: Tensor) -> Tensor:
        # What PyTorch's own compiler makes of a linear map x V^T + b: here without b and with nothing behind it.
        out: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight.t(), None, "none", [], "")
        return out

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        of_x, of_weight = ctx.needs_input_grad
        return dense_linear(grad, weight.t()) if of_x else None, dense_linear(x.t(), grad) if of_weight else None

    @staticmethod
    def jvp(ctx: Any, x_dot: Tensor | None, weight_dot: Tensor | None) -> Tensor | None:
        x, weight = ctx.saved_tensors
        parts = [] if x_dot is None else [dense_linear(x_dot, weight)]
        parts += [] if weight_dot is None else [dense_linear(x, weight_dot)]
        return sum(parts[1:], start=parts[0]) if parts else None

    @staticmethod
    def vmap(info: Any, dims: tuple[int | None, int | None], x: Tensor, weight: Tensor) -> tuple[Tensor, int]:
        moved = (part if dim is None else part.movedim(dim, 0) for part, dim in zip((x, weight), dims, strict=True))
        first, second = moved
        return first @ second, 0


def _for_onednn(x: Tensor, weight: Tensor) -> bool:
    return (
        onednn_is_faster()
        and not torch.compiler.is_compiling()
        and all(
            part.dim() == 2
            and part.device.type == "cpu"
            and part.dtype == torch.float32
            and type(part) in (Tensor, nn.Parameter)  # not one that stands for another while a graph is traced
            for part in (x, weight)
        )
        and x.shape[1] == weight.shape[0]
        and x.shape[0] * weight.numel() >= LARGE
        and not torch.is_autocast_enabled("cpu")
    )


@cache
def onednn_is_faster() -> bool:
    """Whether both libraries are there and MKL leaves half of the processor unused. Nothing is timed: what is computed
    with must not depend on how busy a machine is."""
    return (
        allowed()
        and torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
        and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
        and "AuthenticAMD" in _processor()
    )


def _processor() -> str:
    """What the processor says of itself, its maker among it."""
    described = Path("/proc/cpuinfo")
    return described.read_text(errors="replace") if described.exists() else platform.processor()
