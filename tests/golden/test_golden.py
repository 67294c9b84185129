"""What version 0.1.0 wrote is read by today's code; what a later version writes is refused in one line."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from gwn import GWNError
from gwn.cli.main import main
from gwn.data.folders.folder import GraphFolder
from gwn.io import read_toml
from gwn.paper.cell import Cell
from gwn.paper.curve_data import read_figure
from gwn.paper.records import read_cell
from gwn.training.checkpoint import load_checkpoint

HERE = Path(__file__).parent
TABLES = ("--edges", "edges.csv", "--nodes", "nodes.csv", "--label-column", "topic", "--weight-column", "w")
SMALL = ("--set", "epochs=3", "--set", "hidden_channels=8", "--quiet")
THEN = ("--set", "time=4")
"""What was GWN-sym's and GWN-fa's default in version 0.1.0."""
RUNS = {
    "nodes-gwn-fa-8d5d65662a24": (*TABLES, "--model", "gwn-fa", "--runs", "2", *SMALL, *THEN),
    "nodes-gcn-0291acb5c289": (*TABLES, "--model", "gcn", "--runs", "1", *SMALL),
    "csbm-gwn-sym-e85dda6cb2ca": ("csbm", "--model", "gwn-sym", "--runs", "2", *SMALL, *THEN),
    "csbm-gwn-c7c2b3f758f5": ("csbm", "--model", "gwn", "--runs", "1", *SMALL),
    "csbm-mlp-54838552da91": ("csbm", "--model", "mlp", "--runs", "1", *SMALL),
    "folder-gwn-sym-cb56916d04a0": (
        *("folder", "--model", "gwn-sym", "--precompute", "--memory", "1GB", "--runs", "1", *SMALL, *THEN),
    ),
}
INTERRUPTED = "interrupted/nodes-gwn-sym-8c3af3ddee9b"


@pytest.fixture
def golden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy, so that nothing that a test does reaches the files themselves."""
    copy = tmp_path / "golden"
    shutil.copytree(HERE, copy, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    monkeypatch.chdir(copy)
    return copy


def gwn(*arguments: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 0


def contents(folder: Path, pattern: str) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.glob(pattern)) if path.is_file()}


def same_predictions(found: Path, name: str) -> None:
    expected = pd.read_csv(HERE / "predictions" / f"{name}.csv", dtype={"node": str, "predicted": str})
    table = pd.read_csv(found, dtype={"node": str, "predicted": str}).head(len(expected))[list(expected.columns)]
    pd.testing.assert_frame_equal(table, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_folder_predicts_as_it_did(golden: Path, name: str) -> None:
    """Version 0.1.0 answered with the best run; today's default is the mean of all."""
    gwn("predict", f"runs/{name}", "--best", "--out", "now.csv")
    same_predictions(golden / "now.csv", name)


@pytest.mark.parametrize("name", RUNS)
def test_the_same_command_finds_the_finished_runs_again(golden: Path, name: str) -> None:
    """Every run's record stays as it is: to the second it took."""
    before = contents(golden / "runs", "*/run-*")
    gwn("train", *RUNS[name])
    assert contents(golden / "runs", "*/run-*") == before


def test_propagated_features_are_found_again(golden: Path) -> None:
    """A run that is computed anew does not propagate anew, and its model predicts as the former one did."""
    name = "folder-gwn-sym-cb56916d04a0"
    place = golden / "runs" / "propagated-folder-74ffce74f1a6"
    before = {path: path.stat().st_mtime_ns for path in place.iterdir()}
    gwn("train", *RUNS[name], "--force")
    assert {path: path.stat().st_mtime_ns for path in place.iterdir()} == before
    gwn("predict", f"runs/{name}", "--out", "now.csv", "--memory", "1GB")
    same_predictions(golden / "now.csv", name)


def test_a_graph_folder_opens(golden: Path) -> None:
    folder = GraphFolder.open(golden / "folder")
    assert (folder.num_nodes, folder.num_features, folder.num_classes) == (60, 4, 3)
    assert int(folder.indptr[-1]) == 300  # 150 edges, both ways


def test_a_checkpoint_is_accepted(golden: Path) -> None:
    found = load_checkpoint(*checkpoint(golden))
    assert found is not None
    assert found.progress.epoch == len(found.progress.history) == 25
    assert found.progress.best.best_epoch == 21
    assert found.weights.keys() == found.progress.best.weights.keys()
    assert {name.partition(".")[2] for name in found.moments} == {"step", "exp_avg", "exp_avg_sq"}


@pytest.mark.slow
def test_an_interrupted_run_goes_on_to_the_same_end(golden: Path) -> None:
    settings = ("--set", "epochs=40", "--set", "patience=40", "--set", "hidden_channels=8", *THEN)
    command = (*TABLES, "--model", "gwn-sym", "--processes", "2", "--runs", "1", *settings, "--out", "interrupted")
    finished = subprocess.run([sys.executable, "-m", "gwn", "train", *command], capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    assert "going on after epoch 25" in finished.stderr
    gwn("predict", INTERRUPTED, "--out", "now.csv", "--no-calibrate")
    same_predictions(golden / "now.csv", "interrupted")


def test_a_study_and_its_settings_are_found_again(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The two trials are not made again, the winner is the same, and `gwn train` takes it."""
    shutil.copytree("tuned/settings", "settings")
    runs = contents(golden / "tuned/runs", "*/run-*")
    small = ("--set", "epochs=3", "--set", "hidden_channels=8")
    gwn(
        *("tune", "digits", "--model", "gwn", "--trials", "2", "--search-splits", "1", "--final-runs", "1", *small),
        *("--out", "tuned/settings", "--runs", "tuned/runs", "--storage", "sqlite:///tuned/study.db", "--quiet"),
    )
    assert contents(golden / "tuned/runs", "*/run-*") == runs
    with closing(sqlite3.connect("tuned/study.db")) as study:
        assert study.execute("SELECT count(*) FROM trials").fetchone() == (2,)
    was, now = read_toml(golden / "settings/gwn.toml"), read_toml(golden / "tuned/settings/gwn-plus.toml")
    for part in ("data", "settings", "training"):
        assert now["digits"]["stratified"][part] == was["digits"]["stratified"][part]
    capsys.readouterr()
    gwn("train", "digits", "--model", "gwn", "--runs", "1", "--quiet", "--json", "--out", "tuned/runs")
    result = json.loads(capsys.readouterr().out)
    assert result["settings_from"]["table"] == "digits.stratified"
    assert contents(golden / "tuned/runs", "*/run-*") == runs


@pytest.mark.parametrize("name", ["texas/geom/gwn-plus", "texas/geom/majority"])
def test_a_sealed_record_is_read(name: str) -> None:
    record = read_cell(HERE / "results", Cell.parse(name))
    assert record is not None
    assert record["cell"] == name
    assert len(record["runs"]) == 10


def test_a_figure_is_read() -> None:
    figure = read_figure(HERE / "results" / "figures" / "attention.json")
    assert figure.name == "attention"
    assert any(series.y for panel in figure.panels for series in panel.series)


def later(path: Path) -> None:
    """The JSON file as a later version would write it."""
    data = json.loads(path.read_text())
    data["format"] = "gwn-graph-2" if isinstance(data["format"], str) else data["format"] + 100
    path.write_text(json.dumps(data))


def checkpoint(golden: Path) -> tuple[Path, str]:
    path = golden / INTERRUPTED / "run-00.checkpoint"
    with safe_open(path, framework="pt") as file:
        return path, json.loads(file.metadata()["gwn"])["key"]


def test_a_newer_run_folder_is_refused(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    later(golden / "runs/nodes-gcn-0291acb5c289/config.json")
    with pytest.raises(SystemExit) as stop:
        main(("predict", "runs/nodes-gcn-0291acb5c289"))
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert len(said.strip().splitlines()) == 1
    assert "newer version of gwn" in said


def test_a_newer_checkpoint_is_refused(golden: Path) -> None:
    path, key = checkpoint(golden)
    with safe_open(path, framework="pt") as file:
        about = json.loads(file.metadata()["gwn"])
    save_file(load_file(path), path, metadata={"gwn": json.dumps({**about, "format": about["format"] + 1})})
    with pytest.raises(GWNError, match="newer version of gwn"):
        load_checkpoint(path, key)


def test_a_newer_graph_folder_is_refused(golden: Path) -> None:
    later(golden / "folder/meta.json")
    with pytest.raises(GWNError, match="newer version of gwn"):
        GraphFolder.open(golden / "folder")


def test_a_newer_record_is_refused(golden: Path) -> None:
    later(golden / "results/cells/texas/geom/majority.json")
    with pytest.raises(GWNError, match="newer version of gwn"):
        read_cell(golden / "results", Cell.parse("texas/geom/majority"))


def test_a_newer_figure_is_refused(golden: Path) -> None:
    later(golden / "results/figures/attention.json")
    with pytest.raises(GWNError, match="newer version of gwn"):
        read_figure(golden / "results/figures/attention.json")
