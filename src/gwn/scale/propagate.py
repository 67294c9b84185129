"""Propagation from file to file: some columns of the features at a time, as many as the stated memory holds."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from gwn.data.large.array_file import ArrayWriter
from gwn.data.large.folder import GraphFolder
from gwn.errors import GWNError
from gwn.networks import GWN
from gwn.scale.budget import anonymous_bytes, left_of, say_memory
from gwn.scale.mapped import mapped_adjacency
from gwn.scale.propagated import PropagatedFeatures, find_blocks, gaps
from gwn.schemes import Bessel, Newmark, integrate
from gwn.training.store import content_key, write_json

ROWS = 1 << 14
SPARE = 1 << 25
"""Kept free for what is small: a chunk of rows on its way to a file, row pointers of a block."""

OnColumns = Callable[[int, int], None]


def propagate(
    graph: GraphFolder,
    model: GWN,
    root: Path,
    *,
    memory: int,
    on_columns: OnColumns = lambda done, total: None,
) -> PropagatedFeatures:
    """`[T x~ || U x~]` of the graph under the model's dynamics, computed once and found again by later calls.

    memory   bytes this process may hold; decides how many columns go at a time
    """
    require_fixed(model)
    place = root / f"propagated-{graph.name}-{content_key(description(graph, model))}"
    place.mkdir(parents=True, exist_ok=True)
    width = graph.num_features + 1
    blocks = find_blocks(place, check=True)
    missing = gaps(blocks, width)
    if missing:
        at_once = columns_at_once(graph, model, memory)
        operator = model.laplacian.on(mapped_adjacency(graph, place))
        done = width - sum(last - first for first, last in missing)
        for begin, end in missing:
            for first in range(begin, end, at_once):
                last = min(first + at_once, end)
                on_columns(done, width)
                with torch.no_grad():
                    _write_block(graph, model, operator, place, first, last)
                done += last - first
        on_columns(width, width)
        blocks = find_blocks(place, check=False)
    return PropagatedFeatures(nodes=graph.num_nodes, width=width, blocks=tuple(blocks))


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
    scheme = {key: value for key, value in vars(model.scheme).items() if isinstance(value, (int, float, str))}
    laplacian = {
        key: value
        for key, value in vars(model.laplacian).items()
        if isinstance(value, (int, float, str)) and key not in ("training", "channels")
    }
    return {
        "graph": {name: graph.hashes[name] for name in ("indptr", "indices", "x")},
        "laplacian": [type(model.laplacian).__name__, laplacian],
        "scheme": [type(model.scheme).__name__, scheme],
        "steps": model.num_steps,
    }


def buffers(model: GWN) -> int:
    """How many [N, columns] matrices a block holds at its peak: input, rest, two states, and what a scheme adds."""
    return 4 + {Bessel: 3, Newmark: 6}.get(type(model.scheme), 0)


def columns_at_once(graph: GraphFolder, model: GWN, memory: int) -> int:
    """The widest block that the memory holds, or an error that says what one column needs."""
    column = 4 * graph.num_nodes * buffers(model)
    left = left_of(memory) - SPARE
    if left < column:
        needed = anonymous_bytes() + SPARE + column
        raise GWNError(
            f"{graph.path} does not fit: one column of {graph.num_nodes:,} nodes needs {say_memory(needed)} with this "
            f"process, and {say_memory(memory)} were allowed; use --memory {-(-needed // 10**6) + 1}MB or more"
        )
    widest = min(graph.num_features + 1, left // column)
    blocks = -(-(graph.num_features + 1) // widest)
    return -(-(graph.num_features + 1) // blocks)  # as many blocks, of equal width


def _write_block(graph: GraphFolder, model: GWN, operator: object, place: Path, first: int, last: int) -> None:
    block = _columns(graph, first, last)
    still = torch.zeros_like(block)
    name = place / f"columns-{first:05d}-{last:05d}"
    partial = name.with_suffix(f".part-{os.getpid()}")
    moved = integrate(operator, model.scheme, block, still, model.num_steps)  # type: ignore[arg-type]
    _require_finite(moved, model)
    pushed = integrate(operator, model.scheme, still, block, model.num_steps)  # type: ignore[arg-type]
    _require_finite(pushed, model)
    writer = ArrayWriter(partial, "<f4", (2 * (last - first),))
    try:
        for start in range(0, graph.num_nodes, ROWS):
            rows = slice(start, start + ROWS)
            writer.append(torch.cat([moved[rows], pushed[rows]], dim=1).numpy())
        record = writer.finish()
        os.replace(partial, name.with_suffix(".npy"))
        write_json(name.with_suffix(".json"), record)
    finally:
        writer.abandon()
        partial.unlink(missing_ok=True)


def _columns(graph: GraphFolder, first: int, last: int) -> Tensor:
    """Columns of `[x, 1]` as one dense matrix."""
    out = np.ones((graph.num_nodes, last - first), dtype=np.float32)
    until = min(last, graph.num_features)
    for start in range(0, graph.num_nodes, ROWS):
        out[start : start + ROWS, : until - first] = graph.x[start : start + ROWS, first:until]
    return torch.from_numpy(out)


def _require_finite(wave: Tensor, model: GWN) -> None:
    if not bool(torch.isfinite(wave.sum())):
        raise GWNError(
            f"the wave overflows within {model.num_steps} steps, or the features are not finite; use a smaller time or "
            f"tau (now time={model.time:g}, tau={model.scheme.tau:g}), or scheme leapfrog-rescaled"
        )
