"""What a trained network shows of itself: the score of every class as it travels, and attention on the drawn edges."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.networks import GWN
from gwn.training.loop import predict_logits

MOST_CLASSES = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class Signals:
    """The scores of several classes, one a column.

    names      what a person chooses them by
    states     [n + 1, N, count] the wave as the network itself computes it
    velocity   [N, count] with which it starts
    zeros      [count] the score that zero stands for: what is added to every node alike
    """

    names: tuple[str, ...]
    states: Tensor
    velocity: Tensor
    zeros: Tensor


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
        phi1 = network.encode(graph.x)[1]
    scores = logits - logits.mean(1, keepdim=True) if logits.shape[1] > 1 else logits
    columns = torch.cat([states[-1], torch.ones_like(scores[:, :1])], dim=1)
    kept = _largest_classes(graph)
    solution = torch.linalg.lstsq(columns, scores, driver="gelsd").solution[:, kept]
    weights, zeros = solution[:-1], solution[-1]
    names = tuple(_signal_name(graph, index) for index in kept)
    return Signals(names=names, states=states @ weights, velocity=phi1 @ weights, zeros=zeros)


def _signal_name(graph: Graph, index: int) -> str:
    return "the predicted number" if graph.task == "regression" else f"class {graph.label_name(index)}"


def _largest_classes(graph: Graph) -> list[int]:
    if graph.y is None:
        return list(range(min(graph.num_classes, MOST_CLASSES)))
    if graph.task == "regression":
        return [0]
    counts = torch.bincount(graph.y[graph.labelled], minlength=graph.num_classes)
    return [int(index) for index in counts.argsort(descending=True, stable=True)[:MOST_CLASSES]]


def attention_on(network: GWN, graph: Graph, pairs: Tensor) -> Tensor:
    """[n, m] alpha of every step on undirected edges `pairs` [2, m]: the mean of both directions, which differ."""
    network, graph = network.to("cpu", torch.float64), graph.to("cpu", torch.float64)
    edges, alpha = network.attention(graph.x, graph.edge_index, graph.edge_weight)
    keys, order = (edges[0] * graph.num_nodes + edges[1]).sort()
    sums, found = alpha.new_zeros(alpha.shape[0], pairs.shape[1]), alpha.new_zeros(pairs.shape[1])
    for source, target in (pairs, pairs.flip(0)):
        wanted = source * graph.num_nodes + target
        place = torch.searchsorted(keys, wanted).clamp_max(keys.numel() - 1)
        there = keys[place] == wanted
        sums += torch.where(there, alpha[:, order[place]], 0.0)
        found += there
    return sums / found.clamp_min(1)
