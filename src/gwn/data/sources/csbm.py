"""The contextual stochastic block model: a graph of chosen homophily and feature signal (Deshpande et al. 2018)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from gwn.data.catalogue import DatasetSpec, Loaded
from gwn.errors import GWNError
from gwn.graph import Graph


def contextual_sbm(
    nodes: int = 1000,
    degree: float = 10.0,
    homophily: float = 0.25,
    features: int = 16,
    classes: int = 4,
    signal: float = 1.0,
    seed: int = 0,
) -> Graph:
    """A graph of `nodes * degree / 2` undirected edges of which the share `homophily` joins equal classes.

    The number of edges of either sort is fixed rather than drawn, so that the homophily is the one asked for and not
    a sample of it. Node `i` of class `c` has features `signal * mu_c + noise`, with `mu_c` a random unit vector and
    standard normal noise in every coordinate.
    """
    _check(nodes, degree, homophily, features, classes, signal)
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(nodes) % classes)
    total = round(nodes * degree / 2)
    same = round(homophily * total)
    pairs = np.concatenate([_pairs(rng, y, same, equal=True), _pairs(rng, y, total - same, equal=False)])
    means = rng.standard_normal((classes, features))
    means *= signal / np.linalg.norm(means, axis=1, keepdims=True)
    x = means[y] + rng.standard_normal((nodes, features))
    both = np.concatenate([pairs, pairs[:, ::-1]])
    return Graph(
        x=torch.from_numpy(x.astype(np.float32)),
        edge_index=torch.from_numpy(both[np.lexsort((both[:, 1], both[:, 0]))].T.copy()),
        y=torch.from_numpy(y),
        name="csbm",
    )


def _pairs(rng: np.random.Generator, y: NDArray[np.int64], count: int, *, equal: bool) -> NDArray[np.int64]:
    """`count` different unordered pairs of different nodes, of equal or of different classes."""
    nodes, classes = y.size, int(y.max()) + 1
    sizes = np.bincount(y)
    inside = int((sizes * (sizes - 1) // 2).sum())
    possible = inside if equal else nodes * (nodes - 1) // 2 - inside
    if count > possible // 2:
        raise GWNError(
            f"{count} edges {'within' if equal else 'between'} classes asked for, {possible} exist; "
            "choose a smaller degree or more nodes"
        )
    members = np.argsort(y, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    keys = np.empty(0, dtype=np.int64)
    while keys.size < count:
        a = rng.integers(nodes, size=2 * (count - keys.size) + 16)
        other = y[a] if equal else (y[a] + rng.integers(1, classes, size=a.size)) % classes
        b = members[starts[other] + rng.integers(sizes[other])]
        drawn = (np.minimum(a, b) * nodes + np.maximum(a, b))[a != b]
        keys = np.concatenate([keys, drawn])
        keys = keys[np.sort(np.unique(keys, return_index=True)[1])]  # first come, first kept: no order by node
    keys = keys[:count]
    return np.stack([keys // nodes, keys % nodes], axis=1)


def _check(nodes: int, degree: float, homophily: float, features: int, classes: int, signal: float) -> None:
    rules = {
        f"classes is {classes}; it must be at least 2": classes >= 2,
        f"nodes is {nodes}; it must be at least 2 a class, here {2 * classes}": nodes >= 2 * classes,
        f"features is {features}; it must be at least 1": features >= 1,
        f"degree is {degree}; it must not be negative": 0 <= degree < float("inf"),
        f"homophily is {homophily}; it must be between 0 and 1": 0 <= homophily <= 1,
        f"signal is {signal}; it must be finite and not negative": 0 <= signal < float("inf"),
    }
    for message, holds in rules.items():
        if not holds:
            raise GWNError(message)


def csbm(root: Path, spec: DatasetSpec) -> Loaded:
    """The generator at its default settings."""
    return contextual_sbm(), {}
