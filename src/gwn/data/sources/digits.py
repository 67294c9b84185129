"""scikit-learn's handwritten digits as a nearest-neighbour graph: real data that needs no file and no network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from gwn.data.dataset import DatasetSpec, Loaded
from gwn.data.sources.pyg import undirected
from gwn.graph import Graph

NEIGHBOURS = 8
BRIGHTEST = 16.0


def load(root: Path) -> Loaded:
    """1,797 images of 8 x 8 pixels in [0, 1]; two are joined if one is among the 8 nearest of the other."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    graph = Graph(
        x=torch.from_numpy((pixels / BRIGHTEST).astype(np.float32)),
        edge_index=torch.from_numpy(nearest(pixels.astype(np.int64), NEIGHBOURS)),
        y=torch.from_numpy(labels.astype(np.int64)),
        name="digits",
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


DIGITS = DatasetSpec(
    name="digits",
    title="Digits",
    nodes=1797,
    edges=9929,
    features=64,
    classes=10,
    directed=False,
    default_split="stratified",
    kind="homophilic",
    source="scikit-learn's load_digits (Alpaydin, Kaynak: Optical Recognition of Handwritten Digits, UCI 1998)",
    load=load,
    caveat="The graph is made from the features, so it holds no information that an MLP could not find in them.",
)
