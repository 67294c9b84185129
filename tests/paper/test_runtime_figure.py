"""The run-time figure from measured cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gwn.errors import GWNError
from gwn.paper.cell import Cell
from gwn.paper.exhibit import Context
from gwn.paper.exhibits.runtime import compute
from gwn.paper.records import write_cell


def _run(seconds: float, test: float, status: str = "ok") -> dict[str, Any]:
    return {"status": status, "seconds": seconds, "test": test}


def _cells(results: Path) -> None:
    for row, tau, seconds in (("gcn", None, 1.0), ("gwn-sym", None, 2.0), ("gwn-sym", 0.5, 3.0), ("gwn-sym", 0.2, 6.0)):
        cell = Cell(dataset="cora", split="per-class", row=row, tau=tau)
        write_cell(results, cell, {"runs": [_run(seconds, 0.8), _run(9 * seconds, 0.9), _run(0.0, 0.0, "diverged")]})
    only = Cell(dataset="texas", split="geom", row="mlp")
    write_cell(results, only, {"runs": [_run(0.0, 0.0, "diverged")]})


def test_points_are_median_seconds_and_mean_scores(tmp_path: Path) -> None:
    _cells(tmp_path)
    (data,) = compute(Context(results=tmp_path))
    (panel,) = data.panels
    taus, gcn, sym = panel.series
    assert (gcn.x, gcn.y, gcn.marks) == ((5.0,), (85.0,), ("GCN",))
    assert (sym.x, sym.marks) == ((10.0,), ("GWN-sym",))
    assert (taus.x, taus.marks) == ((30.0, 15.0), ("τ = 0.2", "τ = 0.5"))
    assert panel.title == "Cora, per-class"


def test_without_cells_it_says_which_command_measures_them(tmp_path: Path) -> None:
    with pytest.raises(GWNError, match=r"no measured cell .* `gwn reproduce table-homophilic`$"):
        compute(Context(results=tmp_path))
