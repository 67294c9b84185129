"""What a peer needs before training: computed once for a graph, kept in memory, and on disk where it was slow."""

from __future__ import annotations

import hashlib
import sys
import time
import zipfile
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from gwn.data.download import cache_root
from gwn.errors import GWNError
from gwn.io import being_written
from gwn.sparse import TensorCache

SLOW_SECONDS = 2.0
"""What takes longer is announced, and written to disk for the next process."""

ANNOUNCE_SECONDS = 10.0

FORMAT = 1
"""Part of every file's name: to be raised when what is computed changes, so that old files are not read."""

Arrays = Mapping[str, NDArray[Any]]
T = TypeVar("T")
_CACHE = TensorCache()


def cached_by_graph(edge_index: Tensor, edge_weight: Tensor | None, key: Hashable, build: Callable[[], T]) -> T:
    """What `build` makes of these edges, for as long as the caller keeps the edge tensors."""
    if edge_weight is None:
        return _CACHE.get(edge_index, key, build)
    weighted = _CACHE.get(edge_index, "weighted", TensorCache)
    return weighted.get(edge_weight, key, build)


def cached_on_disk(
    name: str, settings: Mapping[str, Any], inputs: Sequence[Tensor], build: Callable[[], Arrays]
) -> Arrays:
    """Arrays that depend on `settings` and `inputs` alone: read where they are known, written where they were slow."""
    path = cache_root() / "beforehand" / f"{name}-{_content_key(settings, inputs)}.npz"
    known = _read(path)
    if known is not None:
        return known
    started = time.perf_counter()
    arrays = build()
    if time.perf_counter() - started > SLOW_SECONDS:
        _write(path, arrays)
    return arrays


def announced(what: str, items: Sequence[T]) -> Iterator[T]:
    """The items, with a line on standard error from time to time if going through them is slow."""
    started = time.perf_counter()
    due = SLOW_SECONDS
    for done, item in enumerate(items):
        elapsed = time.perf_counter() - started
        if elapsed > due:
            left = elapsed / done * (len(items) - done) if done else 0.0
            print(f"{what}: {done / len(items):.0%}, about {left:.0f} s left (kept for next time)", file=sys.stderr)
            due = elapsed + ANNOUNCE_SECONDS
        yield item


def require_at_most(what: str, nodes: int, limit: int, why: str) -> None:
    """Refuse a graph on which this would not end, or not fit."""
    if nodes > limit:
        raise GWNError(f"{what} takes graphs of at most {limit} nodes ({why}); this one has {nodes}: use another model")


def _content_key(settings: Mapping[str, Any], inputs: Sequence[Tensor]) -> str:
    digest = hashlib.sha256(repr((FORMAT, sorted(settings.items()))).encode())
    for part in inputs:
        array = part.detach().cpu().contiguous().numpy()
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()[:32]


def _read(path: Path) -> Arrays | None:
    """The arrays of a whole file; a damaged one counts as missing."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def _write(path: Path, arrays: Arrays) -> None:
    """A folder that cannot be written to only costs time."""
    try:
        with being_written(path) as private, private.open("wb") as file:
            np.savez(file, **dict(arrays))  # type: ignore[arg-type]
    except GWNError as error:
        print(f"{error}; it will be computed again", file=sys.stderr)
