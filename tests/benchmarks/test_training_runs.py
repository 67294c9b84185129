"""The benchmarks of accuracy: defaults that train, what counts as trained, and runs that are kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import defaults, featureless, labels
from benchmarks.harness import Settings
from benchmarks.training_runs import TABLES, graph_named

GOOD: dict[str, Any] = {
    "finished": True,
    "majority": 0.5,
    "nodes": 100,
    "guess": 1.0,
    "best": 0.7,
    "last": 0.6,
    "loss": 0.05,
}


@pytest.mark.parametrize("seed", [6, 24])
def test_attention_trains_from_seeds_that_once_failed(seed: int) -> None:
    """With T = 4, the former default, the last epoch stays far from what the others reach."""
    run = defaults.train_once(graph_named("digits"), "gwn-fa", {}, seed)
    assert defaults.trains(run, defaults.SHARES["closely"])


@pytest.mark.parametrize(
    "changed", [{"finished": False}, {"loss": 0.2}, {"best": 0.55}, {"last": 0.5}, {"majority": 0.65}]
)
def test_what_counts_as_trained(changed: dict[str, Any]) -> None:
    assert defaults.trains(GOOD, 0.1)
    assert not defaults.trains({**GOOD, **changed}, 0.1)


def test_seeds_are_counted_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def invented(data: Any, model: str, given: dict[str, Any], seed: int) -> dict[str, Any]:
        asked.append((model, seed))
        return {**GOOD, "finished": (model, seed) != ("gwn-fa", 3)}

    monkeypatch.setattr(defaults, "train_once", invented)
    settings = Settings(work=tmp_path, datasets=["csbm"], shrink=10)
    result = defaults.defaults(settings)
    assert [row["trained"] for row in result.rows] == [5, 4, 5]
    assert [row["model"] for row in result.rows] == list(defaults.MODELS)
    assert [verdict.passed for verdict in result.verdicts] == 2 * [True, False, True]
    assert len(asked) == 15
    assert defaults.defaults(settings).rows == result.rows
    assert len(asked) == 15  # an interrupted benchmark goes on


def test_labels_are_judged_pair_by_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short: dict[str, Any] = {"epochs": 2, "patience": 2}
    monkeypatch.setattr(labels, "CONFIG", replace(labels.CONFIG, **short))
    choices = {name: replace(config, **short) for name, config in labels.CHOICES.items()}
    monkeypatch.setattr(labels, "CHOICES", choices)
    result = labels.labels(Settings(work=tmp_path, datasets=["csbm"], shrink=2))
    assert [row["choice"] for row in result.rows] == list(choices)
    assert {row["pairs"] for row in result.rows} == {2}
    for row, verdict in zip(result.rows, result.verdicts, strict=True):
        assert (row["kept"] == "kept") == (row["validation_low"] > 0)
        assert verdict.passed == (row["kept"] != "kept" or row["test_gain"] >= 0)


def test_tables_are_what_they_say() -> None:
    found = {name: graph_named(name) for name in TABLES}
    assert found["wine"].graph.num_nodes == 178
    assert found["tumours"].graph.num_nodes == 569
    assert all(data.tables is not None for data in found.values())


def test_graphs_without_features_are_judged_against_logistic_regression(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(featureless, "MODELS", ("gwn-sym",))
    monkeypatch.setattr(featureless, "CONFIG", {**featureless.CONFIG, "epochs": 3})
    result = featureless.featureless(Settings(work=tmp_path, shrink=10))
    assert [row["graph"] for row in result.rows] == ["karate", "karate", "les-miserables", "les-miserables"]
    for reference, wave, verdict in zip(result.rows[::2], result.rows[1::2], result.verdicts, strict=True):
        assert 70 < reference["accuracy"] <= 100, "eigenvectors know the classes"
        assert verdict.value == pytest.approx(wave["accuracy"] - reference["accuracy"], abs=1e-3)
