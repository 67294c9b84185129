"""Whether the first line of a table is data and no column names: then it is refused, and --no-header reads it.

A person who names a column that is a cell of the first line says that this line holds names: 2010,2015,2020,label
stands above numbers, and `--label-column label` makes it a header.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gwn.data.cells import numbers_of
from gwn.data.tables import Table
from gwn.errors import GWNError

MADE_UP = re.compile(r"column-\d+")
NAMES = "its columns are then called column-1, column-2, ..."


def require_edge_header(file: str, ids: Any, ends: tuple[str, str], given: Sequence[str | None] = ()) -> None:
    """Refuse a table whose column names are themselves an edge.

    given   columns of this table that a person named
    """
    if not _are_written(given) and all(pc.index(ids, name).as_py() >= 0 for name in ends):
        raise GWNError(
            f"{file}: the first line, {','.join(ends)}, is an edge and not column names; say --no-header edges "
            f"({NAMES}), or add a first line such as source,target"
        )


def require_node_header(table: Table, named: Any, given: Sequence[str | None] = ()) -> None:
    """Refuse a table whose column names are themselves a node: the id that edges miss, or numbers above numbers.

    named   the different ids that the edges name
    given   columns that a person named
    """
    names = list(table.columns)
    if _are_written([name for name in given if name in names]) or not (
        _is_missing_id(table, named) or _numbers_above_numbers(table)
    ):
        return
    shown = ",".join(names[:6]) + (",..." if len(names) > 6 else "")
    last = f"--label-column column-{len(names)} is the last"
    raise GWNError(
        f"{table.path.name}: the first line, {shown}, is a node and not column names; say --no-header nodes ({NAMES}; "
        f"{last}), or add a first line with the names"
    )


def _are_written(names: Sequence[str | None]) -> bool:
    """Whether one of these columns has its name from the file: column-4 may be an empty cell of the first line."""
    return any(name is not None and not MADE_UP.fullmatch(name) for name in names)


def _is_missing_id(table: Table, named: Any) -> bool:
    """Whether one column holds every id that the edges name but one, and that one is its own name."""
    for name in table.columns:
        if pc.index(named, name).as_py() < 0 or not table.is_readable(name):
            continue
        cells = table.ids(name)
        absent = pc.unique(named.filter(pc.invert(pc.is_in(named, value_set=cells)))).to_pylist()
        if absent == [name] and len(named) > 1:
            return True
    return False


def _numbers_above_numbers(table: Table) -> bool:
    """Whether numbers stand above all columns of numbers; 0, 1, 2, ... are numbers of columns and no data."""
    if numbers_of(pa.array(list(table.columns), pa.string()))[1].all():
        return False
    numeric = [name for name in table.columns if _is_numeric(table, name)]
    values, wrong = numbers_of(pa.array(numeric, pa.string()))
    if not numeric or wrong.any() or np.isnan(values).any():
        return False
    counted = np.diff(values)
    return not (len(numeric) > 1 and (counted == 1).all()) and not (len(numeric) == 1 and values[0] in (0, 1))


def _is_numeric(table: Table, name: str) -> bool:
    values, wrong = table.numbers(name) if table.is_readable(name) else (np.array([np.nan]), np.array([False]))
    return not wrong.any() and not np.isnan(values).all()
