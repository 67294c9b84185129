"""Which column of a node table holds the ids: decided by the ids that the edges name, never by position alone."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gwn.data.cells import MOSTLY
from gwn.data.tables import Table
from gwn.errors import GWNError

ID_NAMES = ("id", "node_id", "node")


def row_numbers(table: Table) -> Any:
    """0, 1, 2, ... as text: the ids of a table that has no column of them."""
    return pc.cast(pa.array(np.arange(table.rows)), pa.string())


def choose_id_column(table: Table, named: Any, columns: Sequence[str]) -> str | None:
    """The column whose cells are all different and contain every id in `named`; None for the row numbers from 0.

    named     the different ids that the edges name, as Arrow text
    columns   those that may hold ids: neither the label nor dropped

    Of several such columns one that is called id, node_id or node is taken; where none is, and their cells are not the
    same, the table is ambiguous and refused. Where no column holds all of them, a column of such a name, one that is
    meant to hold them (`_meant`) or the row numbers remain, and what is wrong is reported against it.
    """
    usual = next((name for name in columns if name.lower() in ID_NAMES), None)
    if len(named) == 0:
        return usual
    holding = [name for name in columns if holds_ids(table, name, named)]
    if len(holding) > 1:
        if usual in holding:
            return usual
        if any(table.ids(name) != table.ids(holding[0]) for name in holding[1:]):
            raise GWNError(
                f"{table.path.name}: columns {' and '.join(map(repr, holding))} each hold every id that the edges "
                f"name; say which one is meant, for example --id-column {shlex.quote(holding[0])}"
            )
        return holding[0]
    by_row = pc.all(pc.is_in(named, value_set=row_numbers(table))).as_py()
    if not holding:
        if usual is not None and by_row and len(pc.unique(table.ids(usual))) <= MOSTLY * table.rows:
            raise GWNError(
                f"{table.path.name}: the edges name nodes by row number, and column {usual!r} has cells that are there "
                f"several times, so that it holds no ids; leave it out with --drop-column {shlex.quote(usual)}, or "
                f"rename it to use it as a feature"
            )
        meant = None if usual is not None else _meant(table, named, columns)
        if meant is not None and by_row:
            raise GWNError(
                f"{table.path.name}: the edges name nodes by row number, or by column {meant!r}, in which some id is "
                f"missing or there twice; mend that column, or go by row number with --drop-column {shlex.quote(meant)}"
            )
        return usual or meant
    (only,) = holding
    if by_row and only not in (usual, _first(table)) and table.ids(only) != row_numbers(table):
        raise GWNError(
            f"{table.path.name}: the edges name nodes by column {only!r} or by row number, which are different nodes; "
            f"say --id-column {shlex.quote(only)}, or leave the column out with --drop-column {shlex.quote(only)}"
        )
    return only


def _meant(table: Table, named: Any, columns: Sequence[str]) -> str | None:
    """The one column that holds most of the ids, with hardly a cell twice: ids with a mistake among them."""
    shares = {}
    for name in filter(table.is_readable, columns):
        cells = table.ids(name)
        if len(pc.unique(cells)) > MOSTLY * table.rows:
            shares[name] = pc.mean(pc.is_in(named, value_set=cells)).as_py()
    most = max(shares.values(), default=0.0)
    best = [name for name, share in shares.items() if share == most]
    return best[0] if most > MOSTLY and len(best) == 1 else None


def _first(table: Table) -> str:
    return next(iter(table.columns))


def holds_ids(table: Table, name: str, named: Any) -> bool:
    """Whether every id is in this column, and no cell is there twice."""
    if not table.is_readable(name) or not _may_hold(table.columns[name], named):
        return False
    cells = table.ids(name)
    return len(pc.unique(cells)) == table.rows and bool(pc.all(pc.is_in(named, value_set=cells)).as_py())


def _may_hold(column: Any, named: Any) -> bool:
    """Whether the first id is in a column of fractions: decided without writing millions of numbers as text."""
    if not pa.types.is_floating(column.type) or len(named) == 0:
        return True
    try:
        number = float(named[0].as_py())
    except (TypeError, ValueError):
        return False
    return bool(pc.any(pc.equal(column, pa.scalar(number, column.type))).as_py())


def different_ids(*columns: Any) -> Any:
    """The different ids of some columns of text."""
    return pc.unique(pa.chunked_array(columns, pa.string()))


def leading_zeros(named: Any, ids: Any) -> str:
    """What to do where the ids that edges name are those of nodes but for leading zeros, 7 and 007; "" where not."""
    bare_ids, bare = (pc.replace_substring_regex(text, r"^0+(\d)", r"\1") for text in (ids, named))
    strange = pc.invert(pc.is_in(named, value_set=ids))
    at = pc.index_in(bare.filter(strange), value_set=bare_ids)
    if at.null_count:
        return ""
    one, other = named.filter(strange)[0].as_py(), ids[at[0].as_py()].as_py()
    return f"they differ by leading zeros alone, {one!r} here is {other!r} there: write them alike in both tables; "
