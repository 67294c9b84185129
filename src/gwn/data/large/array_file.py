"""One array of a graph folder: a plain `.npy` file, written from front to back and hashed on the way."""

from __future__ import annotations

import errno
import hashlib
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gwn.errors import GWNError


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
    except (OSError, ValueError) as error:
        raise GWNError(f"{path} cannot be read ({error}); make the folder again") from None
    if list(array.shape) != list(record["shape"]) or array.dtype.str != record["dtype"]:
        raise GWNError(f"{path} holds {array.dtype} {array.shape}, not what its record says; make the folder again")
    return array


def check_array(path: Path, record: dict[str, Any], chunk: int = 1 << 22) -> None:
    """Refuse an array whose bytes are not those that were written, reading it once."""
    flat = open_array(path, record).reshape(-1)
    digest = hashlib.sha256()
    for start in range(0, flat.size, chunk):
        digest.update(np.ascontiguousarray(flat[start : start + chunk]).data)
    if digest.hexdigest() != record["sha256"]:
        raise GWNError(f"{path} is not what was written (SHA-256 differs); make the folder again")


def as_tensor(array: NDArray[Any]) -> Tensor:
    """A tensor on the same memory; a mapped file stays one, so it must only be read."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)


def _empty(record: dict[str, Any]) -> NDArray[Any]:
    """Memory maps cannot be empty."""
    return np.empty(record["shape"], dtype=record["dtype"])
