"""The signals that start a wave, an impulse or a network's scores, and how their energy is spread over frequencies.

No eigenvector is computed. With `S = cos(theta)` and the moments `m_k = <x, T_k(S) x>`, the energy of `x` between two
angles is the integral of `(g_0 m_0 + 2 sum_k g_k m_k cos(k theta)) / pi`, where Jackson's factors `g_k` keep it
positive. A frequency is an eigenvalue of `I - S`: 0 is smooth, 2 is rough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.networks import GWN
from gwn.sparse import SparseMatrix
from gwn.training.loop import predict_logits

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
        names=tuple(_signal_name(graph, index) for index in kept),
        displacement=phi0 @ weights,
        velocity=phi1 @ weights,
        own=states @ weights,
    )


def _signal_name(graph: Graph, index: int) -> str:
    return "predicted number" if graph.task == "regression" else f"score of class {graph.label_name(index)}"


def node_name(graph: Graph, node: int) -> str:
    """The user's name of a node, or its number."""
    return graph.node_ids[node] if graph.node_ids is not None else f"node {node}"


def _largest_classes(graph: Graph) -> list[int]:
    if graph.y is None:
        return list(range(min(graph.num_classes, MOST_CLASSES)))
    if graph.task == "regression":
        return [0]
    counts = torch.bincount(graph.y[graph.labelled], minlength=graph.num_classes)
    return [int(index) for index in counts.argsort(descending=True, stable=True)[:MOST_CLASSES]]


MOMENTS = 128
BINS = 50


def bin_edges() -> np.ndarray:
    """The ends of the `BINS` intervals of frequency, from 0 to 2."""
    return np.linspace(0.0, 2.0, BINS + 1)


def energy_by_frequency(matrix: SparseMatrix, signals: Tensor) -> np.ndarray:
    """The share of each signal's energy in every interval of frequency, [signals, BINS]; `signals` is [N, count]."""
    moments = chebyshev_moments(matrix, signals)
    k = np.arange(1, MOMENTS)
    theta = np.arccos(np.clip(1 - bin_edges(), -1, 1))
    integrals = np.concatenate([theta[None, :], np.sin(np.outer(k, theta)) / k[:, None] * 2], axis=0) / np.pi
    energy = (jackson()[:, None] * moments).T @ np.diff(integrals, axis=1)
    total = moments[0][:, None]
    shares: np.ndarray = np.divide(np.clip(energy, 0, None), total, out=np.zeros_like(energy), where=total > 0)
    return shares


def chebyshev_moments(matrix: SparseMatrix, signals: Tensor) -> np.ndarray:
    """`<x, T_k(S) x>` for k below `MOMENTS`, two from every product: `T_2k = 2 T_k² - T_0`, and so for `T_2k+1`."""
    before, now = signals, matrix.csr @ signals
    first, second = (signals * signals).sum(0), (signals * now).sum(0)
    moments = [first, second]
    while len(moments) < MOMENTS:
        moments.append(2 * (now * now).sum(0) - first)
        before, now = now, 2 * (matrix.csr @ now) - before
        moments.append(2 * (before * now).sum(0) - second)
    return torch.stack(moments[:MOMENTS]).numpy()


def jackson() -> np.ndarray:
    """Jackson's factors: they smooth the series to about `pi / MOMENTS` in angle and keep densities positive."""
    k, step = np.arange(MOMENTS), np.pi / (MOMENTS + 1)
    factors: np.ndarray = ((MOMENTS - k + 1) * np.cos(k * step) + np.sin(k * step) / np.tan(step)) / (MOMENTS + 1)
    return factors
