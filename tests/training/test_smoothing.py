"""Correct and smooth: its limits in closed form, and a score that choosing on validation does not flatter."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from dense import adjacency, normalise
from graphs import awkward, normal, toy_dataset, toy_graph
from gwn import GWNError
from gwn.data import make_splits
from gwn.data.splits import stratified
from gwn.models import model_spec
from gwn.training import Experiment, TrainConfig, build_network, fit, run_experiment
from gwn.training.metrics import cross_fitted
from gwn.training.result import paired_gain
from gwn.training.smoothing import OFF, Strength, choose_strength, correct_and_smooth
from seeds import reseed

NODES, CLASSES = torch.tensor([0, 3, 7]), torch.tensor([2, 0, 1])


def test_errors_and_labels_spread_as_the_closed_form_says() -> None:
    """The sum over k is `(1 - a) (I - a S)^-1`; 30 terms leave out less than a half to the power of 30."""
    logits, s, a = normal(8, 3), torch.from_numpy(normalise(adjacency(awkward(), 8))), 0.5
    spread = (1 - a) * torch.linalg.inv(torch.eye(8, dtype=torch.float64) - a * s)
    answered, label = logits.softmax(1), F.one_hot(CLASSES, 3).double()
    error = torch.zeros(8, 3, dtype=torch.float64)
    error[NODES] = label - answered[NODES]
    moved = F.normalize(spread @ error, p=1.0, dim=1)
    corrected = answered + error[NODES].abs().sum(1).mean() * moved
    corrected[NODES] = label
    expected = (spread @ corrected).clamp_min(1e-6)
    expected = expected / expected.sum(1, keepdim=True)
    expected[NODES] = answered[NODES]
    found = correct_and_smooth(logits, awkward(), None, NODES, CLASSES, Strength(a, a)).exp()
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-8)


def test_without_strength_the_answers_stay() -> None:
    logits = normal(8, 3)
    found = correct_and_smooth(logits, awkward(), None, NODES, CLASSES, OFF)
    torch.testing.assert_close(found.exp(), logits.softmax(1), rtol=1e-5, atol=1e-5)


def test_choosing_among_noise_does_not_look_like_a_gain() -> None:
    reseed(0)
    y = torch.randint(2, (60,))
    scores = [choose_strength(lambda strength: torch.randn(60, 2), y, "accuracy")[1] for _ in range(30)]
    assert abs(sum(scores) / len(scores) - 0.5) < 0.05


def test_the_strength_that_is_right_is_chosen() -> None:
    y = torch.tensor([0, 1] * 10)
    right = Strength(0.9, 0.5)
    answers = lambda strength: F.one_hot(y if strength == right else 1 - y, 2).double()  # noqa: E731
    assert choose_strength(answers, y, "accuracy") == (right, 1.0)


def test_a_gain_is_kept_only_above_its_interval() -> None:
    assert paired_gain([0.81, 0.82, 0.83], [0.80, 0.81, 0.82]).kept
    assert not paired_gain([0.9, 0.7, 0.83], [0.80, 0.81, 0.82]).kept
    assert not paired_gain([0.80, 0.81], [0.80, 0.81]).kept
    assert not paired_gain([0.9], [0.8]).kept  # one pair has no interval
    gain = paired_gain([0.3, 0.5], [0.2, 0.2])
    assert gain.mean == pytest.approx(0.2)
    assert gain.low is not None
    assert gain.low < 0 < gain.mean


def test_one_validation_node_is_not_halved(tmp_path: Path) -> None:
    """Then nothing is smoothed: a half without nodes has no score, and the run could not be written."""
    with pytest.raises(GWNError, match="one validation node cannot be halved; label more nodes"):
        cross_fitted(torch.zeros(2, 1, 2), torch.tensor([1]))
    graph = toy_graph()
    few = torch.full_like(graph.labels, -1)
    few[:5] = graph.labels[:5]
    dataset = toy_dataset(replace(graph, y=few))
    splits = make_splits(dataset, "stratified", 1)
    assert splits[0].val.numel() == 1
    experiment = Experiment(
        dataset=dataset,
        model=model_spec("gcn"),
        settings={"hidden_channels": 8},
        config=TrainConfig(epochs=3, smooth="correct"),
        splits=splits,
    )
    result, _ = run_experiment(experiment, tmp_path)
    assert [run["status"] for run in result["runs"]] == ["ok"]


def test_smoothing_is_no_epoch() -> None:
    """Who listens to every epoch does not hear what validation chose to make of the best one."""
    reseed(0)
    graph, heard = toy_graph(), list[Tensor]()
    split, config = stratified(graph.labels, 0), TrainConfig(epochs=4, smooth="correct", stopping="none")
    model = build_network(model_spec("gcn"), {"hidden_channels": 8}, config, graph, split)
    assert fit(model, graph, split, config, on_validation=heard.append).epochs == len(heard)
