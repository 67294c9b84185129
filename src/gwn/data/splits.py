"""Which nodes train, validate and test: pure functions of (labels, seed), and the splits that others published."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gwn.errors import GWNError
from gwn.graph import is_known

Indices = NDArray[np.int64]
EVERYONE = "all"
"""The kind of a split that leaves no node to validate and to test: all of them train, for as long as others chose."""

TENTHS = np.linspace(0.1, 0.9, 9)

NOTICEABLE_SHIFT = 0.1
"""The share of labels that would have to change for training to have the classes of the other nodes; more is said."""


def shift_by_chance(classes: int, chosen: int, others: int) -> float:
    """Below which such a share says nothing: its mean, at most, where both groups are drawn from the same nodes.

    Half the sum over classes of sqrt(2/pi p (1 - p) (1/n + 1/m)), which is largest where classes are equally frequent.
    """
    return math.sqrt((classes - 1) / (2 * math.pi) * (1 / max(1, chosen) + 1 / max(1, others)))


ASIDE = 20
"""One of so many nodes of a class is set aside."""


WITHOUT_TEST = re.compile(r"validate-([1-9]\d?)")
"""validate-20 and the like: no node is kept for testing, so many per cent of the labelled ones validate."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Split:
    """Node indices of the three parts, disjoint and sorted; a published split's seed is its number.

    `test` is empty in a split without a test: every labelled node is learnt from, and scored elsewhere.
    """

    train: Tensor
    val: Tensor
    test: Tensor
    kind: str
    seed: int

    def __post_init__(self) -> None:
        for part in ("train", "val", "test"):
            nodes = getattr(self, part).to(torch.int64).sort().values
            may_be_empty = self.kind == EVERYONE or (part == "test" and WITHOUT_TEST.fullmatch(self.kind))
            if nodes.numel() == 0 and (part == "train" or not may_be_empty):
                other = " or use 'stratified'" if self.kind in ("per-class", "uniform") else ""
                raise GWNError(f"split {self.kind!r} leaves no node for {part}; label more nodes{other}")
            object.__setattr__(self, part, nodes)
        everyone = torch.cat([self.train, self.val, self.test]).sort().values
        if bool((everyone.diff() == 0).any()):
            raise GWNError(f"split {self.kind!r} number {self.seed} has the same node in two parts")

    def content_hash(self) -> str:
        """SHA-256 of the three parts: equal for equal nodes, whatever made the split."""
        digest = hashlib.sha256()
        for part in (self.train, self.val, self.test):
            digest.update(f"{part.numel()}:".encode())
            digest.update(part.cpu().numpy().astype("<i8").tobytes())
        return digest.hexdigest()


def per_class(y: Tensor, seed: int) -> Split:
    """GPR-GNN's "60/20/20": round(0.6 N / C) nodes of *every class* train, round(0.2 N) of the rest validate.

    A class smaller than 0.6 N / C is used up by training, so on skewed graphs this is no 60/20/20 at all: on Texas
    46 % of the nodes train, the majority class is about 80 % of the test set instead of 55 %, and two classes are
    never tested, which is worth about seven points to an MLP. Figures on this split compare only with each other.
    """
    if y.is_floating_point():
        raise GWNError("split 'per-class' needs classes, here are numbers to predict; use 'stratified' or 'uniform'")
    nodes, classes, rng = _labelled(y, seed)
    quota = round(0.6 * nodes.size / np.unique(classes).size)
    train = np.concatenate([rng.permutation(nodes[classes == c])[:quota] for c in np.unique(classes)])
    rest = rng.permutation(np.setdiff1d(nodes, train))
    val = round(0.2 * nodes.size)
    return _split("per-class", seed, train, rest[:val], rest[val:])


def uniform(y: Tensor, seed: int) -> Split:
    """60/20/20 of all labelled nodes, drawn without looking at the classes."""
    nodes, _, rng = _labelled(y, seed)
    order, part = rng.permutation(nodes), max(1, round(0.2 * nodes.size))
    return _split("uniform", seed, order[2 * part :], order[:part], order[part : 2 * part])


def stratified(y: Tensor, seed: int) -> Split:
    """60/20/20 within every class: each class, and the whole, is within one node of its share.

    Classes in random order, nodes in random order within each, are dealt out by one running pattern of five that
    starts anywhere: any stretch of it is balanced, so a class of a single node works too and totals cannot drift.
    Of numbers, a class is a tenth of the nodes in the order of their values.
    """
    nodes, classes, rng = _labelled(y, seed)
    dealt = np.concatenate([rng.permutation(nodes[classes == c]) for c in rng.permutation(np.unique(classes))])
    start = rng.integers(5) if nodes.size >= 5 else 0
    place = (start + np.arange(nodes.size)) % 5  # validate, train, test, train, train: never three of a kind in a row
    return _split("stratified", seed, dealt[(place == 1) | (place > 2)], dealt[place == 0], dealt[place == 2])


def tenfold(y: Tensor, seed: int) -> Split:
    """80/10/10 within every class: ten seeds in a row from a multiple of ten test every labelled node once.

    One tenth tests and another validates, of tenths that are dealt out as in `stratified`.
    """
    nodes, classes, rng = _labelled(y, seed // 10)
    dealt = np.concatenate([rng.permutation(nodes[classes == c]) for c in rng.permutation(np.unique(classes))])
    parts = min(10, nodes.size)
    place = (rng.integers(parts) + np.arange(nodes.size) - seed % 10) % parts
    validates, tests = place == parts // 2, place == 0
    return _split("tenfold", seed, dealt[~validates & ~tests], dealt[validates], dealt[tests])


def set_aside(y: Tensor, seed: int) -> Split:
    """A twentieth of every class of twenty and more is in no part, the same whatever the seed; the rest is `tenfold`.

    What several runs say together cannot be scored on their test nodes: each of those was trained on by most of the
    others. No run has learnt from the nodes that are set aside.
    """
    nodes, classes, rng = _labelled(y, 0)
    left = y.clone()
    for c in np.unique(classes):
        of_class = rng.permutation(nodes[classes == c])
        left[torch.from_numpy(of_class[: of_class.size // ASIDE])] = torch.nan if y.is_floating_point() else -1
    return replace(tenfold(left, seed), kind="set-aside")


def without_test(y: Tensor, seed: int, percent: int) -> Split:
    """`percent` of the nodes of every class validate, all others train; a class of a single node trains.

    Of numbers, a class is a tenth of the nodes in the order of their values, and none of them has to be trained on.
    """
    nodes, classes, rng = _labelled(y, seed)
    dealt = np.concatenate([rng.permutation(nodes[classes == c]) for c in rng.permutation(np.unique(classes))])
    place = (np.arange(nodes.size + 1) + rng.random()) * percent / 100
    validates = np.diff(np.floor(place)) > 0  # evenly spread over the classes, wherever the first one falls
    known = np.zeros(y.numel(), dtype=np.int64)
    known[nodes] = classes
    if not y.is_floating_point():
        validates &= np.isin(known[dealt], np.unique(known[dealt[~validates]]))
    if not validates.any():
        validates[np.flatnonzero(np.bincount(known[dealt])[known[dealt]] > 1)[:1]] = True
    return _split(f"validate-{percent}", seed, dealt[~validates], dealt[validates], dealt[:0])


SplitFunction = Callable[[Tensor, int], Split]

SPLITS: dict[str, SplitFunction] = {
    "per-class": per_class,
    "uniform": uniform,
    "stratified": stratified,
    "tenfold": tenfold,
    "set-aside": set_aside,
}

PUBLISHED = ("geom", "public", "published", "time")


def splits_from_masks(kind: str, train: Tensor, val: Tensor, test: Tensor) -> tuple[Split, ...]:
    """Published splits from boolean masks [N] or [N, number of splits]."""
    columns = [mask.bool().reshape(mask.shape[0], -1).t() for mask in (train, val, test)]
    return tuple(
        Split(
            train=a.nonzero().flatten(), val=b.nonzero().flatten(), test=c.nonzero().flatten(), kind=kind, seed=number
        )
        for number, (a, b, c) in enumerate(zip(*columns, strict=True))
    )


def _labelled(y: Tensor, seed: int) -> tuple[Indices, Indices, np.random.Generator]:
    """The nodes that have a label, their classes (tenths of the order, for numbers), and the generator of this seed."""
    labels = y.cpu().numpy()
    nodes = np.flatnonzero(is_known(y).cpu().numpy())
    if nodes.size < 3:
        raise GWNError(f"{nodes.size} labelled nodes; at least 3 are needed: one to train, to validate and to test")
    known = labels[nodes]
    if np.unique(known).size < 2:
        if y.is_floating_point():
            raise GWNError(f"all numbers to learn from are {known[0]:g}; at least two different ones are needed")
        raise GWNError("all labelled nodes are of one class; at least two classes are needed to learn from")
    if y.is_floating_point():
        known = np.searchsorted(np.quantile(known, TENTHS), known).astype(np.int64)
    return nodes, known, np.random.default_rng(seed)


def _split(kind: str, seed: int, train: Indices, val: Indices, test: Indices) -> Split:
    return Split(
        train=torch.from_numpy(train), val=torch.from_numpy(val), test=torch.from_numpy(test), kind=kind, seed=seed
    )
