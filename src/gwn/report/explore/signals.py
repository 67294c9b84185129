"""What is set swinging: a blow to one node, or the wave that a trained network makes of its features."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.networks import GWN
from gwn.training.fit import predict_logits

MOST_CLASSES = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class Signals:
    """Several signals that start at the same time, one a column.

    names          what a person chooses them by
    displacement   [N, count] X(0)
    velocity       [N, count]
    own            [n + 1, N, count] the wave as the network itself computes it, where there is one
    """

    names: tuple[str, ...]
    displacement: Tensor
    velocity: Tensor
    own: Tensor | None = None


def impulse(graph: Graph, node: int) -> Signals:
    """Displacement 1 at one node, everything at rest."""
    start = torch.zeros(graph.num_nodes, 1, dtype=torch.float64)
    start[node] = 1.0
    return Signals(
        names=(f"impulse at {node_name(graph, node)}",), displacement=start, velocity=torch.zeros_like(start)
    )


def network_signals(network: GWN, graph: Graph) -> Signals:
    """The score of each class as it travels: the channels, combined as the network's answer combines them.

    For the paper's linear head on the last state that is exactly the head's row of the class, less the mean of all
    rows, which no answer depends on; for other read-outs it is the nearest linear combination.
    """
    network = network.to("cpu", torch.float64).eval()
    graph = graph.to("cpu", torch.float64)
    with torch.no_grad():
        states = network.trajectory(graph.x, graph.edge_index, graph.edge_weight)
        logits = predict_logits(network, graph)
        if not bool(torch.isfinite(states[-1]).all() & torch.isfinite(logits).all()):
            raise GWNError("the network overflows on this graph; train it again with a smaller time or tau")
        phi0, phi1 = network.encode(graph.x)
    scores = logits - logits.mean(1, keepdim=True)
    columns = torch.cat([states[-1], torch.ones_like(scores[:, :1])], dim=1)
    weights = torch.linalg.lstsq(columns, scores, driver="gelsd").solution[:-1]
    kept = _largest_classes(graph)
    weights = weights[:, kept]
    return Signals(
        names=tuple(f"score of class {graph.label_name(index)}" for index in kept),
        displacement=phi0 @ weights,
        velocity=phi1 @ weights,
        own=states @ weights,
    )


def node_name(graph: Graph, node: int) -> str:
    """The user's name of a node, or its number."""
    return graph.node_ids[node] if graph.node_ids is not None else f"node {node}"


def _largest_classes(graph: Graph) -> list[int]:
    if graph.y is None:
        return list(range(min(graph.num_classes, MOST_CLASSES)))
    known = graph.y[graph.y >= 0]
    counts = torch.bincount(known, minlength=graph.num_classes)
    return [int(index) for index in counts.argsort(descending=True, stable=True)[:MOST_CLASSES]]
