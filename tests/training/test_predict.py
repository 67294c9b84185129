"""A trained model back from disk gives the answers it was selected for; anything else is refused by name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from graphs import normal, toy_dataset, toy_graph
from gwn import Graph, GWNError
from gwn.data import make_splits
from gwn.io import read_weights, write_json
from gwn.models import MODELS
from gwn.training import Experiment, TrainConfig, find_run_folder, load_trained, predict, refit, run_experiment
from gwn.training.config import effective_settings
from gwn.training.label_input import _numbers_of
from gwn.training.predict import answers, ensemble, finished_runs, predictor_of


def named_graph() -> Graph:
    graph = toy_graph()
    return replace(graph, class_names=("cat", "dog"), node_ids=tuple(f"n{i}" for i in range(graph.num_nodes)))


def train(
    root: Path, name: str = "gwn-fa", runs: int = 2, dtype: str = "float32", split: str | None = None, **settings: Any
) -> Path:
    dataset = toy_dataset(named_graph())
    narrow = {"hidden_channels": 8} if "hidden_channels" in MODELS[name].settings() else {}
    experiment = Experiment(
        dataset=dataset,
        model=MODELS[name],
        settings=effective_settings(MODELS[name], {**narrow, **settings}),
        config=TrainConfig(epochs=8, device="cpu", dtype=dtype),
        splits=make_splits(dataset, split, runs),
    )
    return run_experiment(experiment, root)[1]


@pytest.mark.parametrize("kind", ["stratified", "validate-20"])
def test_no_run_answers_for_a_node_it_trained_on(tmp_path: Path, kind: str) -> None:
    folder, data = train(tmp_path, "mlp", split=kind), toy_dataset(named_graph())
    _, mean, _ = ensemble(folder, lambda origin: data, same=True)
    both = [answers(load_trained(folder, number), data.graph) for number in (0, 1)]
    first, second = (split.train for split in make_splits(data, kind, 2))
    alone = first[~torch.isin(first, second)].numpy()
    assert alone.size
    assert np.array_equal(mean[alone], both[1][alone])


def test_a_refit_is_of_all_runs_that_are_there(tmp_path: Path) -> None:
    """Runs that were added may have the same best epoch and another temperature."""
    data = toy_dataset(named_graph())
    for runs in (1, 3):
        folder = train(tmp_path, "mlp", runs=runs)
        found = [run.temperature or 0.0 for run in finished_runs(folder)]
        assert len(found) == runs
        assert refit(folder, data).run.temperature == np.median(found)


def test_trees_are_grown_again_from_all_labels(tmp_path: Path) -> None:
    """They have no gradient to train with, and ended in a RuntimeError."""
    data, folder = toy_dataset(named_graph()), train(tmp_path, "boosted-hops")
    found = refit(folder, data)
    assert found.run.best_epoch
    assert np.array_equal(answers(refit(folder, data), data.graph), answers(found, data.graph))


@pytest.mark.parametrize("name", list(MODELS))
def test_predictions_have_the_score_that_was_recorded(tmp_path: Path, name: str) -> None:
    graph, folder = named_graph(), train(tmp_path, name)
    split = make_splits(toy_dataset(graph), None, 2)
    for number in (0, 1):
        trained = load_trained(folder, number)
        assert trained.run.run == number
        table = predict(trained, graph, device="cpu")
        assert list(table.columns) == ["node", "known", "predicted", "confidence", "p_cat", "p_dog"]
        assert list(table["known"]) == [graph.label_name(int(c)) for c in graph.labels]
        assert np.array_equal(table["confidence"], table[["p_cat", "p_dog"]].max(axis=1))
        assert list(table["node"]) == [f"n{i}" for i in range(40)]
        assert np.allclose(table[["p_cat", "p_dog"]].sum(axis=1), 1.0)
        assert list(table["predicted"] == "dog") == list(table["p_dog"] > table["p_cat"])
        right = np.array([graph.label_name(int(c)) for c in graph.labels]) == table["predicted"].to_numpy()
        assert right[split[number].val.numpy()].mean() == pytest.approx(trained.run.val)
        assert right[split[number].test.numpy()].mean() == pytest.approx(trained.run.test)


def test_the_best_run_on_validation_is_the_default(tmp_path: Path) -> None:
    folder = train(tmp_path, runs=4)
    runs = [json.loads(path.read_text()) for path in sorted(folder.glob("run-*.json"))]
    best = max(runs, key=lambda run: (run["val"], -run["val_loss"]))
    assert load_trained(folder).run.run == best["run"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_weights_are_exactly_those_that_were_saved(tmp_path: Path, dtype: str) -> None:
    folder = train(tmp_path, runs=1, dtype=dtype)
    trained = load_trained(folder)
    saved = read_weights(folder / "run-00.safetensors", trained.run.weights_sha256)
    for name, tensor in trained.network.state_dict().items():
        assert tensor.dtype == saved[name].dtype == getattr(torch, dtype)
        assert torch.equal(tensor, saved[name])


def test_a_new_graph_with_the_same_features(tmp_path: Path) -> None:
    trained = load_trained(train(tmp_path))
    new = Graph(x=normal(3, 8, dtype=torch.float32), edge_index=torch.tensor([[0], [1]]))
    table = predict(trained, new, device="cpu")
    assert list(table["node"]) == [0, 1, 2]
    assert set(table["predicted"]) <= {"cat", "dog"}


def test_another_number_of_features_is_refused(tmp_path: Path) -> None:
    trained = load_trained(train(tmp_path))
    new = Graph(x=normal(3, 9, dtype=torch.float32), edge_index=torch.tensor([[0], [1]]))
    with pytest.raises(GWNError, match="trained on 8 features, the graph has 9"):
        predict(trained, new)


def test_an_overflow_is_no_prediction(tmp_path: Path) -> None:
    trained = load_trained(train(tmp_path))
    new = Graph(x=torch.full((3, 8), 3e38), edge_index=torch.tensor([[0], [1]]))
    with pytest.raises(GWNError, match="overflows on this graph"):
        predict(trained, new, device="cpu")


def test_a_run_is_found_by_folder_or_name(tmp_path: Path) -> None:
    with pytest.raises(GWNError, match="train one first"):
        find_run_folder("nothing", tmp_path)
    folder = train(tmp_path)
    assert find_run_folder(str(folder), tmp_path / "elsewhere") == folder
    assert find_run_folder(folder.name, tmp_path) == folder
    with pytest.raises(GWNError, match=f"no run 'nothing'.*{folder.name}$"):
        find_run_folder("nothing", tmp_path)
    for name in "abcdef":
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
    with pytest.raises(GWNError, match=r"has a, b, c, d, e and 2 more$"):
        find_run_folder("nothing", tmp_path)


def edit(folder: Path, **changes: Any) -> None:
    config = json.loads((folder / "config.json").read_text())
    write_json(folder / "config.json", {k: v for k, v in {**config, **changes}.items() if v is not ...})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 99}, "newer version"),
        ({"format": ...}, "newer version"),
        ({"model": "gwn-sym"}, "gwn-sym|do not fit together"),
        ({"model": "transformer"}, "unknown model"),
        ({"model": ...}, "no 'model'"),
        ({"settings": {"hidden_channels": 5}}, "do not fit together"),
        ({"settings": {"hidden_channels": 65536}}, r"network has 1,\d+,\d+ numbers and the weights \d+\)"),
        ({"settings": {"hidden_chanels": 5}}, "unknown setting"),
        ({"dataset": {"name": "toy", "files": {}, "features": 9, "classes": 2}}, "do not fit together"),
        ({"dataset": {}}, "has no 'name'"),
        ({"training": {}}, "has no 'device'"),
    ],
    ids=str,
)
def test_an_edited_description_is_refused_in_one_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    folder = train(tmp_path, runs=1)
    edit(folder, **change)
    with pytest.raises(GWNError, match=message) as error:
        load_trained(folder)
    assert "\n" not in str(error.value)


def test_every_network_is_counted_without_memory_for_it() -> None:
    for name, spec in MODELS.items():
        there = sum(tensor.numel() for tensor in spec.build(7, 3).state_dict().values())
        assert _numbers_of(spec, 7, 3, {}) == there, name
    assert _numbers_of(MODELS["gwn-sym"], 10**7, 3, {"hidden_channels": 65536}) > 10**11


def test_damaged_files_are_refused_in_one_line(tmp_path: Path) -> None:
    folder = train(tmp_path, runs=1)
    weights, record = folder / "run-00.safetensors", folder / "run-00.json"
    content = weights.read_bytes()
    weights.write_bytes(content[:-8])
    with pytest.raises(GWNError, match="truncated or were changed"):
        load_trained(folder)
    weights.write_bytes(content)
    load_trained(folder)
    with pytest.raises(GWNError, match="no finished run number 3"):
        load_trained(folder, 3)
    record.write_text(record.read_text()[:40])
    with pytest.raises(GWNError, match="cannot be read as JSON"):
        load_trained(folder)
    record.unlink()
    with pytest.raises(GWNError, match="no finished run"):
        load_trained(folder)


def test_a_diverged_run_cannot_predict(tmp_path: Path) -> None:
    folder = train(tmp_path, "gwn-sym", runs=1, time=300.0)
    with pytest.raises(GWNError, match="no finished run"):
        load_trained(folder)


def test_a_comparison_stands_for_its_best_run(tmp_path: Path) -> None:
    folder = train(tmp_path, runs=1)
    record = tmp_path / "toy-compare-0" / "comparison.json"
    write_json(record, {"format": 1, "result": {"rows": [{"folder": folder.name}, {"folder": "other"}]}})
    assert find_run_folder("toy-compare-0", tmp_path) == folder
    assert predictor_of("toy-compare-0", tmp_path) == [(folder, 1.0)]
    members = [{"folder": "other", "weight": 0.25}, {"folder": folder.name, "weight": 0.75}]
    write_json(record, {"format": 1, "result": {"rows": [], "predictor": {"members": members}}})
    assert find_run_folder("toy-compare-0", tmp_path) == tmp_path / "other"
    assert predictor_of("toy-compare-0", tmp_path) == [(tmp_path / "other", 0.25), (folder, 0.75)]
    assert predictor_of(folder.name, tmp_path) == []
    write_json(record, {"format": 1, "result": None})
    with pytest.raises(GWNError, match="not finished; give the same `gwn compare` again"):
        find_run_folder(str(record.parent), tmp_path)
