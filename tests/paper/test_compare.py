"""Comparisons of models, against numbers worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from gwn.paper.cell import Cell
from gwn.paper.compare import View, average_ranks, outcome, paired
from gwn.paper.printed import PaperValue
from gwn.training.result import RunResult, summary_of_runs

NOTHING = RunResult(run=0, seed=0, split_hash="", split_sizes=(9000, 9000, 9000), status="diverged", reason="too far")


def measured(tests: Sequence[float], row: str = "mlp", paper: float | None = None, diverged: int = 0) -> View:
    runs = [
        replace(NOTHING, run=n, split_hash=f"split {n}", status="ok", reason="", val=0.5, test=test, seconds=1.0)
        for n, test in enumerate(tests)
    ]
    runs += [replace(NOTHING, run=n, split_hash=f"lost {n}") for n in range(diverged)]
    record: dict[str, Any] = {"runs": [run.to_json() for run in runs], "summary": summary_of_runs(runs)}
    record |= {"search": None, "settings": {}, "config": {}, "metric": "accuracy"}
    printed = None if paper is None else PaperValue(mean=paper)
    return View(cell=Cell(dataset="texas", split="geom", row=row), paper=printed, record=record)


def test_paired_differences_are_over_the_same_splits() -> None:
    found = paired(measured([0.9, 0.8, 0.7, 0.1]), measured([0.8, 0.7, 0.6]))
    assert found is not None
    assert found.count == 3
    assert found.mean == pytest.approx(10.0)
    assert outcome(found) == "win"
    assert outcome(paired(measured([0.8, 0.7]), measured([0.9, 0.8]))) == "loss"
    assert outcome(paired(measured([0.8, 0.7]), measured([0.7, 0.8]))) == "tie"
    assert paired(measured([0.8]), measured([0.9, 0.8])) is None


def test_splits_that_share_their_training_nodes_are_no_independent_draws() -> None:
    """Differences of 0 and 4 points, on average 2: over seeds of one split they are told apart from zero."""
    ours, theirs = [0.50, 0.54] * 5, [0.50, 0.50] * 5
    over_splits = paired(measured(ours), measured(theirs))
    assert over_splits is not None
    sd = math.sqrt(10 / 9) * 2.0
    assert over_splits.low == pytest.approx(2.0 - 2.262157 * sd * math.sqrt(1 / 10 + 1), abs=1e-5)
    assert outcome(over_splits) == "tie"
    fixed = [measured(scores) for scores in (ours, theirs)]
    for seen in fixed:
        assert seen.record is not None
        for run in seen.record["runs"]:
            run |= {"split_hash": "the only one", "seed": run["run"]}
    over_seeds = paired(*fixed)
    assert over_seeds is not None
    assert over_seeds.low == pytest.approx(2.0 - 2.262157 * sd / math.sqrt(10), abs=1e-5)
    assert outcome(over_seeds) == "win"


def test_a_cell_of_which_one_run_finished_has_no_figure() -> None:
    """It has no interval either: the whole report ended in a TypeError."""
    seen = measured([0.8], diverged=9, paper=70.0)
    assert seen.test is None
    assert seen.verdict == ""
    assert seen.shown().lines == ("9 of 10 diverged", "paper 70.00")


def test_the_interval_of_a_cell_is_todays_and_not_the_one_that_was_stored_with_it() -> None:
    """A hundred records are older than Wilson's interval; their Student's stood in the same tables, twice as narrow."""
    seen = measured([0.8, 0.82, 0.84])
    shown = seen.shown().lines
    assert seen.record is not None
    seen.record["summary"]["test"] |= {"low": 0.8199, "high": 0.8201}
    assert seen.shown().lines == shown


def test_average_ranks_with_ties_and_missing_cells() -> None:
    scores = {
        "a": {"x": 90.0, "y": 80.0, "z": 1.0},
        "b": {"x": 80.0, "y": 80.0, "z": 2.0},
        "c": {"x": 70.0, "y": 70.0, "z": 3.0},
        "few": {"x": 99.0},
    }
    found = average_ranks(scores, ["x", "y", "z", "nobody has it"])
    assert found.columns == ("x", "y", "z")
    assert found.ranks == {"b": pytest.approx((2 + 1.5 + 2) / 3), "a": pytest.approx((1 + 1.5 + 3) / 3), "c": 7 / 3}
    # Demsar's table: q = 2.343 for three models, so CD = q sqrt(3 * 4 / (6 * 3)).
    assert found.critical == pytest.approx(2.343 * math.sqrt(12 / 18), rel=1e-3)


def test_columns_of_one_dataset_count_once() -> None:
    scores = {
        "a": {"x.geom": 3.0, "x.per-class": 3.0, "y.geom": 1.0},
        "b": {"x.geom": 2.0, "x.per-class": 1.0, "y.geom": 2.0},
        "c": {"x.geom": 1.0, "x.per-class": 2.0, "y.geom": 3.0},
    }
    found = average_ranks(scores, ["x.geom", "x.per-class", "y.geom"])
    assert found.ranks == {"c": (2.5 + 1) / 2, "a": (1 + 3) / 2, "b": (2.5 + 2) / 2}
    assert found.critical == pytest.approx(2.343 * math.sqrt(12 / 12), rel=1e-3), "two datasets, not three columns"
    assert len(found.columns) == 3


def test_average_ranks_of_the_most_cells_without_a_gap() -> None:
    """Two of six columns were all that most rows had; a third of the rows have all six."""
    many = {f"m{place}": {"x": float(place)} for place in range(5)}
    whole = {"a": {"x": 9.0, "y": 8.0, "z": 7.0}, "b": {"x": 8.0, "y": 9.0, "z": 6.0}}
    assert average_ranks({**many, **whole}, "xyz").columns == ("x",)
    assert average_ranks({**many, **whole}, "xyz", most_cells=True).columns == ("x",), "7 cells are more than 6"
    third = {**whole, "c": {"x": 1.0, "y": 2.0, "z": 3.0}}
    found = average_ranks({**many, **third}, "xyz", most_cells=True)
    assert found.columns == ("x", "y", "z"), "9 cells are more than 8"
    assert found.ranks == {"a": pytest.approx(4 / 3), "b": pytest.approx(5 / 3), "c": 3.0}


def test_a_cell_says_where_the_paper_lies() -> None:
    cells = [measured([0.8, 0.82, 0.84], paper=paper) for paper in (82.5, 70.0, 95.0)]
    assert [cell.verdict for cell in cells] == ["within", "above", "below"]
    assert cells[1].difference == pytest.approx(12.0)
    assert cells[1].shown().lines == ("82.00 ± 2.00", "76.5 to 86.4", "paper 70.00 (+12.00, above)")
    assert measured([], diverged=2, paper=70.0).shown().lines == ("diverged", "paper 70.00")
    assert "1 diverged" in measured([0.8, 0.82], diverged=1).shown().lines
    nothing = View(cell=cells[0].cell, paper=PaperValue(mean=70.0), record=None)
    assert nothing.shown().lines == ("–", "paper 70.00")
    assert nothing.flat()["mean"] is None
