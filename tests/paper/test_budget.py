"""What captions say of the budgets of a column, and of cells that are not what their row is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gwn.pages.table import NOT_MEASURED
from gwn.paper.budget import budget_caption, heading, unequal_columns
from gwn.paper.cell import Cell
from gwn.paper.compare import View
from gwn.paper.exhibit import Context
from gwn.paper.exhibits import EXHIBITS
from gwn.paper.exhibits.accuracy import accuracy_table
from gwn.paper.records import write_cell
from gwn.paper.table import TableData

COLUMN = "cora.per-class"


def record(trials: int = 24, splits: int = 2, patience: int = 50, test: float = 0.8, **settings: Any) -> dict[str, Any]:
    run = {"status": "ok", "seconds": 1.0, "parameters": 1, "split_sizes": [6000, 2000, 2000]}
    runs = [{**run, "split_hash": f"s{n}", "seed": n, "test": test + 0.001 * n} for n in range(3)]
    return {
        "metric": "accuracy",
        "recipe": {"trials": trials, "search_splits": splits, "space": "peers"},
        "config": {"epochs": 200, "patience": patience},
        "search": {"trials": trials, "space": "peers", "space_key": "k", "validation": 0.8, "selected_on_test": None},
        "settings": settings,
        "runs": runs,
        "summary": {"test": {"mean": test}, "diverged": 0},
    }


def cells(**of_rows: dict[str, Any]) -> dict[str, dict[str, View]]:
    return {
        row.replace("_", "-"): {COLUMN: View(cell=Cell.of(COLUMN, row.replace("_", "-")), paper=None, record=found)}
        for row, found in of_rows.items()
    }


def test_an_equal_budget_is_said_once_and_an_unequal_one_with_who_had_it() -> None:
    equal = cells(mlp=record(), gcn=record())
    assert unequal_columns(equal, [COLUMN]) == []
    said = budget_caption(equal, [COLUMN])
    assert "Cora per-class: 24 trials on 2 splits for every model." in said
    assert "at most 200 epochs and a patience of 50" in said
    unequal = cells(mlp=record(), gcn=record(5, 1), gat=record(7, 1))
    assert unequal_columns(unequal, [COLUMN]) == [COLUMN]
    assert "UNEQUAL, from 5 trials on 1 split (GCN) to 24 trials on 2 splits (MLP)" in budget_caption(unequal, [COLUMN])


def test_another_patience_is_no_equal_budget() -> None:
    found = cells(mlp=record(), gcn=record(patience=20))
    assert unequal_columns(found, [COLUMN]) == [COLUMN]
    said = budget_caption(found, [COLUMN])
    assert "UNEQUAL" in said
    assert "at most 200 epochs and a patience of 20 (GCN)" in said


def test_a_column_whose_waves_are_held_to_shorter_times_says_so() -> None:
    assert "shorter times" not in budget_caption(cells(gwn_fa=record()), [COLUMN])
    short = record()
    short["recipe"]["space"] = "standard-short"
    assert "On Cora per-class the paper's networks" in budget_caption(cells(mlp=record(), gwn_fa=short), [COLUMN])


def test_columns_of_different_length_say_their_own() -> None:
    found = cells(mlp=record())
    longer = record()
    longer["config"] = {"epochs": 300, "patience": 100}
    longer["recipe"]["runs"] = 5
    other = "photo.published"
    found["mlp"][other] = View(cell=Cell.of(other, "mlp"), paper=None, record=longer)
    said = budget_caption(found, [COLUMN, other])
    assert "Photo published: 24 trials on 2 splits, 5 runs, at most 300 epochs and a patience of 100 for every" in said
    assert "Cora per-class: 24 trials on 2 splits, at most 200 epochs and a patience of 50 for every model" in said


def test_a_wave_network_whose_settings_are_the_heat_equation_is_called_so() -> None:
    found = cells(gwn_plus=record(scheme="heat"), gwn_sym=record(scheme="leapfrog"), gwn_heat=record(scheme="heat"))
    seen = {row: "heat equation, no wave" in of_row[COLUMN].shown().lines for row, of_row in found.items()}
    assert seen == {"gwn-plus": True, "gwn-sym": False, "gwn-heat": False}


def test_a_network_that_sees_training_labels_is_marked() -> None:
    shown = record()
    shown["config"]["labels"] = "masked"
    found = cells(gwn_bank_plus=shown, gcn_tuned=record())
    seen = {row: "training labels as input" in of_row[COLUMN].shown().lines for row, of_row in found.items()}
    assert seen == {"gwn-bank-plus": True, "gcn-tuned": False}


def test_the_worth_of_the_graph_is_the_paired_difference_to_the_twin_without_edges() -> None:
    table = accuracy_table("t", "", "", cells(gwn_bank_plus=record(test=0.85), gwn_twin=record(test=0.8)), [COLUMN])
    (line,) = [row for row in table.rows if row[0].lines[0].startswith("the graph")]
    assert line[1].lines[0] == "+5.00, win"
    alone = accuracy_table("t", "", "", cells(gwn_bank_plus=record()), [COLUMN])
    assert not any(row[0].lines[0].startswith("the graph") for row in alone.rows)


def test_corrected_cells_stand_beside_uncorrected_ones_and_say_so(tmp_path: Path) -> None:
    for prior, test in (("none", 0.8), ("em", 0.84)):
        write_cell(tmp_path, Cell.of(COLUMN, "gcn", prior=prior), record(test=test))
    (table,) = EXHIBITS["table-shift"].compute(Context(results=tmp_path))
    assert isinstance(table, TableData)
    (row,) = table.rows
    by_column = dict(zip(table.columns, row, strict=True))
    assert by_column["Cora per-class, as everybody reports"].lines[0] == "80.10 ± 0.10"
    assert by_column["Cora per-class, shift corrected, em"].lines[0] == "84.10 ± 0.10"
    assert by_column["Cora per-class, shift corrected, em"].lines[-1] == "+4.00 (+2.5 to +5.5), win"
    assert by_column["Cora per-class, shift corrected, validation"] == NOT_MEASURED
    assert "another space" not in table.caption
    elsewhere = record(test=0.84)
    elsewhere["search"]["space_key"] = "another"
    write_cell(tmp_path, Cell.of(COLUMN, "gcn", prior="em"), elsewhere)
    (table,) = EXHIBITS["table-shift"].compute(Context(results=tmp_path))
    assert isinstance(table, TableData)
    assert "(in another space for 1 of 1 cells)" in table.caption


def test_a_heading_names_a_metric_that_is_not_the_accuracy() -> None:
    assert heading("minesweeper.published") == "Minesweeper published (ROC-AUC)"
    assert heading(COLUMN) == "Cora per-class"
