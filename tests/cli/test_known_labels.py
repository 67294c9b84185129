"""`gwn train --labels masked` and `--smooth correct`, and `gwn predict` behind them, from tables to tables."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from commands import Command


@pytest.mark.parametrize("option", [("--labels", "masked"), ("--smooth", "correct")])
def test_known_labels_from_training_to_predictions(
    option: tuple[str, str], tmp_path: Path, tables: tuple[Path, Path], command: Command
) -> None:
    edges, nodes = (str(path) for path in tables)
    small = ("--runs", "1", "--set", "epochs=20", "--quiet", "--json")
    trained = command("train", "--edges", edges, "--nodes", nodes, "--label-column", "topic", *option, *small)
    assert trained.returncode == 0, trained.stderr
    result = json.loads(trained.stdout)
    assert result["training"][option[0].strip("-")] == option[1]

    run = result["folder"]
    shown = command("predict", run, "--out", "same.csv")
    count = result["runs"][0]["split_sizes"][0]
    assert f"the labels of the {count} training nodes are shown" in shown.stderr
    same = pd.read_csv(tmp_path / "same.csv")
    assert len(same) == 60

    fewer = tmp_path / "fewer.csv"
    fewer.write_text("\n".join(Path(edges).read_text().splitlines()[:-20]) + "\n")
    other = command("predict", run, "--edges", str(fewer), "--nodes", nodes, "--out", "other.csv")
    assert other.returncode == 0, other.stderr
    assert "not the graph that the model was trained on" in other.stderr
    assert len(pd.read_csv(tmp_path / "other.csv")) == 60


def test_a_prior_from_training_to_predictions(tmp_path: Path, tables: tuple[Path, Path], command: Command) -> None:
    edges, nodes = (str(path) for path in tables)
    given = ("--edges", edges, "--nodes", nodes, "--label-column", "topic")
    trained = command("train", *given, "--prior", "em", "--select", "loss", "--runs", "1", "--set", "epochs=20")
    assert trained.returncode == 0, trained.stderr
    assert "shift corrected (prior em)" in trained.stdout
    (folder,) = (tmp_path / "runs").iterdir()
    result = json.loads((folder / "result.json").read_text())
    assert result["selection"].startswith("epoch with the lowest validation loss")
    assert len(result["runs"][0]["prior"]["target"]) == 3
    assert command("predict", str(folder), "--out", "same.csv").returncode == 0
    assert len(pd.read_csv(tmp_path / "same.csv")) == 60
    refused = command("train", *given, "--prior", "test", "--runs", "1")
    assert refused.returncode == 2
    assert "known: calibrated, em, none, validation" in refused.stderr
