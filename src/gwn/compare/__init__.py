"""Which model is best on anyone's graph, within a stated time (`gwn compare`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gwn.registry import exports_on_demand

if TYPE_CHECKING:
    from gwn.compare.comparison import SHELF, Comparison, Row, compare
    from gwn.compare.course import Snapshot, Standing

__all__ = ["SHELF", "Comparison", "Row", "Snapshot", "Standing", "compare"]

# A worker needs no search, and should not wait for Optuna.
_PLACES = dict.fromkeys(("SHELF", "Comparison", "Row", "compare"), "gwn.compare.comparison")
__getattr__ = exports_on_demand(__name__, {**_PLACES, **dict.fromkeys(("Snapshot", "Standing"), "gwn.compare.course")})
