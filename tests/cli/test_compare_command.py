"""`gwn compare` and `gwn tune` on anyone's tables, through the command."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from commands import Command
from gwn.cli.compare import _together
from gwn.training.metrics import METRICS

SMALL = ("--set", "hidden_channels=4", "--set", "epochs=12")
QUICK = ("--models", "majority,mlp", "--trials", "3", "--runs", "2", "--time", "10m", "--jobs", "1", *SMALL)


def own(tables: tuple[Path, Path]) -> tuple[str, ...]:
    return ("--edges", str(tables[0]), "--nodes", str(tables[1]), "--label-column", "topic", "--drop-column", "city")


def test_killed_comparison_goes_on_to_a_winner_that_predicts(
    tables: tuple[Path, Path], command: Command, tmp_path: Path
) -> None:
    arguments = ("compare", *own(tables), *QUICK)
    process = subprocess.Popen([sys.executable, "-m", "gwn", *arguments], cwd=tmp_path, stderr=subprocess.DEVNULL)
    while not (records := list(tmp_path.glob("runs/*/comparison.json"))):
        assert process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    early = command("predict", records[0].parent.name)
    assert early.returncode == 2
    assert "is not finished; give the same `gwn compare` again to go on" in early.stderr
    began = json.loads(records[0].read_text())["trials"]
    said = command(*arguments, "--json")
    found = json.loads(said.stdout)
    assert said.stderr.startswith("nodes.csv: the id is column 'id'")
    assert "60 nodes, " in said.stderr
    assert "labelled nodes in 3 classes" in said.stderr
    assert "searching" in said.stderr
    trials = {row["model"]: row["trials"] for row in found["rows"] if row["model"] != "blend"}
    assert trials == {"majority": 1, "mlp": 3}
    after = json.loads(records[0].read_text())["trials"]
    for model, trials in began.items():
        for old, new in zip(trials, after[model], strict=False):
            assert new["scores"][: len(old["scores"])] == old["scores"], "what was finished is kept"

    again = command(*arguments)
    assert "searching" not in again.stderr, "a finished comparison is printed at once"
    assert found["verdict"] in again.stdout
    line = next(line for line in again.stdout.splitlines() if line.startswith("Predict with: gwn "))
    assert command(*line.removeprefix("Predict with: gwn ").split()).returncode == 0
    with (tmp_path / "predictions.csv").open() as file:
        assert len(list(csv.reader(file))) == 61


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("csbm", "--time", "soon"), "--time takes a duration"),
        (("csbm", "--models", "gcn,gwn-simm"), "did you mean 'gwn-sym'"),
        (("csbm", "--models", ","), "no model to compare"),
        (("csbm", "--jobs", "0"), "--jobs must be"),
        (("csbm", "--set", "tuu=1", "--models", "gwn-sym"), "did you mean 'tau'"),
        ((), "nothing was given"),
    ],
)
def test_mistakes_are_one_line(command: Command, arguments: tuple[str, ...], said: str) -> None:
    done = command("compare", *arguments, "--quiet")
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_was_tuned_on_tables_is_found_by_training_on_them(tables: tuple[Path, Path], command: Command) -> None:
    search = ("--trials", "2", "--search-splits", "1", "--final-runs", "2", *SMALL)
    done = command("tune", *own(tables), "--model", "mlp", "--quiet", *search)
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith("Use with: gwn "))
    trained = command(*line.removeprefix("Use with: gwn ").split(), "--runs", "2", "--json")
    assert "using tuned settings from settings/mlp.toml [nodes.stratified]" in trained.stderr
    result = json.loads(trained.stdout)
    assert f"Saved in settings/mlp.toml [{result['dataset']['name']}.stratified]" in done.stdout
    assert result["training"]["epochs"] == 12
    other = command("train", *own(tables)[:-2], "--model", "mlp", "--runs", "1", *SMALL, "--json")
    assert "tuned settings" not in other.stderr, "other columns are other data"


@pytest.mark.parametrize(
    ("more", "weights", "nodes"),
    [
        ({"aside": True, "weighed_apart": True}, (0.5, 0.5), "60 nodes that were set aside from the beginning"),
        ({"weighed_apart": True}, (0.5, 0.5), "its label (settings and models were chosen on validation nodes of all"),
        ({}, (1.0,), "its label (settings and models were chosen on validation nodes of all"),
        ({}, (0.5, 0.5), "its label (settings, models and weights were chosen on validation nodes of all"),
    ],
    ids=["aside", "weighed apart", "one model of before", "blend of before"],
)
def test_what_chose_is_said_with_the_score(more: dict[str, Any], weights: tuple[float, ...], nodes: str) -> None:
    """Records of before chose one blend's weights on all validation nodes, those that others test among them."""
    together = {"mean": 0.8, "low": 0.7, "high": 0.9, "tested": 60, "aside": False, **more}
    members = [{"model": "mlp", "folder": "mlp", "weight": weight} for weight in weights]
    said = _together({"title": "It", "members": members, "together": together}, METRICS["accuracy"])
    assert nodes in said
    assert said.endswith(": 80.0 (95 % interval 70.0 to 90.0).")
