"""The winner: measured with fresh seeds, written beside others, and the same runs that `gwn train` would compute."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from optuna.trial import FrozenTrial

from gwn import GWNError
from gwn.io import read_toml
from gwn.settings import find_tuned
from gwn.tuning import Search, SearchJob, best_trial, measure, run_search, settings_file, write_winner

MakeSearch = Callable[..., Search]
MakeJob = Callable[..., SearchJob]


def finished(make_job: MakeJob, search: Search, trials: int = 3) -> list[FrozenTrial]:
    return run_search(make_job(search, trials), search, on_trial=lambda *_: None, say=lambda _: None)


def test_winner_is_measured_and_found_again(make_search: MakeSearch, make_job: MakeJob, tmp_path: Path) -> None:
    search = make_search(model="gwn-fa")
    trials = finished(make_job, search)
    table, folder = measure(search, "mine", trials, tmp_path / "runs", runs=3)
    assert table["search"]["validation"] == max(trial.value for trial in trials if trial.value is not None)
    assert (table["search"]["trials"], table["search"]["seeds"]) == (3, [1000, 1001])
    assert table["final"]["seeds"] == [0, 1, 2]
    assert table["final"]["test_low"] <= table["final"]["test"] <= table["final"]["test_high"]
    assert {"python", "torch", "optuna", "graph-wave-networks"} <= table["versions"].keys()
    assert sorted(path.name for path in folder.glob("run-*.json")) == [f"run-0{n}.json" for n in range(3)]

    file = settings_file(tmp_path / "settings", "gwn-fa")
    file.write_text("[csbm.geom]\nkept = 1\n\n[texas.geom]\nkept = 2\n")
    write_winner(file, search, table)
    content = read_toml(file)
    assert content["csbm"]["geom"] == {"kept": 1}
    assert content["texas"]["geom"] == {"kept": 2}
    assert content["csbm"]["stratified"]["final"] == table["final"]
    found = find_tuned(search.model, "csbm", "stratified", search.plan.data, [file.parent])
    assert found is not None
    assert found.settings == {name: value for name, value in table["settings"].items() if value is not None}
    assert found.training == table["training"]

    text = file.read_text()
    write_winner(file, search, {**table, "date": "2099-01-01"})
    assert file.read_text() == text  # nothing new but the date
    _, replaced = write_winner(file, search, {**table, "date": "2099-01-01", "metric": "other"})
    assert read_toml(file)["csbm"]["stratified"]["date"] == "2099-01-01"
    assert replaced == "", "of the same study"
    _, replaced = write_winner(file, search, {**table, "search": {**table["search"], "study": "quick"}})
    assert re.fullmatch(r"the settings of study mine, validation 0\.\d+ in 3 trials; this one has 0\.\d+", replaced)
    assert not [path for path in file.parent.iterdir() if path != file]


def test_a_search_under_a_prior_leaves_the_other_winner_where_it_is(
    make_search: MakeSearch, make_job: MakeJob, tmp_path: Path
) -> None:
    file = settings_file(tmp_path / "settings", "gcn")
    for given in ((), ("prior=validation",)):
        search = make_search(*given, model="gcn")
        table, _ = measure(search, "mine", finished(make_job, search, 1), tmp_path / "runs", runs=1)
        write_winner(file, search, table)
    content = read_toml(file)["csbm"]
    assert sorted(content) == ["stratified", "stratified-validation"]
    assert "prior" not in content["stratified-validation"]["training"]


def test_nothing_to_win(make_search: MakeSearch, make_job: MakeJob, tmp_path: Path) -> None:
    with pytest.raises(GWNError, match="none of 0 trials has a score in the time given"):
        best_trial([])
    search = make_search("time=400", "tau=1")
    trials = finished(make_job, search, 2)
    with pytest.raises(GWNError, match="none of 2 trials has a score: training diverged"):
        measure(search, "mine", trials, tmp_path, runs=1)
    with pytest.raises(GWNError, match="between 1 and 1000"):
        measure(make_search(), "mine", finished(make_job, make_search(), 1), tmp_path, runs=1001)


def test_unwritable_or_broken_settings_are_refused_before_the_search(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(GWNError, match="cannot write"):
        settings_file(tmp_path / "file", "mlp")
    (tmp_path / "mlp.toml").write_text("= broken")
    with pytest.raises(GWNError, match=r"mlp\.toml cannot be read as TOML"):
        settings_file(tmp_path, "mlp")
