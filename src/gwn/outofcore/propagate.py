"""Propagation from file to file: some columns of the features at a time, as many as the stated memory holds."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from filelock import Timeout
from numpy.typing import NDArray
from torch import Tensor

from gwn.data.folders.arrays import ArrayReader, ArrayWriter, check_array, open_array
from gwn.data.folders.folder import GraphFolder
from gwn.errors import GWNError
from gwn.io import (
    being_written,
    content_key,
    machine_lock,
    make_folder,
    read_json,
    require_space,
    safe_name,
    write_json,
)
from gwn.laplacians import Operator
from gwn.memory import require_left
from gwn.networks import GWN
from gwn.networks.bank import WaveBank
from gwn.outofcore.adjacency import BLOCK_BYTES, file_adjacency


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
    def _readers(self) -> list[ArrayReader]:
        return [ArrayReader(block.path, block.record) for block in self.blocks]

    def rows_of(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of these nodes."""
        return nodes

    def nodes_of(self, first: int, last: int) -> NDArray[np.int64]:
        """The nodes of these rows."""
        return np.arange(first, last)

    def rows(self, first: int, last: int, chosen: NDArray[np.integer[Any]] | None = None) -> Tensor:
        """Rows `first` ... `last - 1`, or those among them that are `chosen` (numbers counted from `first`)."""
        count = last - first if chosen is None else len(chosen)
        out = np.empty((count, self.columns), dtype=np.float32)
        for block, reader in zip(self.blocks, self._readers, strict=True):
            part = reader.rows(first, last)
            part = part if chosen is None else part[chosen]
            size = block.last - block.first
            out[:, block.first : block.last] = part[:, :size]
            out[:, self.width + block.first : self.width + block.last] = part[:, size:]
        return torch.from_numpy(out)


def find_blocks(place: Path, *, check: bool, prefix: str = "columns") -> list[Block]:
    """The finished blocks in a folder, by column; a file that is not whole is left out, and so computed again.

    check    read every file and compare its SHA-256, instead of its length alone
    prefix   what the names of these blocks begin with
    """
    found: list[Block] = []
    for path in sorted(place.glob(f"{prefix}-*.json")):
        matched = re.fullmatch(rf"{prefix}-(\d+)-(\d+)\.json", path.name)
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
        except (GWNError, KeyError, TypeError):
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


ROWS = 1 << 14
SPARE = BLOCK_BYTES + (1 << 25)
"""Kept free for what does not grow with the graph: blocks of rows of S, and rows on their way from and to files."""

OnColumns = Callable[[float, int], None]
"""Hears how many columns are done, a column on its way counted by its steps, and how many there are."""

OnWait = Callable[[str], None]
"""Hears, in words, that another process has to be waited for."""


def propagate(
    graph: GraphFolder,
    model: GWN,
    root: Path,
    *,
    memory: int,
    on_columns: OnColumns = lambda done, total: None,
    on_wait: OnWait = lambda line: None,
) -> PropagatedFeatures:
    """`[T x~ || U x~]` of the graph under the model's dynamics, computed once and found again by later calls.

    memory   bytes this process may hold; decides how many columns go at a time
    """
    require_fixed(model)
    place = root / f"propagated-{safe_name(graph.name)}-{content_key(description(graph, model))}"
    make_folder(place)
    width = graph.num_features + 1
    blocks = find_blocks(place, check=True)
    if gaps(blocks, width):
        with one_writer(place, on_wait):
            missing = gaps(find_blocks(place, check=True), width)  # another process may have been here meanwhile
            at_once = columns_at_once(graph, model, memory)
            columns = sum(last - first for first, last in missing)
            require_space(place, 4 * graph.num_nodes * (2 * columns + at_once))
            operator = model.scheme.prepare(model.laplacian.on(file_adjacency(graph)))
            done = width - columns
            for begin, end in missing:
                for first in range(begin, end, at_once):
                    last = min(first + at_once, end)
                    on_columns(done, width)
                    tell = partial(_tell, on_columns, _course(done, last - first, 2 * model.num_steps), width)
                    with torch.no_grad():
                        _write_block(graph, model, operator, place, first, last, tell)
                    done += last - first
            on_columns(width, width)
            blocks = find_blocks(place, check=False)
        require_whole(place, blocks, width)
    return PropagatedFeatures(nodes=graph.num_nodes, width=width, blocks=tuple(blocks))


@contextmanager
def one_writer(place: Path, on_wait: OnWait) -> Iterator[None]:
    """One process of this machine computes; another one says so, waits, and finds what it wrote."""
    lock = machine_lock(f"propagate {place.resolve()}")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        on_wait(f"another process propagates the same features into {place}; waiting for it (Ctrl-C ends this one)")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def require_whole(place: Path, blocks: list[Block], width: int) -> None:
    """Refuse blocks that leave columns out: a process on another machine cut them otherwise at the same time."""
    if missing := gaps(blocks, width):
        raise GWNError(
            f"{place} has no columns {missing[0][0]} ... {missing[0][1] - 1}: another process wrote there at the same "
            f"time; give the command again when it is done"
        )


def _course(done: int, columns: int, steps: int) -> Iterator[float]:
    """How many columns are done after each step of a block; the last share of it is writing."""
    return (done + columns * step / (steps + 1) for step in range(1, steps + 1))


def _tell(on_columns: OnColumns, course: Iterator[float], width: int) -> None:
    on_columns(next(course), width)


def require_fixed(model: GWN) -> None:
    """Refuse a network whose operator learns, or that sees another graph than the folder holds."""
    if not model.precompute:
        raise GWNError("propagation to files needs precompute=true: a fixed operator and linear maps")
    if model.row_normalize:
        raise GWNError("propagation to files takes features as they are stored; use row_normalize=false")
    if model.directed or model.self_loops != "none":
        raise GWNError("a graph folder holds a simple undirected graph; use directed=false and self_loops=none")


def description(graph: GraphFolder, model: GWN) -> dict[str, object]:
    """What decides the propagated features: the graph and the dynamics, not the weights."""
    return {
        "graph": {name: graph.hashes[name] for name in ("indptr", "indices", "x")},
        "laplacian": [type(model.laplacian).__name__, model.laplacian.settings()],
        "scheme": [type(model.scheme).__name__, model.scheme.settings()],
        "steps": model.num_steps,
    }


def buffers(model: GWN | WaveBank) -> int:
    """How many [N, columns] matrices a block holds at its peak: two states, and what a scheme adds."""
    return 2 + model.scheme.buffers


def columns_at_once(graph: GraphFolder, model: GWN | WaveBank, memory: int) -> int:
    """The widest block that the memory holds, or an error that says what one column needs."""
    column = 4 * graph.num_nodes * buffers(model)
    always = SPARE + 4 * graph.num_nodes  # what S keeps in memory
    what = f"{graph.path} does not fit: one column of {graph.num_nodes:,} nodes"
    left = require_left(what, always + column, memory) - always
    widest = min(graph.num_features + 1, left // column)
    blocks = -(-(graph.num_features + 1) // widest)
    return -(-(graph.num_features + 1) // blocks)  # as many blocks, of equal width


def _write_block(
    graph: GraphFolder, model: GWN, operator: Operator, place: Path, first: int, last: int, on_step: Callable[[], None]
) -> None:
    """Both responses of some columns; the first one waits in a file without a name, so that memory holds one wave."""
    name, width = place / f"columns-{first:05d}-{last:05d}", last - first
    with being_written(name.with_suffix(".npy")) as private, tempfile.TemporaryFile(dir=place) as aside:
        moved = _travel_(
            operator, model, read_columns(graph, first, last), torch.zeros(graph.num_nodes, width), on_step
        )
        for start in range(0, graph.num_nodes, ROWS):
            aside.write(moved[start : start + ROWS].numpy().data)
        del moved
        pushed = _travel_(
            operator, model, torch.zeros(graph.num_nodes, width), read_columns(graph, first, last), on_step
        )
        aside.seek(0)
        writer = ArrayWriter(private, "<f4", (2 * width,))
        try:
            for start in range(0, graph.num_nodes, ROWS):
                right = pushed[start : start + ROWS].numpy()
                writer.append(np.concatenate([_read_rows(aside, *right.shape), right], axis=1))
            record = writer.finish()
        finally:
            writer.abandon()
    write_json(name.with_suffix(".json"), record)


def _travel_(operator: Operator, model: GWN, x: Tensor, x_prev: Tensor, on_step: Callable[[], None]) -> Tensor:
    """X(n) from X(0) = `x` and the velocity `x_prev`, in these two buffers.

    As `gwn.schemes.integrate`, which leaves its input as it is; a fixed operator has no source, so X(0) may go.
    """
    for n in range(model.num_steps):
        x, x_prev = operator.advance_(n, model.scheme.step(n), x, x_prev, x), x
        on_step()
    _require_finite(x, model)
    return x


def read_columns(graph: GraphFolder, first: int, last: int) -> Tensor:
    """Columns of `[x, 1]` as one dense matrix."""
    reader, until = graph.reader("x"), min(last, graph.num_features)
    out = np.empty((graph.num_nodes, last - first), dtype=np.float32)
    out[:, until - first :] = 1.0
    for start in range(0, graph.num_nodes, ROWS):
        stop = min(start + ROWS, graph.num_nodes)
        out[start:stop, : until - first] = reader.rows(start, stop)[:, first:until]
    return torch.from_numpy(out)


def _read_rows(file: BinaryIO, rows: int, width: int) -> NDArray[np.float32]:
    return np.frombuffer(file.read(4 * rows * width), dtype=np.float32).reshape(rows, width)


def _require_finite(wave: Tensor, model: GWN) -> None:
    if not bool(torch.isfinite(wave.sum())):
        raise GWNError(
            f"the wave overflows within {model.num_steps} steps, or the features are not finite; use a smaller time or "
            f"tau (now time={model.time:g}, tau={model.scheme.tau:g}), or scheme leapfrog-rescaled"
        )
