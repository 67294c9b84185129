"""An exhibit of the paper: which cells it needs, and how its tables are made from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gwn.paper.cell import Cell
from gwn.paper.table import TableData


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One exhibit.

    cells    those that `gwn reproduce NAME` computes where they are missing, cheapest first
    beyond   further cells that its tables show where they are measured: `--all` computes these too
    tables   from the folder of results to the tables, the main one first
    """

    name: str
    title: str
    place: str
    cells: tuple[Cell, ...]
    tables: Callable[[Path], tuple[TableData, ...]]
    beyond: tuple[Cell, ...] = ()
