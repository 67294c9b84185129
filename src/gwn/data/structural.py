"""Features from the edges alone, for graphs whose nodes have none: an explicit choice, computable on any graph."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, lobpcg
from torch import Tensor

from gwn.errors import GWNError
from gwn.graph import undirected_edges
from gwn.registry import require_known

BUCKETS = 12
"""Degrees 0, 1, 2, 3-4, 5-8, ..., more than 512."""

WALK_STEPS = (2, 3, 4)
"""Longer walks need powers of the adjacency matrix that are dense on large graphs; one step never returns."""

EIGENVECTORS = 32
"""Those of small eigenvalues count little, so that a small graph is not drowned in noise."""

SPARE = 4
"""So many more are computed, so that equal eigenvalues at the end are rarely torn apart."""

DENSE = 500
"""Up to so many nodes all eigenvectors are computed at once."""

REGULARISATION = 0.25
"""Of the mean strength, spread over all pairs of nodes: the leading eigenvectors are then of the whole graph and not
one for each of its small pieces."""

RESTARTS = 50
"""Of the search for eigenvectors, before what it reached is taken."""

EQUAL = 1e-6
"""Eigenvalues nearer than this share a space in which any rotation is as good."""

DAMPING = 0.85
PAGERANK_STEPS = 60

ROWS = 4096

Features = NDArray[np.float64]


def degree(adjacency: Any) -> Features:
    """log(1 + degree), and which power of two the degree is in."""
    degrees = np.diff(adjacency.indptr)
    bucket = np.where(degrees == 0, 0, 1 + np.ceil(np.log2(np.maximum(degrees, 1))).astype(int)).clip(0, BUCKETS - 1)
    return np.column_stack([np.log1p(degrees), np.eye(BUCKETS)[bucket]])


def random_walk(adjacency: Any) -> Features:
    """Probability that a random walk is back after 2, 3 and 4 steps: degree, triangles and squares around a node.

    With P = D⁻¹A and reversibility, d_i P²_ij = d_j P²_ji, all three are read off the rows of P².
    """
    strength = np.asarray(adjacency.sum(axis=1)).ravel()
    inverse = np.divide(1.0, strength, out=np.zeros_like(strength), where=strength > 0)
    walk = (sp.diags_array(inverse) @ adjacency).tocsr()
    back = walk.T.tocsr()
    out = np.empty((adjacency.shape[0], len(WALK_STEPS)))
    for start in range(0, adjacency.shape[0], ROWS):
        rows = slice(start, start + ROWS)
        twice = (walk[rows] @ walk).tocsr()
        out[rows, 0] = np.asarray(walk[rows].multiply(back[rows]).sum(axis=1)).ravel()
        out[rows, 1] = np.asarray(twice.multiply(back[rows]).sum(axis=1)).ravel()
        out[rows, 2] = np.asarray(twice.power(2) @ inverse).ravel() * strength[rows]
    return out


def constant(adjacency: Any) -> Features:
    """The same number for every node: only the shape of the graph is left to learn from."""
    return np.ones((adjacency.shape[0], 1))


def spectral(adjacency: Any) -> Features:
    """Where a node lies in the graph: lambda v / sqrt(d + tau) for the largest eigenvalues of the normalised adjacency.

    S = (D + tau)^(-1/2) (A + tau / N 11ᵀ) (D + tau)^(-1/2),  S v = lambda v,  columns scaled to lambda times unit size

    tau is `REGULARISATION` times the mean strength. Negative eigenvalues count as none. Another graph, or this one with
    another edge, has other eigenvectors: these numbers mean nothing there.
    """
    count = adjacency.shape[0]
    out = np.zeros((count, EIGENVECTORS))
    strength = np.asarray(adjacency.sum(axis=1)).ravel()
    tau = REGULARISATION * strength.mean()
    if tau <= 0:
        return out
    scale = 1 / np.sqrt(strength + tau)
    values, vectors = _leading_eigenvectors(adjacency, scale, tau / count)
    vectors = scale[:, None] * _definite(values, vectors)[:, :EIGENVECTORS]
    size = np.sqrt((vectors**2).mean(axis=0))
    out[:, : vectors.shape[1]] = vectors / size * values[:EIGENVECTORS].clip(min=0)
    return out


def _leading_eigenvectors(adjacency: Any, scale: Features, spread: float) -> tuple[Features, Features]:
    """The largest eigenvalues, in descending order, of diag(scale) (A + spread 11ᵀ) diag(scale), and their vectors."""
    count, wanted = adjacency.shape[0], EIGENVECTORS + SPARE
    if count <= max(DENSE, wanted):
        values, vectors = eigh(scale[:, None] * (adjacency.toarray() + spread) * scale)
        return values[::-1][:wanted], vectors[:, ::-1][:, :wanted]

    def product(x: Features) -> Any:
        scaled = scale[:, None] * x.reshape(count, -1)
        return scale[:, None] * (adjacency @ scaled + spread * scaled.sum(axis=0))

    operator = LinearOperator((count, count), matvec=product, matmat=product, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=(count, wanted))  # the same for every graph of this size
    try:
        values, vectors = eigsh(operator, k=wanted, which="LA", v0=start[:, 0], tol=1e-6, maxiter=RESTARTS)
    except ArpackNoConvergence:  # long paths and grids: nearly equal eigenvalues; what was reached is smooth enough
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values, vectors = lobpcg(operator, start, largest=True, maxiter=RESTARTS)
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def _definite(values: Features, vectors: Features) -> Features:
    """The same spaces with a basis that does not depend on how they were computed.

    Of each group of equal eigenvalues, the node with the most of the space gets a vector of its own, positive there;
    then the same in what is left of the space. A single eigenvector is thus positive where it is largest.
    """
    out = np.empty_like(vectors)
    ends = [*np.flatnonzero(np.diff(values) < -EQUAL) + 1, len(values)]
    for start, end in zip([0, *ends], ends, strict=False):
        rest = vectors[:, start:end].copy()
        for place in range(start, end):
            share = (rest**2).sum(axis=1)
            node = int(np.argmax(share > share.max() * (1 - 1e-6)))  # the first of those that are equal
            direction = rest[node] / np.sqrt(share[node])
            out[:, place] = vectors[:, start:end] @ direction
            rest -= np.outer(rest @ direction, direction)
    return out


def structure(adjacency: Any) -> Features:
    """What a node's surroundings look like: numbers that mean the same on every graph.

    log(1 + degree), its mean over the neighbours, the share of pairs of neighbours that are joined, log(1 + core
    number), log(N PageRank), and the probabilities that a random walk is back after 2, 3 and 4 steps
    """
    count = adjacency.shape[0]
    degrees = np.diff(adjacency.indptr).astype(np.float64)
    joined = sp.csr_array((np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    around = np.divide(joined @ np.log1p(degrees), degrees, out=np.zeros(count), where=degrees > 0)
    shares = [np.log1p(degrees), around, _clustering(joined, degrees), np.log1p(_core_numbers(adjacency))]
    return np.column_stack([*shares, np.log(count * _pagerank(adjacency)), random_walk(adjacency)])


def _clustering(joined: Any, degrees: Features) -> Features:
    triangles = np.empty_like(degrees)  # twice as many
    for start in range(0, len(degrees), ROWS):
        rows = joined[start : start + ROWS]
        triangles[start : start + ROWS] = np.asarray((rows @ joined).multiply(rows).sum(axis=1)).ravel()
    pairs = degrees * (degrees - 1)
    return np.divide(triangles, pairs, out=np.zeros_like(degrees), where=pairs > 0)


def _core_numbers(adjacency: Any) -> NDArray[np.int64]:
    """The largest k such that a node is in a part of the graph where all have k neighbours in it."""
    indptr, indices = adjacency.indptr, adjacency.indices
    left = np.diff(indptr).astype(np.int64)
    core: NDArray[np.int64] = np.zeros_like(left)
    inside, k = np.ones(len(left), dtype=bool), 0
    while inside.any():
        k = max(k, int(left[inside].min()))
        peeled = np.flatnonzero(inside & (left <= k))
        while peeled.size:
            core[peeled], inside[peeled] = k, False
            lengths = indptr[peeled + 1] - indptr[peeled]
            first = np.repeat(indptr[peeled] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
            near, times = np.unique(indices[first + np.arange(lengths.sum())], return_counts=True)
            left[near] -= times
            peeled = near[inside[near] & (left[near] <= k)]
    return core


def _pagerank(adjacency: Any) -> Features:
    """p = (1 - c) / N + c (Pᵀ p + what nodes without an edge hold, shared by all)."""
    count = adjacency.shape[0]
    strength = np.asarray(adjacency.sum(axis=1)).ravel()
    inverse = np.divide(1.0, strength, out=np.zeros_like(strength), where=strength > 0)
    rank = np.full(count, 1 / count)
    for _ in range(PAGERANK_STEPS):
        lost = rank[strength == 0].sum() / count
        rank = (1 - DAMPING) / count + DAMPING * (adjacency.T @ (inverse * rank) + lost)
    return rank


@dataclass(frozen=True, kw_only=True)
class Structural:
    """A kind of features from the edges.

    names            one a feature
    of_this_graph    whether the numbers mean something on the graph they were computed on alone
    """

    compute: Callable[[Any], Features]
    names: tuple[str, ...]
    of_this_graph: bool = False


_RETURNS = tuple(f"return-after-{steps}" for steps in WALK_STEPS)

STRUCTURAL: dict[str, Structural] = {
    "spectral": Structural(
        compute=spectral,
        names=tuple(f"eigenvector-{number}" for number in range(1, EIGENVECTORS + 1)),
        of_this_graph=True,
    ),
    "structure": Structural(
        compute=structure,
        names=("log-degree", "neighbours-log-degree", "clustering", "log-core", "log-pagerank", *_RETURNS),
    ),
    "degree": Structural(
        compute=degree, names=("log-degree", *(f"degree-bucket-{number}" for number in range(BUCKETS)))
    ),
    "random-walk": Structural(compute=random_walk, names=_RETURNS),
    "constant": Structural(compute=constant, names=("constant",)),
}


def structural_kinds(text: str) -> tuple[str, ...]:
    """The kinds that a text such as "spectral,degree" names, each once."""
    kinds = tuple(dict.fromkeys(kind.strip() for kind in text.split(",") if kind.strip()))
    for kind in kinds or (text,):
        require_known("structural features", kind, STRUCTURAL)
    return kinds


def structural_names(text: str) -> tuple[str, ...]:
    """One name a feature; what two kinds share is there once."""
    return tuple(dict.fromkeys(name for kind in structural_kinds(text) for name in STRUCTURAL[kind].names))


def bound_to(text: str, edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int) -> str:
    """SHA-256 of the graph on which alone these features mean something; "" where they do so on every graph."""
    if not any(STRUCTURAL[kind].of_this_graph for kind in structural_kinds(text)):
        return ""
    edges, weight = undirected_edges(edge_index, edge_weight, num_nodes)
    digest = hashlib.sha256(str(num_nodes).encode())
    for part in (edges, weight):
        digest.update(b"none" if part is None else part.contiguous().numpy().tobytes())
    return digest.hexdigest()


def require_bound(text: str, then: str, now: str) -> None:
    """Refuse features of another graph than the one a model was trained on."""
    if then != now:
        kinds = [kind for kind in structural_kinds(text) if STRUCTURAL[kind].of_this_graph]
        raise GWNError(
            f"the features {', '.join(kinds)} mean something on the graph of training alone, and this one has other "
            "nodes or edges (or the same in another order); train on it, or train with --features structure, which "
            "suits any graph"
        )


def structural_features(text: str, edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int) -> Features:
    """Features [N, f] of the undirected simple graph of these edges, in the order of `structural_names`."""
    (row, col), weight = undirected_edges(edge_index, edge_weight, num_nodes)
    values = np.ones(row.numel()) if weight is None else weight.numpy().astype(np.float64)
    adjacency = sp.csr_array((values, (row.numpy(), col.numpy())), shape=(num_nodes, num_nodes))
    columns: dict[str, Features] = {}
    for kind in structural_kinds(text):
        for name, column in zip(STRUCTURAL[kind].names, STRUCTURAL[kind].compute(adjacency).T, strict=True):
            columns.setdefault(name, column)
    return np.column_stack(list(columns.values()))
