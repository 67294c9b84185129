"""README and docs/results.md say what the committed results say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gwn import GWNError
from gwn.models import model_spec
from gwn.pages.markdown import fill
from gwn.paper.cell import TAUS, Cell
from gwn.paper.documents import (
    PARTS,
    README,
    comparison,
    findings,
    require_counted,
    rewritten,
    validation_optimism,
    verdict,
)
from gwn.paper.exhibits import beyond
from gwn.paper.protocol_page import classics, headline
from gwn.paper.records import write_cell
from gwn.paper.verdict import worth_of_edges
from gwn.tuning.spaces import SPACES

ROOT = Path(__file__).parents[2]


def two_runs(test: float, val: float = 0.8) -> dict[str, Any]:
    """What a record has of two runs with this test score."""
    runs = [
        {"split_hash": "s", "seed": seed, "status": "ok", "test": test, "seconds": 1.0, "split_sizes": [9, 9, 9]}
        for seed in range(2)
    ]
    summary = {"test": {"mean": test}, "val": {"mean": val}, "diverged": 0}
    return {"metric": "accuracy", "runs": runs, "summary": summary}


@pytest.mark.parametrize("page", sorted(PARTS), ids=str)
def test_pages_agree_with_the_results(page: Path, data_root: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert rewritten(page, text, ROOT / "results") == text, "run: python -m gwn.paper.documents"


def test_shipped_settings_agree_with_the_results(tmp_path: Path) -> None:
    from gwn.paper.shipped import COMMAND, ship
    from gwn.settings import SHIPPED

    names = [file.name for file in ship(ROOT / "results", tmp_path)]
    assert sorted(names) == sorted(file.name for file in SHIPPED.glob("*.toml"))
    for name in names:
        assert (SHIPPED / name).read_bytes() == (tmp_path / name).read_bytes(), f"run: {COMMAND}"


def test_shipped_settings_are_those_of_their_records() -> None:
    from gwn.models import model_spec
    from gwn.paper.shipped import searched_cells
    from gwn.settings import SHIPPED, find_tuned
    from gwn.training.config import TrainConfig, effective_settings

    count = 0
    for cell, record in searched_cells(ROOT / "results"):
        model = model_spec(cell.row)
        content = record["dataset"]["hash"]
        tuned = find_tuned(model, cell.dataset, cell.split, content, [SHIPPED], prior=cell.prior)
        assert tuned is not None, cell.name
        settings, training = tuned.merge(model, {}, {})
        trained = effective_settings(model, settings)
        assert {name: trained[name] for name in record["settings"]} == record["settings"], cell.name
        later = [value for name, value in trained.items() if name not in record["settings"]]
        assert {*later} <= {False, None, "none"}, f"{cell.name}: a setting that came later is switched on"
        measured = {name: value for name, value in record["training"].items() if value is not None}
        assert TrainConfig(**{**model.training, **training}) == TrainConfig(**measured) == TrainConfig(**training)
        assert tuned.table["record"] == f"results/cells/{cell.name}.json"
        count += 1
    assert count > 300


def test_without_results_nothing_is_claimed(tmp_path: Path) -> None:
    assert "none" in findings(tmp_path)
    assert "of 0 columns the better of the paper's two figures is" in verdict(tmp_path)


def test_the_figures_that_the_paper_prints_are_counted(tmp_path: Path) -> None:
    assert "Of 334 figures in the paper's tables 2 and 3 and its tables of every tau, 0 are" in findings(tmp_path)
    write_cell(tmp_path, Cell.of("texas.geom", "gwn-sym", 0.5), {**two_runs(0.8), "search": None, "settings": {}})
    assert "every tau, 1 are measured" in findings(tmp_path)


def test_a_column_with_few_models_is_no_victory(tmp_path: Path) -> None:
    record = {"recipe": {"trials": 4, "search_splits": 1}, "config": {"epochs": 9, "patience": 9}, "search": None}
    for measured in (beyond.ROWS[:3], beyond.ROWS):
        for row in measured:
            cell = Cell.of("photo.published", row)
            write_cell(tmp_path, cell, {**record, **two_runs(0.8), "settings": {}})
        said = "Beyond the paper, on 1 columns" in verdict(tmp_path)
        assert said == (measured == beyond.ROWS)


def test_cells_that_were_searched_in_an_earlier_space_are_counted(tmp_path: Path) -> None:
    current, on_rows = (SPACES[space].key(model_spec("acm-gcn")) for space in ("peers", "peers-normalized"))
    record = {
        "recipe": {"trials": 4, "search_splits": 1, "space": "peers"},
        "config": {"epochs": 9, "patience": 9},
        **two_runs(0.8),
    }
    cell = Cell.of("cora.per-class", "acm-gcn")
    earlier = "1 of 1 cells were searched in an earlier space"
    for space, key, settings, said in (
        ("peers", current, {"reference": True}, ""),
        ("peers-normalized", on_rows, {"reference": True}, ""),
        ("peers", "another", {"reference": True}, f"{earlier} ("),
        ("peers", "another", {}, f"{earlier}, 1 of them with the network of a peer's paper"),
    ):
        write_cell(tmp_path, cell, {**record, "settings": settings, "search": {"space": space, "space_key": key}})
        found = verdict(tmp_path)
        assert said in found
        assert bool(said) == ("earlier space" in found)


def test_the_worth_of_choosing_tau_by_test_is_what_validation_would_not_have_chosen(tmp_path: Path) -> None:
    assert headline(tmp_path) == "Not measured yet."
    for place, tau in enumerate(TAUS):
        test = 0.80 if place == 1 else 0.75
        record = {**two_runs(test, val=0.9 if place == 2 else 0.8), "search": None, "settings": {}, "config": {}}
        write_cell(tmp_path, Cell.of("texas.geom", "gwn-sym", tau), record)
    assert headline(tmp_path).startswith(
        "Over 1 networks and columns with all five, the best of the five by test is on average 5.00 points above"
    )


def test_the_verdict_in_readme_is_at_most_ten_lines() -> None:
    lines = verdict(ROOT / "results").splitlines()
    assert 5 <= len(lines) <= 10
    assert all(line.startswith("- ") and line.endswith(".") for line in lines)


def test_models_that_the_entry_is_told_apart_from_are_named() -> None:
    """Three of eighteen may be the majority class and networks without a graph."""
    said = re.search(r"told apart from (\d+) of the others \((.+)\)\.", verdict(ROOT / "results"))
    assert said is not None
    assert len(re.split(", | and ", said[2])) == int(said[1])
    assert "Majority class" in said[2]


def test_the_table_in_readme_marks_the_highest_and_what_is_not_told_apart(tmp_path: Path) -> None:
    scores = {"gwn-sym": 0.5, "gwn-bank-plus": 0.7, "gwn-twin": 0.81, "gcn": 0.8, "mlp": 0.6}
    for row, test in scores.items():
        record = two_runs(test)
        record["runs"] = [
            {**record["runs"][0], "split_hash": f"{run}", "split_sizes": [1800, 600, 600], "test": test + off}
            for run, off in enumerate([0.02, -0.02] * 5 if row == "gcn" else [0.0] * 10)
        ]
        labels = "masked" if row == "gwn-bank-plus" else "none"
        record |= {"search": None, "settings": {}, "config": {"labels": labels}}
        write_cell(tmp_path, Cell.of("cora.per-class", row), record)
        write_cell(tmp_path, Cell.of("texas.geom", row), {**record, "runs": two_runs(test)["runs"]})
    _, _, line = comparison(tmp_path).splitlines()
    column, sym, attention, entry, twin, peer, _, _ = line.strip("| ").split(" | ")
    assert column == "Cora per-class"
    assert sym.startswith("50.0 ±")
    assert attention == "", "not measured"
    assert entry.startswith("70.0 ±")
    assert entry.endswith("\\*")
    assert twin.startswith("**81.0 ±")
    assert peer.startswith("**80.0 ±"), "its difference to the highest has an interval that holds zero"
    assert peer.endswith("GCN"), "the twin, which has a place of its own, is no other model"


def test_what_validation_promised_is_set_against_the_test_scores(tmp_path: Path) -> None:
    assert validation_optimism(tmp_path) == []
    for row, (searched, won, test) in {"mlp": (0.9, 0.8, 0.8), "gcn": (0.8, 0.7, 0.6), "gat": (0.9, None, 0.5)}.items():
        record = {"search": {"validation": searched, "playoff": {"won": won}}, **two_runs(test)}
        write_cell(tmp_path, Cell(dataset="texas", split="geom", row=row), record)
    (line,) = validation_optimism(tmp_path)
    assert "over 2 cells" in line
    assert "in the search is +15.0 points" in line
    assert "in the play-off +5.0" in line


def test_a_page_without_its_place_is_refused() -> None:
    with pytest.raises(GWNError, match="no place for the table 'comparison'"):
        rewritten(README, "nothing here")
    text = "a\n<!-- generated: me (x) -->\nold\n<!-- end -->\nb"
    assert fill(text, "me", "x", r"new \1") == "a\n<!-- generated: me (x) -->\nnew \\1\n<!-- end -->\nb"


def test_what_the_edges_are_worth_is_said_by_how_alike_neighbours_are() -> None:
    worth = {"cora.per-class": "win", "photo.per-class": "tie", "actor.per-class": "loss"}
    assert worth_of_edges(worth) == "on 1 of 3 (by adjusted homophily: on 1 of 2 above 0.5, on 0 of 1 below 0.15)"
    assert worth_of_edges({"actor.geom": "win"}) == "on 1 of 1 (by adjusted homophily: on 1 of 1 below 0.15)"


def test_pages_are_not_written_without_the_datasets_that_they_count(
    data_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_counted()
    monkeypatch.setenv("GWN_DATA", str(tmp_path))
    monkeypatch.setenv("GWN_CACHE", str(tmp_path))
    with pytest.raises(GWNError, match=r"these are not on this disk: cora, citeseer.*set GWN_DATA"):
        require_counted()


def test_the_highest_tuned_classic_stands_beside_the_same_network_and_our_entry(tmp_path: Path) -> None:
    assert classics(tmp_path) == "Not measured yet."
    for row, test in (("gat-tuned", 0.9309), ("gwn-bank-plus", 0.93)):
        run = {"split_hash": "s", "status": "ok", "test": test, "split_sizes": [9, 9, 99]}
        runs = [{**run, "seed": seed, "best_epoch": best} for seed, best in enumerate((7, 8))]
        summary = {"test": {"mean": test, "sd": 0.0, "low": test, "high": test}, "diverged": 0}
        record = {"summary": summary, "runs": runs, "search": None, "settings": {}, "config": {"epochs": 9}}
        write_cell(tmp_path, Cell.of("computers.published", row), record)
    said = classics(tmp_path)
    assert "| Computers published | GAT (tuned) 94.09 ± 0.37 | 93.09 (" in said
    assert said.endswith(
        "7 to 8 of 9 |\n\nOur entry is below the highest of them on Computers published. The networks "
        "that have these figures are themselves 1.0 points lower here, on average."
    )
