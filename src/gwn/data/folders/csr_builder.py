"""From arcs in any order to CSR, in bounded memory: an external counting sort.

Arcs are thrown into buckets of neighbouring rows, one file a bucket; each bucket is then sorted by itself. One that is
too large, because a few rows have most of the arcs, is sorted in place on the mapped file, which needs no memory.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gwn.data.folders.arrays import ArrayWriter
from gwn.errors import GWNError
from gwn.memory import require_left

MOST_BUCKETS = 256
"""Files open at a time; systems allow a thousand or so."""

BUCKET_BYTES = 1 << 26
"""Of a bucket where memory allows it: sorting larger ones only takes longer."""

SCAN = 1 << 20
"""Arcs looked at together when a sorted bucket is written out."""

MOST_NODES = 2**31 - 1
OnBucket = Callable[[int, int], None]


NONE = np.empty(0, dtype=np.int64)
WORK = 1 << 28
"""Bytes that drawing or reading a batch of edges takes."""


def sorting_memory(memory: int) -> int:
    """What is left for sorting of what the process may hold."""
    return require_left("sorting the edges", WORK, memory) - WORK // 2


class CSRBuilder:
    """Collects arcs `row, col` as numbers `row N + col`; `write` gives the CSR arrays, sorted and without repeats.

    scratch   a folder for the bucket files
    arcs      how many are expected: more only make larger buckets
    memory    bytes that sorting may take
    """

    def __init__(self, scratch: Path, nodes: int, arcs: int, memory: int) -> None:
        if nodes > MOST_NODES:
            raise GWNError(f"{nodes:,} nodes; a graph folder holds at most {MOST_NODES:,}")
        scratch.mkdir()
        self.memory = memory
        wanted = -(-8 * arcs // max(1, min(BUCKET_BYTES, memory // 4)))
        self.nodes = nodes
        self.span = max(1, -(-nodes // min(MOST_BUCKETS, max(1, wanted))))
        self.buckets = -(-nodes // self.span)
        self._paths = [scratch / f"bucket-{number:03d}" for number in range(self.buckets)]
        self._files = [path.open("wb") for path in self._paths]
        self._dirty = set(range(self.buckets))
        self._arcs = np.zeros(self.buckets, dtype=np.int64)
        self._late = [NONE] * self.buckets

    def add(self, row: NDArray[np.int64], col: NDArray[np.int64]) -> None:
        """Both directions of these edges; self-loops are left out."""
        keep = row != col
        row, col = row[keep], col[keep]
        for a, b in ((row, col), (col, row)):
            bucket = (a // self.span).astype(np.uint8)  # of which NumPy sorts two hundred million in a second
            order = np.argsort(bucket, kind="stable")
            keys = (a * self.nodes + b)[order]
            ends = np.cumsum(np.bincount(bucket, minlength=self.buckets))
            start = 0
            for number in np.flatnonzero(np.diff(ends, prepend=0)):
                self._files[number].write(keys[start : ends[number]].data)
                self._dirty.add(int(number))
                start = ends[number]

    def compact(self, on_bucket: OnBucket = lambda done, total: None) -> int:
        """Sort the buckets that changed and drop repeats; the number of different arcs so far.

        Where only few arcs were added, those that are new stay in memory, and the sorted file is not written again.
        """
        for place, number in enumerate(sorted(self._dirty)):
            path, arcs = self._paths[number], int(self._arcs[number])
            self._files[number].close()
            added = path.stat().st_size // 8 - arcs
            if arcs > 0 and added + self._late[number].size <= arcs // 8:
                self._late[number] = _new_keys(path, arcs, self._late[number])
            else:
                self._merge_late(number)
                self._arcs[number] = _sort_unique(path, arcs, self.memory // 2)
            self._files[number] = path.open("ab")
            on_bucket(place + 1, len(self._dirty))
        self._dirty.clear()
        return int(self._arcs.sum()) + sum(late.size for late in self._late)

    def _merge_late(self, number: int) -> None:
        """Put what waits in memory behind the other keys of a bucket, whose file is closed."""
        with self._paths[number].open("ab") as file:
            file.write(self._late[number].data)
        self._late[number] = NONE

    def write(self, indptr: ArrayWriter, indices: ArrayWriter) -> None:
        """The CSR arrays, in the order of the rows."""
        self.compact()
        total = 0
        indptr.append(np.zeros(1, dtype=np.int64))
        for number, path in enumerate(self._paths):
            self._files[number].close()
            if self._late[number].size:
                self._merge_late(number)
                _sort_unique(path, int(self._arcs[number]), self.memory // 2)
            first = number * self.span
            counts = np.zeros(min(self.span, self.nodes - first), dtype=np.int64)
            for keys in _chunks(path):
                row = keys // self.nodes
                indices.append((keys - row * self.nodes).astype(np.int32))
                counts += np.bincount(row - first, minlength=counts.size)
            ends = np.cumsum(counts) + total
            total = int(ends[-1])
            indptr.append(ends)
            path.unlink()

    def close(self) -> None:
        """Let go of the files, whatever happened."""
        for file in self._files:
            file.close()


def _sort_unique(path: Path, sorted_already: int, memory: int) -> int:
    """Sort the keys and drop repeats, in the file, whose first keys are sorted already; how many keys are left."""
    size = path.stat().st_size
    if size == 0:
        return 0
    if size <= memory:
        found = np.fromfile(path, dtype=np.int64)
        found[sorted_already:].sort()
        found = _unique(found)
        found.tofile(path)
        return int(found.size)
    keys: Any = np.memmap(path, dtype=np.int64, mode="r+")
    keys.sort()
    kept, last = 0, -1
    for start in range(0, keys.size, SCAN):
        chunk = np.array(keys[start : start + SCAN])
        different = chunk[np.diff(chunk, prepend=last) != 0]
        last = int(chunk[-1])
        keys[kept : kept + different.size] = different
        kept += different.size
    keys.flush()
    del keys
    with path.open("r+b") as file:
        file.truncate(8 * kept)
    return kept


def _unique(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The different keys, sorted in place: faster than NumPy's own where stretches of them are sorted already."""
    keys.sort(kind="stable")  # which merges sorted stretches
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if keys.size else keys


def _new_keys(path: Path, arcs: int, known: NDArray[np.int64]) -> NDArray[np.int64]:
    """Cut off the keys behind the first `arcs`, which are sorted; those of them and of `known` that are new, sorted."""
    with path.open("r+b") as file:
        file.seek(8 * arcs)
        asked = _unique(np.concatenate([np.fromfile(file, dtype=np.int64), known]))
        file.truncate(8 * arcs)
    keys: Any = np.memmap(path, dtype=np.int64, mode="r")
    near = np.searchsorted(keys, asked).clip(max=arcs - 1)
    new: NDArray[np.bool_] = keys[near] != asked
    return asked[new]


def _chunks(path: Path) -> Any:
    with path.open("rb") as file:
        while (keys := np.fromfile(file, dtype=np.int64, count=SCAN)).size:
            yield keys
