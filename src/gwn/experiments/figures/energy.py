"""How far apart the features of neighbours are: Dirichlet energy, and the features to ask it of."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from gwn.adjacency import adjacency_of
from gwn.graph import Graph
from gwn.sparse import matmul
from gwn.training.fit import predict_logits


def relative_energy(x: Tensor, graph: Graph) -> float:
    """`tr(X^T (I - Â) X) / ||X||²`, `Â = D~^-1/2 (A + I) D~^-1/2`: in [0, 2), and 0 where all nodes of a component
    carry the same feature up to `sqrt(d~)`, that is, over-smoothing; independent of the scale of X."""
    x = x.double()
    matrix = adjacency_of(
        graph.edge_index, graph.edge_weight, graph.num_nodes, dtype=torch.float64, self_loops="add"
    ).matrix
    x = x / x.abs().max().clamp_min(1e-300)  # the square of a grown wave would overflow
    norm = x.square().sum()
    return float((norm - (x * matmul(matrix, x)).sum()) / norm) if float(norm) > 0 else 0.0


@torch.no_grad()
def last_features(network: nn.Module, graph: Graph) -> Tensor:
    """What the last linear map sees, [N, d]; for a network that is one linear map and propagation, its logits without
    the bias."""
    convs: Any = getattr(network, "convs", [None])
    last = getattr(network, "head", convs[-1])
    if last is None:
        bias = getattr(network, "bias", None)
        logits = predict_logits(network, graph)
        return logits - bias if isinstance(bias, Tensor) else logits
    seen: list[Tensor] = []

    def remember(_: nn.Module, inputs: tuple[Any, ...]) -> None:
        seen.append(inputs[0])

    handle = last.register_forward_pre_hook(remember)
    try:
        predict_logits(network, graph)
    finally:
        handle.remove()
    return seen[-1]
