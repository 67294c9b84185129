"""The verdict is what the records say: figures met, beaten, missed and not measured, places and ties."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from gwn.paper.cell import OURS, ROWS, Cell
from gwn.paper.curve_data import Axis, CurveData, Panel, write_figure
from gwn.paper.exhibit import figure_path
from gwn.paper.exhibits import EXHIBITS
from gwn.paper.ranking_chart import ordinal, ranking_chart
from gwn.paper.records import write_cell
from gwn.paper.verdict import all_cells, ranking, reservations, standing, tally
from gwn.paper.verdict_html import headline, unfinished, verdict_parts
from gwn.training.result import summarise

COLUMN = "cora.per-class"  # where the paper prints 89.61 for GWN-sym, 89.66 for GWN-fa and 87.51 for GCN


def measure(
    results: Path,
    row: str,
    *scores: float,
    trials: int = 8,
    settings: dict[str, str] | None = None,
    patience: int = 10,
) -> None:
    """A record as `gwn reproduce` writes it, with these test scores on splits that all rows share."""
    found = summarise([score / 100 for score in scores])
    runs: list[dict[str, Any]] = [
        {
            "split_hash": str(number),
            "seed": number,
            "test": score / 100,
            "status": "ok",
            "seconds": 1.0,
            "parameters": 9,
            "split_sizes": [600_000, 200_000, 200_000],
        }
        for number, score in enumerate(scores)
    ]
    summary = {"test": {name: getattr(found, name) for name in ("mean", "sd", "low", "high")}, "diverged": 0}
    record = {
        "summary": summary,
        "runs": runs,
        "settings": settings or {},
        "search": {"trials": trials},
        "recipe": {"trials": trials, "search_splits": 1, "space": "peers"},
        "metric": "accuracy",
        "config": {"epochs": 100, "patience": patience},
    }
    write_cell(results, Cell.of(COLUMN, row), record)


def test_figures_are_met_beaten_missed_or_not_measured(tmp_path: Path) -> None:
    measure(tmp_path, "gwn-sym", 89.0, 90.0, 89.5)
    measure(tmp_path, "gwn-fa", 85.0, 85.1, 85.2)
    measure(tmp_path, "gcn", 88.0, 88.1, 88.2)
    cells = all_cells(tmp_path)
    found = tally(cells[row][COLUMN] for row in ("gwn-sym", "gwn-fa", "gcn", "gat", "mlp"))
    assert {kind: [each.cell.row for each in seen] for kind, seen in found.items()} == {
        "beaten": ["gcn"],
        "met": ["gwn-sym"],
        "missed": ["gwn-fa"],
        "not measured": ["gat"],
    }, "an MLP is not in that table of the paper, so it is none of these"
    assert [each.cell.row for each in ranking(cells, COLUMN)] == ["gwn-sym", "gcn", "gwn-fa"]
    parts = verdict_parts(tmp_path)
    assert parts["headline"] == "The paper&#x27;s 30 accuracies for its wave networks: 1 met, 1 missed, 28 not measured"
    assert "GWN-sym 1st of 3" in parts["chart"]
    assert parts["chart"].count("<svg") == 1, "of a column without a measurement there is nothing to draw"


def test_a_place_is_told_apart_on_the_same_splits(tmp_path: Path) -> None:
    measure(tmp_path, "gcn", 88.0, 89.0, 90.0)
    measure(tmp_path, "gwn-fa", 84.0, 85.0, 86.0)  # always four points less: not first, and told apart
    measure(tmp_path, "gwn-plus", 89.5, 88.0, 89.0)  # sometimes more
    cells = all_cells(tmp_path)
    assert (standing(cells, "gwn-fa", [COLUMN]).first, standing(cells, "gwn-fa", [COLUMN]).tied) == (0, 0)
    assert standing(cells, "gwn-plus", [COLUMN]).tied == 1
    assert standing(cells, "gwn-plus", [COLUMN]).places == ((2, 3),)
    assert standing(cells, "gwn-sym", [COLUMN]).columns == 0
    facts = verdict_parts(tmp_path)["facts"]
    for row, told in {"gwn-fa": "0 0 1 3", "gwn-plus": "0 1 0 2", "gwn-sym": "– – – –"}.items():
        figures = "".join(f"<td>{each}</td>" for each in told.split())
        assert f'<th scope="row" class="key {row}">{ROWS[row].title}</th>{figures}' in facts, (
            "first, tied, behind, place"
        )
    assert "On how many of 1 columns" in facts
    assert "GWN-sym and GWN-fa are the paper's, the others ours." in facts


def test_what_is_not_fair_is_said(tmp_path: Path) -> None:
    measure(tmp_path, "gcn", 88.0, 89.0, trials=5)
    measure(tmp_path, "gwn-plus", 88.0, 89.0, trials=5)
    assert reservations(all_cells(tmp_path), [COLUMN]) == []
    measure(tmp_path, "gwn-plus", 88.0, 89.0, trials=5, patience=20)
    (patience,) = reservations(all_cells(tmp_path), [COLUMN])
    assert patience.startswith("In 1 of 1 columns the models had equal trials but not the same epochs and patience")
    measure(tmp_path, "gwn-plus", 88.0, 89.0, trials=70, settings={"scheme": "heat"})
    trials, heat = reservations(all_cells(tmp_path), [COLUMN])
    assert trials.startswith("In 1 of 1 columns the models did not have equal trials")
    assert heat.startswith("GWN+ is the heat equation, no wave, on one column:")
    assert "In 1 of 15 columns the models did not have equal trials" in verdict_parts(tmp_path)["facts"]


def test_points_and_models_that_are_missing_are_said(tmp_path: Path) -> None:
    """The first screen said of the paper's own figures alone what is not measured."""
    measure(tmp_path, "gcn", 88.0, 89.0, 90.0)
    line = Panel(title="", kind="lines", x=Axis(label=""), y=Axis(label=""), series=())
    whole = CurveData(name="roots", title="Roots", place="", caption="", panels=(line,))
    part = replace(whole, name="depth", title="Depth", provenance={"not run": ["one", "two"]})
    for figure in (whole, part):
        write_figure(figure, figure_path(f"figure-{figure.name}", tmp_path))
    found = unfinished(tmp_path)
    assert "figure-roots" not in found
    assert found["figure-depth"] == (EXHIBITS["figure-depth"].title, 2)
    assert found["figure-runtime"][1] is None
    facts = verdict_parts(tmp_path)["facts"]
    assert '<a href="#figure-depth">' in facts
    assert "</a> (2)." in facts
    assert f"{len(found) - 1} pictures are not computed." in facts
    assert f"to 1 of the {len(ROWS)} models." in facts
    assert "<h2>Not measured</h2>" in facts, "nothing here is unequal, so nothing says so"


def test_without_results_nothing_is_claimed(tmp_path: Path) -> None:
    cells = all_cells(tmp_path, unmeasured=True)
    own = tally(cells[row][column] for row in OURS for column in cells[row])
    assert headline(own) == "None of the paper's 30 accuracies for its wave networks is measured yet"
    assert ranking_chart(cells, [COLUMN]) == ""
    assert "not measured" in verdict_parts(tmp_path)["facts"]


def test_who_is_far_below_does_not_flatten_the_others(tmp_path: Path) -> None:
    for row, score in {"gwn-fa": 89.0, "gcn": 88.0, "gat": 87.5, "majority": 20.0}.items():
        measure(tmp_path, row, score, score + 0.5)
    chart = ranking_chart(all_cells(tmp_path), [COLUMN])
    assert chart.count('class="below"') == 1
    assert "20.25" in chart, "its score is still told"
    measure(tmp_path, "majority", 1.0, 99.0)
    chart = ranking_chart(all_cells(tmp_path), [COLUMN])
    assert chart.count('class="reach"') == 3, "an interval from far below to far above is a line without a dot"
    assert "<text" in chart
    assert ">100<" not in chart, "and the others keep the room"


def test_ordinals() -> None:
    assert [ordinal(place) for place in (1, 2, 3, 4, 11, 12, 13, 21, 22, 103, 111)] == [
        *("1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "103rd", "111th")
    ]
