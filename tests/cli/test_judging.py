"""Through the command: numbers as targets, scores of classes, rare classes, calibration, and which run predicts."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from commands import Command

SHORT = ("--runs", "2", "--set", "epochs=20", "--set", "hidden_channels=8", "--quiet")


@pytest.fixture
def people(tmp_path: Path) -> tuple[str, ...]:
    """48 people of two topics and a rare third that nothing tells apart from the first; some have no label."""
    rng = np.random.default_rng(0)
    nodes, edges = ["id,age,topic,income"], ["source,target"]
    for i in range(48):
        kind = i % 2
        topic = "rare" if i % 16 == 0 else ("art", "sport")[kind]
        income = 1000 * kind + 100 * rng.random()
        known = i % 6 != 5
        nodes.append(f"u{i},{20 + 30 * kind + rng.random():.2f},{topic if known else ''},{income if known else ''}")
        edges.extend(f"u{i},u{(i + 2 * int(step)) % 48}" for step in rng.integers(1, 9, 3))
    (tmp_path / "nodes.csv").write_text("\n".join(nodes) + "\n")
    (tmp_path / "edges.csv").write_text("\n".join(edges) + "\n")
    return "--edges", "edges.csv", "--nodes", "nodes.csv"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_numbers_from_a_table(command: Command, people: tuple[str, ...], tmp_path: Path) -> None:
    told = ("--label-column", "income", "--drop-column", "topic", "--task", "regression")
    done = command("train", *people, *told, *SHORT)
    assert done.returncode == 0, done.stderr
    assert "R²" in done.stdout
    assert "mean absolute error" in done.stdout
    (folder,) = (tmp_path / "runs").iterdir()
    result = json.loads((folder / "result.json").read_text())
    assert result["summary"]["test"]["mean"] > 0.5
    assert result["summary"]["details"]["mae"] < 400
    for how in ((), ("--ensemble",), ("--refit",)):
        done = command("predict", str(folder), *how)
        assert done.returncode == 0, done.stderr
        found = rows(tmp_path / "predictions.csv")
        assert list(found[0]) == ["node", "known", "predicted"]
        assert found[5]["known"] == ""
        errors = [abs(float(row["predicted"]) - 1000 * (int(row["node"][1:]) % 2)) for row in found]
        assert np.mean(errors) < 400
    assert command("train", *people, *told, *SHORT, "--class-weights", "balanced").returncode == 2


def test_numbers_from_one_file(command: Command, tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(40, 3))
    y = np.where(np.arange(40) % 5 == 0, np.nan, 10 * x[:, 0])
    np.savez(tmp_path / "graph.npz", x=x, edge_index=np.stack([np.arange(39), np.arange(1, 40)]), y=y)
    refused = command("train", "--graph", "graph.npz", *SHORT)
    assert refused.returncode == 2
    assert "--task regression" in refused.stderr
    done = command("train", "--graph", "graph.npz", "--task", "regression", "--model", "mlp", *SHORT)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    assert command("predict", str(folder)).returncode == 0
    assert rows(tmp_path / "predictions.csv")[0]["known"] == ""


def test_classes_are_judged_one_by_one(command: Command, people: tuple[str, ...], tmp_path: Path) -> None:
    told = (*people, "--label-column", "topic", "--drop-column", "income", *SHORT)
    done = command("train", *told)
    assert done.returncode == 0, done.stderr
    assert "precision" in done.stdout
    assert "never found on test in any run: 'rare'; try --class-weights balanced" in done.stderr
    assert "precision" not in command("train", *told, "--no-details").stdout
    (folder,) = (tmp_path / "runs").iterdir()
    record = json.loads((folder / "run-00.json").read_text())
    assert np.sum(record["details"]["test"]["confusion"]) == record["split_sizes"][2]
    assert record["temperature"] > 0
    answers = {}
    for how in ("--calibrate", "--no-calibrate", "--ensemble", "--refit"):
        done = command("predict", str(folder), how, "--out", f"{how[2:]}.csv", "--json")
        assert done.returncode == 0, done.stderr
        answers[how] = rows(tmp_path / f"{how[2:]}.csv")
        assert list(answers[how][0])[:4] == ["node", "known", "predicted", "confidence"]
        assert [row["known"] for row in answers[how][4:6]] == ["art", ""]
        right = [row["predicted"] == ("art", "sport")[int(row["node"][1:]) % 2] for row in answers[how]]
        assert np.mean(right) > 0.8
    sure, raw = ([row["confidence"] for row in answers[how]] for how in ("--calibrate", "--no-calibrate"))
    assert sure != raw
    assert answers["--calibrate"] == answers["--ensemble"]
    assert "(mean of 2 runs; --best takes the best one alone)" in command("predict", str(folder)).stdout
    best = command("predict", str(folder), "--best", "--out", "best.csv")
    assert "best on validation" in best.stdout
    assert rows(tmp_path / "best.csv") != answers["--ensemble"]
    assert "(run 1, as asked for)" in command("predict", str(folder), "--run-number", "1").stdout
    together = command("predict", str(folder), "--ensemble", "--refit")
    assert together.returncode == 2
    assert "do not go together" in together.stderr


def test_what_was_trained_on_all_labels_is_kept(command: Command, people: tuple[str, ...], tmp_path: Path) -> None:
    told = (*people, "--label-column", "topic", "--drop-column", "income", *SHORT)
    assert command("train", *told).returncode == 0
    (folder,) = (tmp_path / "runs").iterdir()
    assert command("predict", str(folder), "--refit", "--out", "first.csv").returncode == 0
    weights = folder / "refit.safetensors"
    kept, written = weights.read_bytes(), weights.stat().st_mtime_ns
    assert command("predict", str(folder), "--refit", "--out", "again.csv").returncode == 0
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "first.csv").read_bytes()
    assert weights.stat().st_mtime_ns == written, "nothing is trained twice"
    assert command("verify", str(folder)).returncode == 0
    nodes = tmp_path / people[people.index("--nodes") + 1]
    nodes.write_text(nodes.read_text().replace(",art", ",", 1))
    assert command("predict", str(folder), "--refit").returncode == 0
    assert weights.read_bytes() != kept, "other labels are another training"


def test_balanced_weights_are_another_experiment(command: Command, people: tuple[str, ...], tmp_path: Path) -> None:
    told = (*people, "--label-column", "topic", "--drop-column", "income", *SHORT)
    for weights in ("none", "balanced"):
        done = command("train", *told, "--class-weights", weights, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["training"].get("class_weights", "none") == weights
    assert len(list((tmp_path / "runs").iterdir())) == 2
    assert command("train", *told, "--class-weights", "heavy").returncode == 2


def test_a_score_that_is_worth_less_is_said_by_the_command(command: Command) -> None:
    """A blown-up network, a loss that never fell, and one class for everybody."""
    train = ("train", "csbm", "--runs", "1", "--no-tuned", "--quiet")
    blown = command(*train, "--model", "mlp", "--set", "lr=1000", "--set", "epochs=4").stderr
    assert "gwn: warning: all runs: the outputs blew up" in blown
    constant = command(*train, "--model", "majority").stderr
    assert "gwn: warning: all runs: the validation loss never fell" in constant
    assert "gwn: warning: all runs: one class is predicted for everybody ('1')" in constant
