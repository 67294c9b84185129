"""Tensors that behave as those on Apple's devices do, on a machine that has none."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

MPS = torch.device("mps")


class Apple(Tensor):
    """A tensor that says it is on MPS, refuses float64 and tensors of the CPU; `.cpu()` and `.to("cpu")` leave it."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is Tensor.cpu or (func is Tensor.to and "cpu" in (*args[1:2], kwargs.get("device"))):
            return args[0].as_subclass(Tensor)
        if func == Tensor.device.__get__:
            return MPS
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        if any(not isinstance(tensor, Apple) and tensor.dim() for tensor in tensors):
            raise RuntimeError("Expected all tensors to be on the same device, but found at least two devices")
        found = super().__torch_function__(func, types, args, kwargs)
        if isinstance(found, Apple) and found.dtype == torch.float64:
            raise TypeError("Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64")
        return found


class Machine(TorchFunctionMode):
    """Where `.to("mps")` works, for what is not float64 there."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is not Tensor.to or MPS not in (*args[1:2], kwargs.get("device")):
            return func(*args, **kwargs)
        here = {MPS: torch.device("cpu")}
        given = [here.get(value, value) for value in args[1:]]
        moved = func(args[0].as_subclass(Tensor), *given, **{n: here.get(v, v) for n, v in kwargs.items()})
        return moved.as_subclass(Apple).contiguous()
