"""scikit-learn's handwritten digits as a nearest-neighbour graph: real data that needs no file and no network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from gwn.data.catalogue import DatasetSpec, Loaded
from gwn.graph import Graph, undirected

NEIGHBOURS = 8
BRIGHTEST = 16.0


def digits(root: Path, spec: DatasetSpec) -> Loaded:
    """1,797 images of 8 x 8 pixels in [0, 1]; two are joined if one is among the 8 nearest of the other."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    graph = Graph(
        x=torch.from_numpy((pixels / BRIGHTEST).astype(np.float32)),
        edge_index=torch.from_numpy(nearest(pixels.astype(np.int64), NEIGHBOURS)),
        y=torch.from_numpy(labels.astype(np.int64)),
        name=spec.name,
        class_names=tuple(str(digit) for digit in range(10)),
    )
    return undirected(graph).compact(), {}


def nearest(points: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Edges [2, N k] from each point to its `k` nearest, ties to the lower index.

    Pixels are integers, so distances are exact and the graph is the same on every machine; scikit-learn's own
    neighbours break ties as the processor's sorting instructions happen to.
    """
    norms = (points**2).sum(axis=1)
    distance = norms[:, None] + norms[None, :] - 2 * points @ points.T
    np.fill_diagonal(distance, distance.max() + 1)
    order = distance * len(points) + np.arange(len(points))
    near = np.sort(np.argpartition(order, k, axis=1)[:, :k], axis=1)
    return np.stack([np.repeat(np.arange(len(points)), k), near.reshape(-1)])
