"""`boosted-hops` through the commands: trees in an ordinary run folder, and one line for what trees cannot do."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from commands import Command

WINE = Path(__file__).parents[2] / "examples" / "data"


def test_from_a_table_to_predictions(command: Command, tmp_path: Path) -> None:
    tables = ("--nodes", str(WINE / "wine-nodes.csv"), "--edges", str(WINE / "wine-edges.csv"))
    train = ("train", *tables, "--label-column", "cultivar", "--model", "boosted-hops", "--set", "iterations=20")
    done = command(*train, "--runs", "1", "--out", str(tmp_path / "runs"))
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    run = json.loads((folder / "run-00.json").read_text())
    assert run["test"] > 0.85
    done = command("predict", str(folder), "--out", str(tmp_path / "said.csv"))
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "said.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == 178
    assert command("report", str(folder), "--out", str(tmp_path / "page.html")).returncode == 0
    for refused in (
        ("explain", str(folder), "--node", "wine-000"),
        ("export", str(folder), "--out", str(tmp_path / "it.pt2")),
        (*train, "--labels", "masked"),
    ):
        said = command(*refused)
        assert said.returncode == 2
        assert "boosted-hops" in said.stderr
