"""Many runs of one configuration: each kept as soon as it is finished, none computed twice, none mistaken."""

from __future__ import annotations

import errno
import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from graphs import toy_dataset, toy_graph
from gwn import Graph, GWNError
from gwn.data import Split, make_splits
from gwn.io import read_json
from gwn.models import MODELS
from gwn.training import Experiment, RunResult, TrainConfig, refit, run_experiment
from gwn.training.checkpoint import Curves, Fit
from gwn.training.experiment import CURVE_POINTS, compact

CONFIG = TrainConfig(epochs=4, device="cpu")


def experiment(runs: int = 2, **changes: Any) -> Experiment:
    dataset = toy_dataset()
    given = {
        "dataset": dataset,
        "model": MODELS["gwn-fa"],
        "settings": {"hidden_channels": 4, "time": 2.0},
        "config": CONFIG,
        "splits": make_splits(dataset, None, runs),
        "seed": 0,
    }
    return Experiment(**{**given, **changes})


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the runs that were really computed."""
    numbers: list[int] = []
    original = Experiment.compute

    def counting(experiment: Experiment, number: int, *rest: Any) -> RunResult:
        numbers.append(number)
        return original(experiment, number, *rest)

    monkeypatch.setattr(Experiment, "compute", counting)
    return numbers


def scores(result: dict[str, Any]) -> list[Any]:
    return [(run["val"], run["test"], run["val_loss"], run["weights_sha256"]) for run in result["runs"]]


def test_everything_asked_for_is_written(tmp_path: Path) -> None:
    result, folder = run_experiment(experiment(), tmp_path)
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "MODEL_CARD.md",
        "config.json",
        "result.json",
        *(f"run-{n:02d}.{end}" for n in (0, 1) for end in ("json", "safetensors")),
        *(f"history-{n:02d}.json" for n in (0, 1)),
    }
    assert read_json(folder / "result.json") == json.loads(json.dumps(result))
    assert result["summary"]["finished"] == 2
    assert result["summary"]["test"]["mean"] == pytest.approx(sum(run["test"] for run in result["runs"]) / 2)
    for number, run in enumerate(result["runs"]):
        assert run["seed"] == number
        assert run["status"] == "ok"
        assert run["parameters"] == 2 * (8 * 4 + 4) + 2 * 8 + 1 + 4 * 2 + 2  # phi0, phi1, g, eps, head
        assert run["split_sizes"] == [24, 8, 8] or run["split_sizes"] == (24, 8, 8)
        assert run["seconds"] > 0
        assert run["peak_memory_mib"] is None or run["peak_memory_mib"] > 0
        assert 1 <= run["best_epoch"] <= run["epochs"] <= 4
        curves = read_json(folder / f"history-{number:02d}.json")
        assert curves["epoch"] == list(range(1, run["epochs"] + 1))
        assert curves["val"][run["best_epoch"] - 1] == run["val"] == max(curves["val"])
        assert curves["val_loss"][run["best_epoch"] - 1] == run["val_loss"]
        assert all(loss > 0 for loss in curves["train_loss"])
    assert result["dataset"]["hash"] == toy_graph().content_hash()
    assert result["runs"][0]["split_hash"] != result["runs"][1]["split_hash"]


def test_the_same_experiment_gives_the_same_scores(tmp_path: Path) -> None:
    first, _ = run_experiment(experiment(), tmp_path / "a")
    again, _ = run_experiment(experiment(), tmp_path / "b")
    assert scores(first) == scores(again)
    other, _ = run_experiment(experiment(seed=7), tmp_path / "a")
    assert scores(other) != scores(first)


def test_finished_runs_are_not_computed_again(tmp_path: Path, computed: list[int]) -> None:
    first, folder = run_experiment(experiment(1), tmp_path)
    more, same = run_experiment(experiment(3), tmp_path)
    assert same == folder
    assert computed == [0, 1, 2]
    assert scores(more)[0] == scores(first)[0]
    seen: list[int] = []
    run_experiment(experiment(2), tmp_path, on_run=lambda run: seen.append(run.run))
    assert computed == [0, 1, 2]
    assert seen == [0, 1]
    run_experiment(experiment(2), tmp_path, force=True)
    assert computed == [0, 1, 2, 0, 1]


def test_an_interrupted_experiment_goes_on_where_it_stopped(tmp_path: Path, computed: list[int]) -> None:
    def stop(run: int, epoch: int, score: float) -> None:
        if (run, epoch) == (1, 2):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiment(experiment(3), tmp_path, on_progress=stop)
    assert computed == [0, 1]
    folder = experiment().folder(tmp_path)
    assert (folder / "run-00.json").exists()
    assert not (folder / "run-01.json").exists()
    assert not (folder / "result.json").exists()
    assert not torch.are_deterministic_algorithms_enabled()
    resumed, _ = run_experiment(experiment(3), tmp_path)
    assert computed == [0, 1, 1, 2]
    assert scores(resumed) == scores(run_experiment(experiment(3), tmp_path / "elsewhere")[0])


@pytest.mark.parametrize("damage", ["record cut", "record edited", "weights cut", "weights gone"])
def test_a_damaged_run_does_not_count(tmp_path: Path, computed: list[int], damage: str) -> None:
    first, folder = run_experiment(experiment(2), tmp_path)
    record, weights = folder / "run-01.json", folder / "run-01.safetensors"
    if damage == "record cut":
        record.write_bytes(record.read_bytes()[:-20])
    elif damage == "record edited":
        record.write_text(json.dumps({"run": 1, "test": 1.0}))
    elif damage == "weights cut":
        weights.write_bytes(weights.read_bytes()[:-1])
    else:
        weights.unlink()
    again, _ = run_experiment(experiment(2), tmp_path)
    assert computed == [0, 1, 1]
    assert scores(again) == scores(first)


def test_a_run_on_other_nodes_does_not_count(tmp_path: Path, computed: list[int]) -> None:
    """Two splits of one's own with the same name and seed are still two splits."""
    nodes = torch.arange(40)
    one = Split(train=nodes[:20], val=nodes[20:30], test=nodes[30:], kind="mine", seed=0)
    other = Split(train=nodes[20:], val=nodes[:10], test=nodes[10:20], kind="mine", seed=0)
    run_experiment(experiment(splits=[one]), tmp_path)
    result, _ = run_experiment(experiment(splits=[other]), tmp_path)
    assert result["runs"][0]["split_hash"] == other.content_hash()
    assert computed == [0, 0]


def test_the_folder_depends_on_everything_that_decides_the_outcome(tmp_path: Path) -> None:
    base = experiment()
    graph = toy_graph(seed=1)
    different = [
        experiment(settings={"hidden_channels": 4, "time": 3.0}),
        experiment(settings={"hidden_channels": 5, "time": 2.0}),
        experiment(model=MODELS["gwn-sym"]),
        experiment(config=TrainConfig(epochs=5, device="cpu")),
        experiment(config=TrainConfig(epochs=4, device="cpu", lr=0.02)),
        experiment(config=TrainConfig(epochs=4, device="cpu", dtype="float64")),
        experiment(seed=1),
        experiment(splits=make_splits(toy_dataset(), "uniform", 2)),
        experiment(dataset=toy_dataset(graph), splits=make_splits(toy_dataset(graph), None, 2)),
        experiment(dataset=toy_dataset(metric="roc-auc")),
    ]
    folders = [one.folder(tmp_path) for one in (base, *different)]
    assert len(set(folders)) == len(folders)
    assert experiment(5).folder(tmp_path) == folders[0], "the number of runs does not matter"
    assert experiment(origin={"name": "toy"}).folder(tmp_path) == folders[0]


def test_a_diverged_run_is_recorded_with_its_reason_and_without_a_score(tmp_path: Path, computed: list[int]) -> None:
    wild = experiment(1, model=MODELS["gwn-sym"], settings={"hidden_channels": 4, "time": 300.0, "tau": 1.0})
    result, folder = run_experiment(wild, tmp_path)
    (run,) = result["runs"]
    assert run["status"] == "diverged"
    assert "the wave grows" in run["reason"]
    assert run["test"] is None
    assert result["summary"]["test"] is None
    assert result["summary"]["diverged"] == 1
    assert not (folder / "run-00.safetensors").exists()
    assert "NaN" not in (folder / "result.json").read_text()
    run_experiment(wild, tmp_path)
    assert computed == [0], "it would only diverge again"


def test_a_full_disk_leaves_what_was_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, folder = run_experiment(experiment(1), tmp_path)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(GWNError, match="the disk is full"):
            run_experiment(experiment(2), tmp_path)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_deterministic_mode_is_on_during_the_run_and_off_after_it(tmp_path: Path) -> None:
    seen: list[bool] = []
    run_experiment(
        experiment(1, config=replace(CONFIG, deterministic=True)),
        tmp_path,
        on_progress=lambda *a: seen.append(torch.are_deterministic_algorithms_enabled()),
    )
    assert seen == [True] * 4
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.parametrize(("enabled", "warn_only"), [(True, False), (True, True), (False, False)])
def test_the_callers_own_deterministic_mode_is_put_back(tmp_path: Path, enabled: bool, warn_only: bool) -> None:
    torch.use_deterministic_algorithms(enabled, warn_only=warn_only)
    try:
        for deterministic in (False, True):
            config = TrainConfig(epochs=2, device="cpu", deterministic=deterministic)
            _, folder = run_experiment(experiment(runs=1, config=config), tmp_path)
            refit(folder, toy_dataset())
            after = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
            assert after == (enabled, warn_only)
    finally:
        torch.use_deterministic_algorithms(False)


def test_sparse_features_and_float64(tmp_path: Path) -> None:
    graph = toy_graph()
    sparse = Graph(x=graph.x.clamp_min(0).to_sparse_csr(), edge_index=graph.edge_index, y=graph.y)
    for dtype in ("float32", "float64"):
        result, _ = run_experiment(
            experiment(1, dataset=toy_dataset(sparse), config=replace(CONFIG, dtype=dtype)), tmp_path
        )
        assert result["runs"][0]["status"] == "ok"


def test_long_curves_are_kept_at_some_epochs() -> None:
    values = [float(epoch) for epoch in range(1, 1001)]
    fitted = Fit(
        val=7.0,
        test=0.0,
        val_loss=7.0,
        best_epoch=7,
        epochs=1000,
        seconds=0.0,
        weights={},
        curves=Curves(train_loss=[math.nan, *values[1:]], val_loss=values, val=values),
    )
    kept = compact(fitted)
    assert len(kept["epoch"]) <= CURVE_POINTS
    assert {1, 7, 1000} <= set(kept["epoch"])
    assert (kept["val"], kept["train_loss"][0]) == ([float(epoch) for epoch in kept["epoch"]], None)
