"""Which model is best on anyone's graph, within a stated time (`gwn compare`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gwn.registry import exports_on_demand

if TYPE_CHECKING:
    from gwn.compare.comparison import SHELF, Comparison, Row, Snapshot, Standing, compare

__all__ = ["SHELF", "Comparison", "Row", "Snapshot", "Standing", "compare"]

# A worker needs no search, and should not wait for Optuna.
__getattr__ = exports_on_demand(__name__, dict.fromkeys(__all__, "gwn.compare.comparison"))
