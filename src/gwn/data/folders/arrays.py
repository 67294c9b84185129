"""One array in one `.npy` file: written row by row, mapped, or read row by row.

Pages of a mapped file count as the process's own for as long as they stay in memory, so what is read from front to back
within a stated memory is read into memory of its own instead.
"""

from __future__ import annotations

import errno
import hashlib
import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gwn.errors import GWNError

T = TypeVar("T")


class ArrayWriter:
    """Append rows to `path`; the number of rows need not be known before `finish`.

    tail   the shape of one row: `()` for a vector, `(f,)` for a matrix
    """

    def __init__(self, path: Path, dtype: Any, tail: tuple[int, ...] = ()) -> None:
        self.path, self.dtype, self.tail = path, np.dtype(dtype), tail
        self.rows = 0
        self._digest = hashlib.sha256()
        self._file = path.open("wb")
        self._header()

    def append(self, rows: NDArray[Any]) -> None:
        """Write these rows behind the others."""
        data = np.ascontiguousarray(rows, dtype=self.dtype)
        assert data.shape[1:] == self.tail
        try:
            self._file.write(data.data)
        except OSError as error:
            reason = "the disk is full" if error.errno == errno.ENOSPC else error.strerror
            raise GWNError(f"cannot write {self.path}: {reason}; free some space or choose another --out") from None
        self._digest.update(data.data)
        self.rows += len(data)

    def finish(self) -> dict[str, Any]:
        """Close the file, safely on disk; what `meta.json` says about it."""
        self._file.seek(0)
        self._header()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return {
            "dtype": self.dtype.str,
            "shape": [self.rows, *self.tail],
            "bytes": self.path.stat().st_size,
            "sha256": self._digest.hexdigest(),
        }

    def abandon(self) -> None:
        """Close without a record: what was written never counts."""
        self._file.close()

    def _header(self) -> None:
        # NumPy leaves room for a longer first dimension, so the header can be written again once it is known.
        shape = (self.rows, *self.tail)
        header = {"descr": self.dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, header)


def open_array(path: Path, record: dict[str, Any]) -> NDArray[Any]:
    """The array as a read-only memory map, refused unless it is as long and shaped as its record says."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise GWNError(f"{path} cannot be read: {error.strerror}; make the folder again") from None
    if size != record["bytes"]:
        raise GWNError(f"{path} has {size:,} bytes instead of {record['bytes']:,}: it was cut; make the folder again")
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False) if 0 not in record["shape"] else _empty(record)
    except Exception as error:  # a damaged header breaks NumPy's reader in any way it likes
        raise GWNError(f"{path} cannot be read ({error}); make the folder again") from None
    if list(array.shape) != list(record["shape"]) or array.dtype.str != record["dtype"]:
        raise GWNError(f"{path} holds {array.dtype} {array.shape}, not what its record says; make the folder again")
    return array


class ArrayReader:
    """Rows of an array in a file, read where they are asked for; refused as `open_array` refuses."""

    def __init__(self, path: Path, record: dict[str, Any]) -> None:
        open_array(path, record)
        self.path, self.dtype, self.shape = path, np.dtype(record["dtype"]), tuple(record["shape"])
        self._row = self.dtype.itemsize * math.prod(self.shape[1:])
        self._data = int(record["bytes"]) - self._row * self.shape[0]
        self._file = path.open("rb", buffering=0)

    def rows(self, first: int, last: int) -> NDArray[Any]:
        """Rows `first` ... `last - 1`."""
        out = np.empty((last - first, *self.shape[1:]), dtype=self.dtype)
        if out.size == 0:
            return out
        left = out.reshape(-1).view(np.uint8).data
        try:
            self._file.seek(self._data + first * self._row)
            while left:
                count = self._file.readinto(left)
                if not count:
                    raise OSError(errno.EIO, "it was cut")
                left = left[count:]
        except OSError as error:
            raise GWNError(f"{self.path} cannot be read: {error.strerror}; make the folder again") from None
        return out

    def chunks(self, size: int = 1 << 24) -> Iterator[NDArray[Any]]:
        """All rows, some `size` bytes at a time."""
        step = max(1, size // max(1, self._row))
        for first in range(0, self.shape[0], step):
            yield self.rows(first, min(first + step, self.shape[0]))


def check_array(path: Path, record: dict[str, Any], look: Callable[[NDArray[Any]], None] = lambda chunk: None) -> None:
    """Refuse an array whose bytes are not those that were written, reading it once; `look` sees every chunk of it."""
    digest = hashlib.sha256()
    for chunk in ArrayReader(path, record).chunks():
        digest.update(chunk.data)
        look(chunk)
    if digest.hexdigest() != record["sha256"]:
        raise GWNError(f"{path} is not what was written (SHA-256 differs); make the folder again")


def read_ahead(parts: Iterable[Callable[[], T]]) -> Iterator[T]:
    """What these functions give, in order; while one result is worked on, the next is read."""
    with ThreadPoolExecutor(1) as pool:
        coming = None
        for part in parts:
            ready, coming = coming, pool.submit(part)
            if ready is not None:
                yield ready.result()
        if coming is not None:
            yield coming.result()


def as_tensor(array: NDArray[Any]) -> Tensor:
    """A tensor on the same memory; a mapped file stays one, so it must only be read."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)


def _empty(record: dict[str, Any]) -> NDArray[Any]:
    """Memory maps cannot be empty."""
    return np.empty(record["shape"], dtype=record["dtype"])
