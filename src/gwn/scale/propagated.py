"""Propagated features on disk: `[T x~ || U x~]` in files of some columns each, every one finished or not there.

A file `columns-A-B.npy` holds, for the columns A ... B-1 of `x~ = [x, 1]`, first their response to a displacement, then
to a velocity. It is written under another name and renamed; its record with the SHA-256 comes last. So after a kill
whatever has a record is whole, and the rest is computed again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gwn.data.large.array_file import check_array, open_array
from gwn.errors import GWNError
from gwn.training.store import read_json

NAME = re.compile(r"columns-(\d+)-(\d+)\.json")


@dataclass(frozen=True, kw_only=True)
class Block:
    """Columns `first` ... `last - 1` of `x~`, and the file of their responses."""

    first: int
    last: int
    path: Path
    record: dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class PropagatedFeatures:
    """Blocks that together are all `width` columns of `x~`, in order."""

    nodes: int
    width: int
    blocks: tuple[Block, ...]

    @property
    def columns(self) -> int:
        """Of a whole row: a displacement and a velocity response for every column."""
        return 2 * self.width

    @property
    def bytes(self) -> int:
        return 4 * self.nodes * self.columns

    @cached_property
    def _maps(self) -> list[NDArray[Any]]:
        return [open_array(block.path, block.record) for block in self.blocks]

    def rows(self, first: int, last: int, chosen: NDArray[np.int64] | None = None) -> Tensor:
        """Rows `first` ... `last - 1`, or those among them that are `chosen` (numbers counted from `first`)."""
        count = last - first if chosen is None else len(chosen)
        out = np.empty((count, self.columns), dtype=np.float32)
        for block, mapped in zip(self.blocks, self._maps, strict=True):
            part = mapped[first:last] if chosen is None else mapped[first:last][chosen]
            size = block.last - block.first
            out[:, block.first : block.last] = part[:, :size]
            out[:, self.width + block.first : self.width + block.last] = part[:, size:]
        return torch.from_numpy(out)


def find_blocks(place: Path, *, check: bool) -> list[Block]:
    """The finished blocks in a folder, by column; a file that is not whole is left out, and so computed again.

    check   read every file and compare its SHA-256, instead of its length alone
    """
    found: list[Block] = []
    for path in sorted(place.glob("columns-*.json")):
        matched = NAME.fullmatch(path.name)
        if matched is None:
            continue
        try:
            block = Block(
                first=int(matched.group(1)),
                last=int(matched.group(2)),
                path=path.with_suffix(".npy"),
                record=read_json(path),
            )
            (check_array if check else open_array)(block.path, block.record)
        except (GWNError, KeyError):
            continue
        if not found or block.first >= found[-1].last:
            found.append(block)
    return found


def gaps(blocks: list[Block], width: int) -> list[tuple[int, int]]:
    """The stretches of columns that no block has."""
    missing, at = [], 0
    for block in blocks:
        if block.first > at:
            missing.append((at, block.first))
        at = block.last
    if at < width:
        missing.append((at, width))
    return missing
