"""Measuring cells for real on a small generated graph: computed once, kept whole, continued, repeated."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest

import gwn.paper.measure
from gwn import GWNError
from gwn.data import load_dataset
from gwn.io import machine_lock
from gwn.models import model_spec
from gwn.paper.cell import BUDGETS, TRIALS_OF_A_TAU, Budget, Cell, recipe_of
from gwn.paper.measure import measure_cell, measure_missing, repeat_cell
from gwn.paper.records import Workplace, cell_file, missing, read_cell
from gwn.paper.shipped import searched_cells, settings_tables, ship
from gwn.settings import find_tuned
from gwn.training.config import TrainConfig, effective_settings
from seeds import reseed

MLP = Cell(dataset="csbm", split="stratified", row="mlp")
MAJORITY = Cell(dataset="csbm", split="stratified", row="majority")

BUDGET = Budget(trials=3, splits=1)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(BUDGETS, "csbm", BUDGET)
    return Workplace(results=tmp_path / "results")


@pytest.fixture
def _two_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The winner is measured twice instead of ten times: for tests of the search."""
    monkeypatch.setattr(gwn.paper.measure, "recipe_of", lambda cell: replace(recipe_of(cell), runs=2))


two_runs = pytest.mark.usefixtures("_two_runs")


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where the cell of the MLP is measured, with its study and its runs."""
    folder = tmp_path_factory.mktemp("measured")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.setitem(BUDGETS, "csbm", BUDGET)
        reseed()
        measure_cell(MLP, Workplace(results=folder / "results"))
    return folder


@pytest.fixture
def measured(place: Workplace, once: Path, tmp_path: Path) -> Workplace:
    """The test's own copy of it."""
    shutil.copytree(once, tmp_path, dirs_exist_ok=True)
    return place


def record_of(place: Workplace, cell: Cell) -> dict[str, Any]:
    record = read_cell(place.results, cell)
    assert record is not None
    return record


def test_a_cell_is_searched_on_validation_and_measured_with_fresh_seeds(measured: Workplace) -> None:
    record = record_of(measured, MLP)
    assert record["search"]["trials"] == 3
    assert min(record["search"]["seeds"]) >= 1000
    assert [run["seed"] for run in record["runs"]] == [*range(10)]
    assert record["summary"]["finished"] == 10
    assert {"hash", "nodes"} <= record["dataset"].keys()
    assert record["environment"]["versions"]["torch"]


def test_a_finished_cell_is_not_computed_again(measured: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    before = cell_file(measured.results, MLP).read_bytes()
    measure_missing([MAJORITY], measured, on_cell=lambda *_: None)
    monkeypatch.setattr(gwn.paper.measure, "run_experiment", None)
    done: list[Cell] = []
    measure_missing([MLP, MAJORITY], measured, on_cell=lambda cell, _: done.append(cell))
    assert done == []
    assert cell_file(measured.results, MLP).read_bytes() == before


@two_runs
def test_a_killed_cell_continues_from_its_trials_and_runs(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as killed:
        killed.setattr(gwn.paper.measure, "write_cell", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            measure_cell(MLP, place)
    assert missing([MLP], place.results) == [MLP]
    with monkeypatch.context() as counted:
        counted.setattr("gwn.training.experiment.Experiment.compute", None)
        counted.setattr("gwn.tuning.workers.score_trial", None)
        record = measure_cell(MLP, place)
    assert record["search"]["trials"] == 3


@two_runs
def test_a_study_that_has_more_trials_gives_a_cell_its_budget_alone(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after `gwn tune` with the same choices: the cell took all trials, and its column was no longer equal."""
    with monkeypatch.context() as tuned:
        tuned.setitem(BUDGETS, "csbm", replace(BUDGET, trials=5))
        assert measure_cell(MLP, place)["search"]["trials"] == 5
    cell_file(place.results, MLP).unlink()
    search = measure_cell(MLP, place)["search"]
    assert search["trials"] == search["complete"] + search["pruned"] == 3
    assert search["best_trial"] < 3


def test_a_repeated_cell_is_identical(measured: Workplace) -> None:
    record = record_of(measured, MLP)
    again = repeat_cell(MLP, measured)
    assert [run["test"] for run in again["runs"]] == [run["test"] for run in record["runs"]]
    assert [run["val_loss"] for run in again["runs"]] == [run["val_loss"] for run in record["runs"]]


def test_a_corrected_cell_is_searched_under_its_prior_and_repeats_to_the_bit(measured: Workplace) -> None:
    corrected = replace(MLP, prior="em")
    record, plain = measure_cell(corrected, measured), record_of(measured, MLP)
    assert record["search"]["fixed"] == ["prior"]
    assert record["search"]["study"] != plain["search"]["study"]
    assert record["search"]["trials"] == plain["search"]["trials"]
    assert record["config"]["prior"] == "em"
    assert "prior" not in plain["config"]
    assert all(run["prior"]["source"] == "em" for run in record["runs"])
    assert [run["split_hash"] for run in record["runs"]] == [run["split_hash"] for run in plain["runs"]]
    assert [run["test"] for run in repeat_cell(corrected, measured)["runs"]] == [run["test"] for run in record["runs"]]
    assert missing([MLP, corrected], measured.results) == []
    assert {cell for cell, _ in searched_cells(measured.results)} == {MLP, corrected}
    tables = settings_tables(measured.results)["mlp"]["csbm"]
    assert sorted(tables) == ["stratified", "stratified-em"], "what suits answers as they are has a table of its own"
    assert "prior" not in tables["stratified-em"]["training"], "settings do not correct in silence"


@two_runs
def test_uniform_splits_take_the_settings_of_the_search_on_per_class_ones_from_its_record(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The study need not be on this machine; a search with another plan is another search."""
    searched = measure_cell(replace(MLP, split="per-class"), place)
    uniform = replace(MLP, split="uniform")
    with monkeypatch.context() as without:
        without.setattr(gwn.paper.measure, "run_search", None)
        record = measure_cell(uniform, place)
        assert [record[part] for part in ("settings", "training", "search")] == [
            searched[part] for part in ("settings", "training", "search")
        ]
        assert (record["split"], searched["split"]) == ("uniform", "per-class")
        cell_file(place.results, uniform).unlink()
        without.setitem(BUDGETS, "csbm", replace(BUDGET, trials=4))
        with pytest.raises(TypeError):
            measure_cell(uniform, place)


@two_runs
def test_every_tau_has_as_many_trials_of_its_own(place: Workplace) -> None:
    cell = Cell(dataset="csbm", split="stratified", row="gwn-sym", tau=5.0)
    record = measure_cell(cell, place)
    assert record["settings"]["tau"] == 5.0
    assert record["recipe"]["trials"] == record["search"]["trials"] == TRIALS_OF_A_TAU
    assert record["search"]["fixed"] == ["tau"]


@two_runs
def test_of_two_searches_the_better_on_validation_is_taken(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    budget = Budget(trials=2, splits=1, on_rows=3)
    monkeypatch.setitem(BUDGETS, "csbm", budget)
    record = measure_cell(MLP, place)
    assert record["search"]["trials_in_all"] == 5
    scores: dict[str, Any] = {}
    for study in Path("studies").glob("*.db"):
        (summary,) = optuna.get_all_study_summaries(f"sqlite:///{study}")
        scores[study.stem] = summary.best_trial.value  # type: ignore[union-attr]
    assert len(scores) == 2
    assert record["search"]["validation"] == max(scores.values())
    assert record["settings"]["row_normalize"] == record["search"]["space"].endswith("-normalized")


@two_runs
def test_the_best_of_both_searches_play_off(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    budget = Budget(trials=3, splits=1, on_rows=3, finalists=2, playoff_splits=2)
    monkeypatch.setitem(BUDGETS, "csbm", budget)
    record = measure_cell(MLP, place)
    playoff = record["search"]["playoff"]
    assert 2 <= len(playoff["scores"]) <= 4
    assert playoff["won"] == max(playoff["scores"])
    assert measure_cell(MLP, place)["search"]["playoff"] == playoff


def test_a_cell_that_another_process_is_at_is_left_to_it(place: Workplace) -> None:
    said: list[str] = []
    with machine_lock(f"cell {cell_file(place.results, MAJORITY).resolve()}"):
        measure_missing([MAJORITY], place, on_cell=lambda _, trouble: said.append(trouble))
    assert said == ["another process is at it"]
    assert read_cell(place.results, MAJORITY) is None


@pytest.mark.slow
def test_two_workers_share_the_cells(place: Workplace, data_root: Path) -> None:
    cells = [Cell(dataset=name, split="geom", row="majority") for name in ("texas", "cornell", "wisconsin")]
    said: list[str] = []
    measure_missing(cells, place, jobs=2, on_cell=lambda _, trouble: said.append(trouble))
    assert said == ["", "", ""]
    assert missing(cells, place.results) == []


def test_trouble_in_one_cell_does_not_end_the_others(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise GWNError("the graph is too large for it")

    monkeypatch.setattr("gwn.paper.measure.plan_search", refuse)
    said: dict[str, str] = {}
    measure_missing([MLP, MAJORITY], place, on_cell=lambda cell, trouble: said.update({cell.row: trouble}))
    assert said == {"mlp": "the graph is too large for it", "majority": ""}


@pytest.mark.parametrize("damage", ["cut", "edited", "moved", "newer"])
def test_a_damaged_record_is_refused_and_never_overwritten(place: Workplace, damage: str) -> None:
    measure_cell(MAJORITY, place)
    path = cell_file(place.results, MAJORITY)
    text = path.read_text()
    record = json.loads(text)
    if damage == "cut":
        path.write_text(text[: len(text) // 2])
    elif damage == "edited":
        record["summary"]["test"]["mean"] = 0.99
        path.write_text(json.dumps(record))
    elif damage == "moved":
        path.rename(path.with_name("mlp.json"))
        path = path.with_name("mlp.json")
    else:
        path.write_text(json.dumps({**record, "format": 99}))
    cell = Cell.parse(f"csbm/stratified/{path.stem}")
    broken = path.read_bytes()
    again = "newer version of gwn" if damage == "newer" else "restore it, or delete it and measure again"
    with pytest.raises(GWNError, match=again):
        measure_missing([cell], place, on_cell=lambda *_: None)
    assert path.read_bytes() == broken


def test_settings_ship_from_the_records(measured: Workplace, tmp_path: Path) -> None:
    record = record_of(measured, MLP)
    measure_cell(MAJORITY, measured)
    assert [file.name for file in ship(measured.results, tmp_path / "settings")] == ["mlp.toml"]
    data = load_dataset("csbm").graph.content_hash()
    tuned = find_tuned(model_spec("mlp"), "csbm", "stratified", data, [tmp_path / "settings"])
    assert tuned is not None
    assert effective_settings(model_spec("mlp"), tuned.settings) == record["settings"]
    trained_with = {name: value for name, value in record["training"].items() if value is not None}
    assert TrainConfig(**tuned.training) == TrainConfig(**trained_with)


def test_the_recipe_is_what_the_record_says(place: Workplace) -> None:
    record = measure_cell(MAJORITY, place)
    assert record["recipe"]["trials"] == recipe_of(MAJORITY).trials == 0
    assert record["search"] is None
