"""The states X(0) ... X(n) of the features in files, for a bank of waves: of all nodes, or of those that are needed.

    state-00-00000-00032.npy   X(0), columns 0 ... 31, of the nodes kept; where all are kept it is the folder's own `x`
    state-01-00000-00032.npy   X(1), ...

One file a state and block of columns, so that each is written once, from front to back, while the wave goes on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gwn.data.folders.arrays import ArrayReader, ArrayWriter
from gwn.data.folders.folder import GraphFolder
from gwn.errors import GWNError
from gwn.io import being_written, content_key, make_folder, require_space, safe_name, write_json
from gwn.networks.bank import BankGWN, WaveBank
from gwn.networks.feedforward import normalizes_input
from gwn.outofcore.adjacency import file_adjacency
from gwn.outofcore.propagate import (
    ROWS,
    Block,
    OnColumns,
    OnWait,
    columns_at_once,
    find_blocks,
    gaps,
    one_writer,
    read_columns,
    require_whole,
)
from gwn.registry import require_known

STORED = {"float32": "<f4", "float16": "<f2"}
"""Types of stored states; those of half precision need half the disk, and half the reading in every epoch."""

MOST_HALF = float(np.finfo(np.float16).max)

Nodes = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredStates:
    """X(0) ... X(n) of `kept` nodes (None: of all), `width` columns each, side by side in a row."""

    graph: GraphFolder
    width: int
    kept: Nodes | None
    blocks: Sequence[Sequence[Block]]

    @property
    def nodes(self) -> int:
        """How many rows there are."""
        return self.graph.num_nodes if self.kept is None else len(self.kept)

    @property
    def states(self) -> int:
        return len(self.blocks) + (1 if self.kept is None else 0)

    @property
    def columns(self) -> int:
        return self.states * self.width

    def rows_of(self, nodes: Nodes) -> Nodes:
        """The rows of these nodes, which must be among those kept."""
        return nodes if self.kept is None else np.searchsorted(self.kept, nodes)

    def nodes_of(self, first: int, last: int) -> Nodes:
        """The nodes of these rows."""
        return np.arange(first, last) if self.kept is None else self.kept[first:last]

    @cached_property
    def _readers(self) -> list[list[tuple[int, int, ArrayReader]]]:
        states = [[(b.first, b.last, ArrayReader(b.path, b.record)) for b in blocks] for blocks in self.blocks]
        return [[(0, self.width, self.graph.reader("x"))], *states] if self.kept is None else states

    def rows(self, first: int, last: int, chosen: NDArray[np.integer[Any]] | None = None) -> Tensor:
        """Rows `first` ... `last - 1`, or those among them that are `chosen`, in single precision."""
        out = np.empty((last - first if chosen is None else len(chosen), self.columns), dtype=np.float32)
        for number, state in enumerate(self._readers):
            for begin, end, reader in state:
                part = reader.rows(first, last)
                out[:, number * self.width + begin : number * self.width + end] = (
                    part if chosen is None else part[chosen]
                )
        return torch.from_numpy(out)


def propagate_states(
    graph: GraphFolder,
    model: BankGWN,
    root: Path,
    *,
    memory: int,
    nodes: Nodes | None = None,
    stored: str = "float32",
    on_columns: OnColumns = lambda done, total: None,
    on_wait: OnWait = lambda line: None,
) -> StoredStates:
    """The states of the features under the waves of the model's bank, computed once and found again by later calls.

    nodes    those whose states are kept, in order; None for all
    stored   the type in which they are kept
    """
    require_known("type of stored states", stored, STORED)
    if not model.precompute:
        raise GWNError(
            "propagation to files needs precompute=true: one bank on the features, see `gwn models gwn-bank`"
        )
    if normalizes_input(model):
        raise GWNError("propagation to files takes features as they are stored; use row_normalize=false")
    if model.self_loops == "keep":
        raise GWNError("a graph folder holds no loops that could be kept; use self_loops=add or none")
    bank = model.first
    place = root / f"states-{safe_name(graph.name)}-{content_key(_description(graph, model, bank, nodes, stored))}"
    make_folder(place)
    width, count = graph.num_features, graph.num_nodes if nodes is None else len(nodes)
    numbers = range(0 if nodes is not None else 1, bank.steps + 1)

    def found(check: bool) -> list[list[Block]]:
        return [find_blocks(place, check=check, prefix=_prefix(number)) for number in numbers]

    blocks = found(check=True)
    if gaps(_in_all(blocks), width):
        with one_writer(place, on_wait):
            blocks = found(check=True)  # another process may have been here meanwhile
            whole = _in_all(blocks)
            missing = gaps(whole, width)
            _remove_others(blocks, whole)
            at_once = columns_at_once(graph, bank, memory)
            columns = sum(last - first for first, last in missing)
            require_space(place, np.dtype(STORED[stored]).itemsize * count * columns * len(numbers))
            operator = bank.scheme.prepare(bank.laplacian.on(file_adjacency(graph, model.self_loops)))
            done = width - columns
            for begin, end in missing:
                for first in range(begin, end, at_once):
                    last = min(first + at_once, end)
                    x, x_prev = read_columns(graph, first, last), torch.zeros(graph.num_nodes, last - first)
                    with torch.no_grad():
                        for n in range(bank.steps + 1):
                            if n in numbers:
                                _write(place, n, first, last, x, nodes, stored)
                            on_columns(done + (last - first) * n / (bank.steps + 1), width)
                            if n < bank.steps:
                                x, x_prev = operator.advance_(n, bank.scheme.step(n), x, x_prev, x), x
                    done += last - first
            on_columns(width, width)
            blocks = found(check=False)
        for state in blocks:
            require_whole(place, state, width)
    return StoredStates(graph=graph, width=width, kept=nodes, blocks=blocks)


def _description(
    graph: GraphFolder, model: BankGWN, bank: WaveBank, nodes: Nodes | None, stored: str
) -> dict[str, object]:
    """What decides the files: the graph, the waves, and what is kept of them."""
    return {
        "graph": {name: graph.hashes[name] for name in ("indptr", "indices", "x")},
        "laplacian": [type(bank.laplacian).__name__, bank.laplacian.settings()],
        "scheme": [type(bank.scheme).__name__, bank.scheme.settings()],
        "steps": bank.steps,
        "self_loops": model.self_loops,
        "nodes": "all" if nodes is None else hashlib.sha256(nodes.tobytes()).hexdigest(),
        # states of half precision that an earlier version wrote may have overflowed
        "stored": f"{stored} up to {MOST_HALF:g}" if stored == "float16" else stored,
    }


def _prefix(number: int) -> str:
    return f"state-{number:02d}"


def _in_all(blocks: Sequence[Sequence[Block]]) -> list[Block]:
    """The blocks of columns that every state has."""
    common = set.intersection(*({(block.first, block.last) for block in state} for state in blocks))
    return [block for block in blocks[0] if (block.first, block.last) in common]


def _remove_others(blocks: Sequence[Sequence[Block]], whole: Sequence[Block]) -> None:
    """Remove what an interrupted block left: the next one may have another width, and must not overlap with it."""
    keep = {(block.first, block.last) for block in whole}
    for block in (block for state in blocks for block in state):
        if (block.first, block.last) not in keep:
            block.path.with_suffix(".json").unlink()
            block.path.unlink()


def _write(place: Path, number: int, first: int, last: int, x: Tensor, nodes: Nodes | None, stored: str) -> None:
    """Some columns of one state, its record behind it."""
    if not bool(torch.isfinite(x.sum())):
        raise GWNError("the wave overflows, or the features are not finite; use a smaller time or tau")
    name = place / f"{_prefix(number)}-{first:05d}-{last:05d}"
    values = x.numpy()
    with being_written(name.with_suffix(".npy")) as private:
        writer = ArrayWriter(private, STORED[stored], (last - first,))
        try:
            for start in range(0, len(values) if nodes is None else len(nodes), ROWS):
                part = slice(start, start + ROWS)
                rows = values[part] if nodes is None else values[nodes[part]]
                if stored == "float16" and (largest := float(np.abs(rows).max(initial=0.0))) > MOST_HALF:
                    raise GWNError(
                        f"float16 ends at {MOST_HALF:g}, and a state has {largest:g}; scale the features, or use "
                        f"--stored float32"
                    )
                writer.append(rows)
            record = writer.finish()
        finally:
            writer.abandon()
    write_json(name.with_suffix(".json"), record)
