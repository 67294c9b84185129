"""A block model written as a graph folder, chunk by chunk: the same seed gives the same bytes on any machine."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gwn.data import DATASETS
from gwn.data.folders.csr_builder import MOST_NODES, CSRBuilder, sorting_memory
from gwn.data.folders.folder import FolderWriter, GraphFolder, new_folder
from gwn.errors import MOST_SEED, GWNError, require_between
from gwn.graph import MOST_CLASSES
from gwn.io import require_space
from gwn.memory import budget
from gwn.registry import lookup

SKEW = 0.6
"""Exponent of the weights: degrees then fall off as a power law with the exponent 1 + 1 / SKEW = 2.7."""

LARGEST = 20_000
"""A class has its heaviest node near rank (class size) / LARGEST, which bounds the largest degree."""

YEARS = tuple(range(2007, 2021))
YEAR_SHARES = (0.02, 0.02, 0.03, 0.03, 0.04, 0.05, 0.06, 0.07, 0.07, 0.07, 0.077, 0.176, 0.204, 0.083)
"""Close to ogbn-arxiv's: more papers every year, 54 % up to 2017, 18 % of 2018, 28 % later."""

TIME_SPLIT = (2017, 2018)
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Community:
    """`size` nodes of all classes, numbered from 0 so that every stretch of them has all classes in their shares."""

    size: int
    classes: int
    seed: int

    @cached_property
    def sizes(self) -> Ints:
        """Nodes of every class: the largest has several times as many as the smallest, and all have some."""
        share = 1 / (np.arange(self.classes) + 0.1 * self.classes + 1)
        ends = np.round(np.cumsum(share / share.sum()) * (self.size - 2 * self.classes)).astype(np.int64)
        return np.diff(ends, prepend=0) + 2

    @cached_property
    def starts(self) -> Ints:
        """Where each class begins, in an order of the nodes in which the classes follow one another."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def stride(self) -> int:
        """From one place of that order to the next node: the golden ratio of all, so neighbours are far apart."""
        return coprime(0.6180339887, self.size)

    def labels(self, node: Ints) -> Ints:
        """The class of each node."""
        return self.class_at((self.stride * node + self.seed) % self.size)

    def class_at(self, place: Ints) -> Ints:
        return np.searchsorted(self.starts, place, side="right") - 1

    def another_class(self, label: Ints, u: NDArray[np.float64]) -> Ints:
        """Another class, by its size: a draw among the nodes outside this one, whose stretch of places is skipped."""
        outside = (u * (self.size - self.sizes[label])).astype(np.int64)
        outside += np.where(outside >= self.starts[label], self.sizes[label], 0)
        return self.class_at(outside)

    def member(self, label: Ints, u: NDArray[np.float64]) -> Ints:
        """A node of this class by the weight of its rank: `integral of (r + r0)^-SKEW` up to rank, inverted at u."""
        first = 1 + self.sizes / LARGEST
        low, high = first ** (1 - SKEW), (first + self.sizes) ** (1 - SKEW)
        rank = (low[label] + u * (high - low)[label]) ** (1 / (1 - SKEW)) - first[label]
        place = self.starts[label] + np.minimum(rank.astype(np.int64), self.sizes[label] - 1)
        inverse = pow(self.stride, -1, self.size)
        return (place - self.seed) % self.size * inverse % self.size  # both are below 2^31


def coprime(share: float, size: int) -> int:
    """The number nearest to `share size` that has no divisor in common with it."""
    stride = max(1, round(share * size))
    while math.gcd(stride, size) != 1:
        stride += 1
    return stride


@dataclass(frozen=True, kw_only=True)
class BlockModel:
    """Sizes and the seed; `homophily` is the share of edges that are drawn within a class.

    signal        how far the means of the classes are apart, in standard deviations of the noise of one feature
    drift         how far a class wanders over the years, so that the latest nodes are not like those trained on
    communities   stretches of neighbouring node numbers, as large as one another, each with all classes; 1: none
    mixing        share of edges that are drawn between communities instead of within one
    """

    nodes: int
    edges: int
    features: int = 128
    classes: int = 40
    homophily: float = 0.65
    signal: float = 1.0
    drift: float = 1.0
    communities: int = 1
    mixing: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("classes", 2), ("features", 1), ("edges", 0), ("communities", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise GWNError(f"{name} must be at least {least}; got {getattr(self, name)}")
        require_between("nodes", self.nodes, 4 * 2, MOST_NODES)
        for name, most in (("edges", 10**11), ("features", 10**6), ("seed", MOST_SEED)):
            require_between(name, getattr(self, name), 0, most)
        require_between("classes", self.classes, 2, MOST_CLASSES)
        if self.nodes // self.communities < 4 * self.classes:
            each = f" in each of {self.communities:,} communities" if self.communities > 1 else ""
            raise GWNError(
                f"{self.nodes} nodes for {self.classes} classes{each}; at least four a class are needed: use --nodes "
                f"{4 * self.classes * self.communities} or more, or fewer --classes"
            )
        for name in ("homophily", "mixing"):
            if not 0 <= getattr(self, name) <= 1:
                raise GWNError(f"{name} must be between 0 and 1; got {getattr(self, name)}")
        if 8 * self.edges > self.nodes * (self.nodes - 1):
            raise GWNError(
                f"{self.edges:,} edges asked for between {self.nodes:,} nodes; ask for at most a quarter of all pairs"
            )
        size = self.nodes // self.communities
        if self.communities > 1 and 8 * self.edges * (1 - self.mixing) > self.nodes * (size - 1):
            raise GWNError(
                f"{self.edges:,} edges asked for in {self.communities:,} communities of {size:,} nodes; ask for fewer "
                "communities, more mixing, or fewer edges: at most a quarter of the pairs in a community"
            )

    @cached_property
    def larger(self) -> int:
        """How many communities, the first ones, have one node more than the others."""
        return self.nodes % self.communities

    @cached_property
    def kinds(self) -> tuple[Community, Community]:
        """A community of the usual size, and one with a node more."""
        size = self.nodes // self.communities
        return Community(size, self.classes, self.seed), Community(size + 1, self.classes, self.seed)

    def labels(self, node: Ints) -> Ints:
        """The class of each node."""
        number, first = self._community(node)
        return self._of_kind(number, lambda kind, at: kind.labels((node - first)[at]))

    def years(self, node: Ints) -> Ints:
        """The year of each node, independent of its class."""
        place = (coprime(0.4142135624, self.nodes) * node + 7 * self.seed) % self.nodes
        ends = np.cumsum(YEAR_SHARES) / sum(YEAR_SHARES)
        return np.asarray(YEARS)[np.searchsorted(ends[:-1], (place + 0.5) / self.nodes, side="right")]

    def draw_features(self, node: Ints, number: int) -> NDArray[np.float32]:
        """Class mean, drift with the years, and noise; `number` names the chunk, which has its own random numbers."""
        mean, wander = self._means
        y, age = self.labels(node), (self.years(node) - YEARS[0]) / (YEARS[-1] - YEARS[0])
        x = self._rng(1, number).standard_normal((node.size, self.features), dtype=np.float32)
        x += mean[y]
        x += wander[y] * age[:, None].astype(np.float32)
        return x

    def draw_edges(self, count: int, number: int) -> tuple[Ints, Ints]:
        """`count` pairs; they may repeat, and may join a node to itself."""
        rng = self._rng(2, number)
        place = rng.integers(self.nodes, size=count)
        here, first = self._community(place)
        a = self._of_kind(here, lambda kind, at: kind.class_at((place - first)[at]))
        draws = [rng.random(count) for _ in range(4)]
        there = here
        if self.communities > 1:
            other = (here + 1 + (rng.random(count) * (self.communities - 1)).astype(np.int64)) % self.communities
            there = np.where(rng.random(count) < self.mixing, other, here)
        outside = self._of_kind(there, lambda kind, at: kind.another_class(a[at], draws[0][at]))
        b = np.where(draws[1] < self.homophily, a, outside)
        return self._members(here, a, draws[2]), self._members(there, b, draws[3])

    def _members(self, community: Ints, label: Ints, u: NDArray[np.float64]) -> Ints:
        """Nodes of these communities and classes."""
        local = self._of_kind(community, lambda kind, at: kind.member(label[at], u[at]))
        size = self.nodes // self.communities
        return community * size + np.minimum(community, self.larger) + local

    def _community(self, node: Ints) -> tuple[Ints, Ints]:
        """The community of each node, and its first node."""
        size = self.nodes // self.communities
        until = self.larger * (size + 1)
        number = np.where(node < until, node // (size + 1), self.larger + (node - until) // size)
        return number, number * size + np.minimum(number, self.larger)

    def _of_kind(self, community: Ints, of: Callable[[Community, Any], Ints]) -> Ints:
        """What `of` says of each entry, by the size of its community."""
        usual, larger = self.kinds
        if self.larger == 0:
            return of(usual, slice(None))
        is_larger = community < self.larger
        out = np.empty(community.shape, dtype=np.int64)
        for kind, at in ((usual, ~is_larger), (larger, is_larger)):
            out[at] = of(kind, at)
        return out

    @cached_property
    def _means(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        rng = self._rng(0, 0)
        both = rng.standard_normal((2, self.classes, self.features))
        both /= np.linalg.norm(both, axis=2, keepdims=True)
        return (self.signal * both[0]).astype(np.float32), (self.drift * both[1]).astype(np.float32)

    def _rng(self, purpose: int, number: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, purpose, number])


NODES_AT_ONCE = 1 << 16
EDGES_AT_ONCE = 1 << 20
MOST_ROUNDS = 50
HOMOPHILY = {"ogbn-arxiv": 0.655, "cora": 0.81, "citeseer": 0.74, "pubmed": 0.80}
"""Measured on the originals; a dataset not named here gets a half."""

OnPart = Callable[[str, int, int], None]


def model_like(name: str, **changes: float | int | None) -> BlockModel:
    """The sizes of a known dataset, with changes where they are given."""
    spec = lookup("dataset", name, DATASETS)
    sizes = {
        "nodes": spec.nodes,
        "edges": spec.edges,
        "features": spec.features,
        "classes": spec.classes,
        "homophily": HOMOPHILY.get(name, 0.5),
    }
    return BlockModel(**{**sizes, **{key: value for key, value in changes.items() if value is not None}})  # type: ignore[arg-type]


def generate_folder(
    model: BlockModel,
    out: Path,
    *,
    memory: int | None = None,
    force: bool = False,
    on_part: OnPart = lambda what, done, total: None,
) -> GraphFolder:
    """Write the graph; `on_part` hears how far it is.

    memory   bytes this process may hold; None: a gibibyte more than it does
    """
    arcs, row = 2 * model.edges, 4 * model.features + 14
    require_space(out, model.nodes * row + (4 + 8) * arcs)  # arrays, and the arcs while they are sorted
    with new_folder(out, force=force) as folder:
        _write_nodes(model, folder, on_part)
        _write_edges(model, folder, budget(memory), on_part)
        folder.facts = {
            "name": out.name,
            "classes": model.classes,
            "time_split": list(TIME_SPLIT),
            "made": {"by": "block model", **asdict(model)},
            "caveat": "Generated: a degree-corrected block model. Accuracies on it say nothing about real graphs.",
        }
    return GraphFolder.open(out)


def _write_nodes(model: BlockModel, folder: FolderWriter, on_part: OnPart) -> None:
    x, y, year = folder.array("x", (model.features,)), folder.array("y"), folder.array("year")
    for number, start in enumerate(range(0, model.nodes, NODES_AT_ONCE)):
        node = np.arange(start, min(start + NODES_AT_ONCE, model.nodes))
        x.append(model.draw_features(node, number))
        y.append(model.labels(node))
        year.append(model.years(node))
        on_part("nodes", int(node[-1]) + 1, model.nodes)
    for name, writer in (("x", x), ("y", y), ("year", year)):
        folder.finish(name, writer)


def _write_edges(model: BlockModel, folder: FolderWriter, memory: int, on_part: OnPart) -> None:
    """Draw what is missing until every edge is there once: repeats and self-loops are few, so rounds shrink fast."""
    scratch = folder.path / "buckets"
    builder = CSRBuilder(scratch, model.nodes, 2 * model.edges, sorting_memory(memory))
    try:
        found, number = 0, 0
        for _ in range(MOST_ROUNDS):
            missing = model.edges - found
            for start in range(0, missing, EDGES_AT_ONCE):
                builder.add(*model.draw_edges(min(EDGES_AT_ONCE, missing - start), number))
                number += 1
                on_part("edges", found + start, model.edges)
            found = builder.compact() // 2
            if found == model.edges:
                break
        else:
            raise GWNError(f"only {found:,} of {model.edges:,} different edges were found; ask for fewer edges")
        indptr, indices = folder.array("indptr"), folder.array("indices")
        builder.write(indptr, indices)
    finally:
        builder.close()
    folder.finish("indptr", indptr)
    folder.finish("indices", indices)
    on_part("edges", model.edges, model.edges)
    shutil.rmtree(scratch)
