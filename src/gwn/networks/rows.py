"""Row-normalised features: the absolute values of a node's features sum to one, as in most peers' published code."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.sparse import TensorCache

SMALLEST = 1e-12
"""Stands for the sum of a node without features."""

_ROWS = TensorCache()


def row_normalized(x: Tensor) -> Tensor:
    """`x_ij / sum_j |x_ij|`, dense or CSR; computed once for a tensor that asks for no gradient."""
    return _normalize(x) if x.requires_grad else _ROWS.get(x, "rows", lambda: _normalize(x))


def _normalize(x: Tensor) -> Tensor:
    if x.layout != torch.sparse_csr:
        return F.normalize(x, p=1.0, dim=1, eps=SMALLEST)
    crow, col, values = x.crow_indices(), x.col_indices(), x.values()
    row = torch.repeat_interleave(torch.arange(x.shape[0], device=x.device), crow.diff())
    total = torch.zeros(x.shape[0], dtype=x.dtype, device=x.device).index_add_(0, row, values.abs())
    scaled = values / total.clamp_min(SMALLEST).index_select(0, row)
    return torch.sparse_csr_tensor(crow, col, scaled, x.shape, check_invariants=False)


def normalize_input(network: nn.Module) -> nn.Module:
    """The network, which from now on sees row-normalised features whenever it is called."""
    network.register_forward_pre_hook(_before, with_kwargs=True)
    return network


def _before(
    network: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if args:
        return (row_normalized(args[0]), *args[1:]), kwargs
    return args, {**kwargs, "x": row_normalized(kwargs["x"])}
