"""Runs in several processes: the weights of one process, dropout that does not know the group, and going on."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from graphs import toy_graph
from gwn import GWNError
from gwn.data.folders.generate import BlockModel, generate_folder
from gwn.data.splits import Split, stratified, without_test
from gwn.distributed.process_group import ProcessGroup
from gwn.distributed.runs import Leader, Recipe, follow
from gwn.training import TrainConfig
from gwn.training.checkpoint import Checkpoints
from gwn.training.loop import Fit, fit
from process_groups import run_group
from seeds import reseed

Outcome = tuple[dict[str, Any], dict[str, Any]]

RUNS: dict[str, dict[str, Any]] = {
    "gwn-sym": {"model": "gwn-sym"},
    "gwn-fa": {"model": "gwn-fa"},
    "gwn-fa sparse": {"model": "gwn-fa", "sparse": True},
    "precomputed": {"model": "gwn-sym", "precompute": True, "dropout": 0.5},
    "batches": {"model": "gwn-sym", "precompute": True, "batch_size": 7, "sparse": True},
}
DROPPED: dict[str, dict[str, Any]] = {
    "gwn-sym": {"model": "gwn-sym", "dropout": 0.5},
    "gwn-fa deep": {"model": "gwn-fa", "dropout": 0.3, "encoder_layers": 2, "head_layers": 2, "activation": "relu"},
    "sparse": {"model": "gwn-sym", "dropout": 0.5, "sparse": True},
}


def task(
    *, model: str, sparse: bool = False, batch_size: int = 0, epochs: int = 5, **settings: Any
) -> tuple[Any, Any, Any, Any, Any, str]:
    """The arguments of `Leader.fit`; without the first, those of `fit`."""
    # In float64: the optimiser divides by the size of a gradient, so one that is nothing but rounding moves a weight.
    graph = toy_graph(50, 3).compact(2.0 if sparse else 0.0).to("cpu", torch.float64)
    reseed(1)
    usual = {"hidden_channels": 8, "dropout": 0.0, **({} if model == "gcn" else {"time": 2.0})}
    recipe = Recipe(model=model, settings={**usual, **settings}, features=8, classes=3)
    network = recipe.build().double()
    config = TrainConfig(epochs=epochs, batch_size=batch_size, device="cpu", dtype="float64", stopping="none")
    return recipe, network, graph, stratified(graph.labels, 0), config, "accuracy"


def outcome(fitted: Fit) -> Outcome:
    skipped = ("weights", "seconds", "curves", "outputs")
    facts = {name: value for name, value in vars(fitted).items() if name not in skipped}
    return {name: weight.numpy() for name, weight in fitted.weights.items()}, facts  # tensors would be shared memory


def lead(group: ProcessGroup, runs: dict[str, dict[str, Any]], **options: Any) -> dict[str, Outcome] | None:
    """All runs in one group, one after the other."""
    if not group.leads:
        follow(group)
        return None
    leader = Leader(group, **options)
    try:
        return {name: outcome(leader.fit(*task(**run))) for name, run in runs.items()}
    finally:
        leader.dismiss()


def assert_same(found: dict[str, Outcome], expected: dict[str, Outcome]) -> None:
    assert isinstance(found, dict), found
    for name, (weights, facts) in expected.items():
        other_weights, other_facts = found[name]
        assert other_facts == pytest.approx(facts, rel=1e-5), name
        for key, value in weights.items():
            assert other_weights[key] == pytest.approx(value, rel=1e-5, abs=1e-5), f"{name}: {key}"


@pytest.mark.parametrize("size", [2, 4])
def test_trained_weights_equal_one_process(size: int, tmp_path: Path) -> None:
    found, *others = run_group(size, tmp_path, lead, RUNS)
    assert_same(found, {name: outcome(fit(*task(**run)[1:])) for name, run in RUNS.items()})
    assert others == [None] * (size - 1)


@pytest.mark.slow
def test_dropout_does_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    alone, two, four = (run_group(size, tmp_path, lead, DROPPED)[0] for size in (1, 2, 4))
    assert_same(two, alone)
    assert_same(four, alone)


class Interrupted(Exception):
    pass


def interrupt(group: ProcessGroup, run: dict[str, Any], path: Path, at: int) -> None:
    """Train with a checkpoint after every epoch, and fail in the middle."""
    if not group.leads:
        follow(group)
        return

    def on_epoch(epoch: int, score: float) -> None:
        if epoch == at:
            raise Interrupted

    leader = Leader(group)
    try:
        leader.fit(*task(**run), on_epoch, Checkpoints(path, "a run", seconds=0.0))
    finally:
        leader.dismiss()


def resume(group: ProcessGroup, run: dict[str, Any], path: Path) -> dict[str, Outcome] | None:
    if not group.leads:
        follow(group)
        return None
    seen: list[int] = []
    leader = Leader(group)
    try:
        fitted = leader.fit(*task(**run), lambda epoch, score: seen.append(epoch), Checkpoints(path, "a run"))
    finally:
        leader.dismiss()
    weights, facts = outcome(fitted)
    return {"run": (weights, facts), "seen": ({}, {"epochs": seen})}


@pytest.mark.slow
def test_goes_on_with_another_number_of_processes(tmp_path: Path) -> None:
    run, path = {"model": "gwn-fa", "dropout": 0.5}, tmp_path / "folder" / "run-00.checkpoint"
    first, second = run_group(2, tmp_path, interrupt, run, path, 4)
    assert first.startswith("Interrupted")
    assert second.startswith("ProcessLost: another of the processes ended")
    assert path.is_file()
    found = run_group(3, tmp_path, resume, run, path)[0]
    assert isinstance(found, dict), found
    assert found.pop("seen")[1]["epochs"] == [4, 5]  # the third epoch's checkpoint was the last
    assert_same(found, {"run": run_group(2, tmp_path, lead, {"run": run})[0]["run"]})


def refused(group: ProcessGroup) -> list[str] | None:
    if not group.leads:
        follow(group)
        return None
    leader, said = Leader(group), []
    impossible: tuple[dict[str, Any], ...] = (
        {"model": "gcn"},
        {"model": "gwn", "laplacian": "physical", "scheme": "newmark"},
        {"model": "gwn-fa", "reference": True, "dropout": 0.5},
        {"model": "gwn", "norm": "batch"},
        {"model": "gwn-sym", "batch_size": 5},
    )
    for run in impossible:
        with pytest.raises(GWNError) as error:
            leader.fit(*task(**run))
        said.append(str(error.value))
    good: dict[str, Any] = {"model": "gwn-sym", "epochs": 1}
    leader.fit(*task(**good))  # and the group still works
    leader.dismiss()
    return said


def test_what_cannot_be_shared_is_refused(tmp_path: Path) -> None:
    said, other = run_group(2, tmp_path, refused)
    assert isinstance(said, list), said
    for text, word in zip(
        said,
        ("use model gwn-sym, gwn-fa or gwn-plus", "'newmark'", "dropout on alpha", "'batch'", "precompute"),
        strict=True,
    ):
        assert word in text
    assert other is None


def alone() -> Leader:
    return Leader(ProcessGroup(rank=0, size=1, device=torch.device("cpu")))


@pytest.mark.parametrize("metric", ["accuracy", "roc-auc"])
def test_without_test_nodes_there_is_no_test_score(metric: str) -> None:
    recipe, network, graph, _, config, _ = task(model="gwn-sym")
    graph, recipe = replace(graph, y=graph.labels.clamp(max=1)), replace(recipe, classes=2)
    network = recipe.build().double()
    fitted = alone().fit(recipe, network, graph, without_test(graph.labels, 0, 30), config, metric)
    assert math.isnan(fitted.test)
    assert 0 <= fitted.val <= 1


def test_rows_that_were_dealt_are_not_those_of_other_labels() -> None:
    recipe, _, graph, split, config, metric = task(model="gwn-sym")
    other, leader = replace(graph, y=2 - graph.labels), alone()
    losses = []
    for whose, seen in ((leader, graph), (leader, other), (alone(), other)):
        reseed(1)
        losses.append(whose.fit(recipe, recipe.build().double(), seen, split, config, metric).val_loss)
    assert losses[1] == losses[2] != losses[0]


def test_rows_of_a_folder_are_dealt_anew_for_another_type(tmp_path: Path) -> None:
    folder = generate_folder(BlockModel(nodes=60, edges=100, features=8, classes=3), tmp_path / "graph")
    recipe, _, _, _, config, metric = task(model="gwn-sym")
    split, leader = folder.time_split(), alone()
    assert split is not None
    for dtype in ("float64", "float32"):
        own = replace(config, dtype=dtype)
        fitted = leader.fit(recipe, recipe.build().to(own.torch_dtype), folder, split, own, metric)
        assert fitted.outputs is not None
        assert fitted.outputs.val.dtype == own.torch_dtype


def test_label_shift_is_found_as_in_one_process() -> None:
    recipe, network, graph, _, config, metric = task(model="gwn-sym")
    by_class = [(graph.labels == c).nonzero().flatten() for c in range(3)]
    split = Split(
        train=torch.cat([by_class[0][2:], by_class[1][:1], by_class[2][:1]]),
        val=torch.cat([by_class[0][:1], by_class[1][1:5], by_class[2][1:5]]),
        test=torch.cat([by_class[0][1:2], by_class[1][5:], by_class[2][5:]]),
        kind="published",
        seed=0,
    )
    usual = fit(recipe.build().double(), graph, split, config, metric).outputs
    shared = alone().fit(recipe, network, graph, split, config, metric)
    assert usual is not None
    assert shared.outputs is not None
    assert usual.shift is not None
    assert shared.outputs.shift is not None
    assert shared.outputs.shift["moved"] == usual.shift["moved"]
