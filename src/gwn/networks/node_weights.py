"""Weights for the nodes of one graph: its adjacency rows as features."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from gwn.errors import GWNError
from gwn.sparse import SparseMatrix, sparse_linear


class NodeWeights(nn.Module):
    """`A W + b` with `W` of one row a node, drawn when the first graph says how many there are.

    The rows belong to the nodes of that graph: on a graph with another number of nodes the model has no answer. They
    are drawn from a seed of their own, uniformly within `bound`, by default `1 / sqrt(nodes)` as in PyG's LINKX. A
    `state_dict` from before the first graph has no rows: loaded, they are drawn anew from the module's own seed.
    """

    def __init__(self, channels: int, *, bias: bool = True, bound: float | None = None) -> None:
        super().__init__()
        self.bound = bound
        self.weight = nn.Parameter(torch.empty(0, channels))
        self.bias = nn.Parameter(torch.zeros(channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        self.seed = int(torch.randint(2**31, (), device="cpu"))
        if self.bias is not None:
            nn.init.zeros_(self.bias)
        if self.weight.shape[0] > 0:
            self._draw(self.weight.shape[0])

    def _draw(self, nodes: int) -> None:
        bound = nodes**-0.5 if self.bound is None else self.bound
        generator = torch.Generator().manual_seed(self.seed)
        drawn = torch.rand(nodes, self.weight.shape[1], generator=generator, dtype=torch.float64)
        self.weight.data = (drawn * 2 - 1).mul_(bound).to(self.weight)

    def forward(self, edge_index: SparseMatrix, edge_weight: Tensor | None = None) -> Tensor:
        nodes, known = edge_index.size(0), self.weight.shape[0]
        if known == 0:
            self._draw(nodes)
        elif known != nodes:
            raise GWNError(
                f"this model has weights for the {known} nodes it was trained on and cannot answer for a graph of "
                f"{nodes}; train on this graph, or use a model without weights for single nodes"
            )
        return sparse_linear(edge_index, self.weight, self.bias)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *others: Any) -> None:
        stored = state_dict.get(f"{prefix}weight")
        if stored is not None and 0 in (self.weight.shape[0], stored.shape[0]):
            self.weight.data = self.weight.new_empty(stored.shape)
        super()._load_from_state_dict(state_dict, prefix, *others)
