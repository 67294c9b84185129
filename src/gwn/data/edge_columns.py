"""Which two columns of an edge table hold the ends of the edges: by their names, else by the ids that they hold."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import pyarrow.compute as pc

from gwn.data.cells import MOSTLY
from gwn.data.node_ids import different_ids, holds_ids, row_numbers
from gwn.data.tables import Table
from gwn.errors import GWNError
from gwn.registry import require_known

ENDPOINTS = (("source", "target"), ("src", "dst"), ("from", "to"))
WEIGHTS = ("weight", "weights", "w")


def endpoint_names(file: str, columns: Sequence[str], source: str | None, target: str | None) -> tuple[str, str] | None:
    """The columns that a person named, or that have a usual name, or the only two there are; None for none of these."""
    if (source is None) != (target is None):
        raise GWNError("give both --source-column and --target-column, the two ends of an edge, or neither")
    if source is not None and target is not None:
        for what, name in (("source", source), ("target", target)):
            try:
                require_known(f"{what} column", name, columns)
            except GWNError as error:
                raise GWNError(f"{file}: {error}") from None
        if source == target:
            raise GWNError(f"--source-column and --target-column both name {source!r}; an edge has two ends: name two")
        return source, target
    names = {name.lower(): name for name in columns}
    for a, b in ENDPOINTS:
        if a in names and b in names:
            return names[a], names[b]
    if len(columns) < 2:
        raise GWNError(
            f"{file} has {len(columns)} column; edges need two, for example source and target, with a comma, a "
            f"semicolon, a tab or a pipe between them"
        )
    return (columns[0], columns[1]) if len(columns) == 2 else None


def choose_ends(
    edges: Table,
    nodes: Table,
    source: str | None,
    target: str | None,
    *,
    id_column: str | None = None,
    weight_column: str | None = None,
) -> tuple[str, str]:
    """The two columns whose cells are ids of nodes, in the order of the table, where no name says it.

    id_column       of the nodes; None where it is not known yet: then any column of different cells may hold the ids

    Columns that are ids of nodes by chance, such as small counts, name far fewer different nodes than the ends do.
    Where none are ids the first two remain, and the edges that name unknown nodes are reported against them.
    """
    named = endpoint_names(edges.path.name, list(edges.columns), source, target)
    if named is not None:
        return named
    free = [name for name in edges.columns if name != weight_column and name.lower() not in WEIGHTS]
    free = [name for name in free if edges.is_readable(name)]
    cells = {name: pc.unique(edges.ids(name)) for name in free}
    said = [name for name in nodes.columns if name == id_column]
    columns = (nodes.ids(name) for name in said or nodes.columns if nodes.may_be_ids(name))  # one in memory at a time
    found = {held for ids in columns if len(pc.unique(ids)) == nodes.rows and len(held := _held(cells, ids)) > 1}
    found = found or {held for held in [_held(cells, row_numbers(nodes))] if len(held) > 1}
    if any(len(held) > 2 for held in found) or len(found) > 1:
        which = list(dict.fromkeys(name for held in sorted(found) for name in held))
        raise GWNError(
            f"{edges.path.name}: columns {', '.join(map(repr, which[:-1]))} and {which[-1]!r} all hold ids of nodes; "
            f"say which two are the ends of an edge, for example --source-column {shlex.quote(which[0])} "
            f"--target-column {shlex.quote(which[1])}"
        )
    ends = next(iter(found), tuple(edges.columns)[:2])
    return ends[0], ends[1]


def _held(cells: dict[str, Any], ids: Any) -> tuple[str, ...]:
    """The columns of edges whose different cells are ids of nodes, a few strangers aside, without those by chance."""
    share = {name: pc.mean(pc.is_in(found, value_set=ids)).as_py() or 0.0 for name, found in cells.items()}
    sizes = {name: len(cells[name]) for name in cells if share[name] > MOSTLY}
    fewest = sorted(sizes.values(), reverse=True)[1] if len(sizes) > 1 else 0
    return tuple(name for name, size in sizes.items() if 2 * size > fewest)


def named_ends(edges: Table, nodes: Table, ends: Sequence[str]) -> list[Any]:
    """The ids at both ends; 28.0 is 28 unless the nodes have both."""
    written, merged = ([edges.ids(name, merge=merge) for name in ends] for merge in (False, True))
    if written == merged or any(holds_ids(nodes, name, different_ids(*written)) for name in nodes.columns):
        return written
    return merged
