"""The one loop: what it selects, what it keeps, when it stops, and that the same seed gives the same result."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graphs import toy_graph
from gwn import Diverged, Graph, GWNError
from gwn.data import SPLITS, Split
from gwn.models import MODELS
from gwn.training import TrainConfig, fit, seed_everything
from gwn.training.loop import predict_logits


class Scripted(nn.Module):
    """Answers what the script says in evaluation mode, epoch by epoch; its one weight changes with every step."""

    def __init__(self, script: list[Tensor]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(()))
        self.calls: Tensor
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))
        self.script = script
        self.seen: list[float] = []

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        if self.training:
            return torch.stack([self.weight.expand(len(x)), torch.zeros(len(x))], dim=1)
        self.seen.append(self.weight.item())
        self.calls += 1
        return self.script[min(int(self.calls), len(self.script)) - 1]


NODES = 12
GRAPH = Graph(x=torch.ones(NODES, 1), edge_index=torch.zeros(2, 0, dtype=torch.long), y=torch.tensor([0, 1, 1] * 4))
SPLIT = Split(train=torch.arange(3), val=torch.arange(4, 8), test=torch.arange(8, 12), kind="mine", seed=0)


def answer(val_right: int, test_right: int, confidence: float = 1.0) -> Tensor:
    """Logits that are right on so many validation and test nodes."""
    right = F.one_hot(GRAPH.labels, 2).float()
    wrong = 1 - right
    logits = wrong.clone()
    logits[4 : 4 + val_right] = right[4 : 4 + val_right]
    logits[8 : 8 + test_right] = right[8 : 8 + test_right]
    return logits * confidence


def run(script: list[Tensor], **options: Any) -> tuple[Any, Scripted]:
    model = Scripted(script)
    config = TrainConfig(**{"epochs": len(script), "stopping": "none", "device": "cpu", **options})
    return fit(model, GRAPH, SPLIT, config), model


def test_the_epoch_is_chosen_on_validation_never_on_test() -> None:
    result, _ = run([answer(1, 4), answer(3, 1), answer(2, 4)])
    assert result.best_epoch == 2
    assert (result.val, result.test) == (0.75, 0.25)
    assert result.epochs == 3


def test_equal_scores_are_decided_by_the_loss_then_by_the_earlier_epoch() -> None:
    result, _ = run([answer(4, 1, 1.0), answer(4, 2, 3.0), answer(4, 3, 3.0), answer(4, 4, 2.0)])
    assert result.best_epoch == 2
    assert result.test == 0.5
    assert result.val_loss == pytest.approx(F.cross_entropy(answer(4, 2, 3.0)[4:8], GRAPH.labels[4:8]).item())


def test_the_epoch_may_be_the_one_with_the_lowest_loss() -> None:
    script = [answer(3, 1, 5.0), answer(2, 2, 0.1), answer(2, 3, 0.1), answer(1, 4, 1.0)]
    assert run(script)[0].best_epoch == 1
    result, _ = run(script, select="loss")
    assert (result.best_epoch, result.val, result.test) == (2, 0.5, 0.5)


def test_best_weights_are_a_copy_and_are_put_back() -> None:
    result, model = run([answer(1, 1), answer(4, 1), answer(2, 1), answer(0, 1)], lr=0.1, weight_decay=0.0)
    assert len(set(model.seen)) == 4, "the weight moves in every epoch"
    assert result.weights["weight"].item() == model.seen[1]
    assert result.weights["calls"].item() == 2, "buffers too"
    assert model.weight.item() == model.seen[1]
    with torch.no_grad():
        model.weight.add_(1.0)
    assert result.weights["weight"].item() == model.seen[1]


def test_patience_stops_and_starts_again() -> None:
    script = [answer(n, 0) for n in (2, 1, 3, 1, 1, 4, 4, 4, 4)]
    result, _ = run(script, stopping="patience", patience=2)
    assert (result.epochs, result.best_epoch) == (5, 3)
    result, _ = run(script, stopping="patience", patience=3)
    assert (result.epochs, result.best_epoch) == (9, 6)


def test_the_papers_stopping() -> None:
    script = [answer(2, 0, 1.0)] * 10 + [answer(1, 0, 5.0)] * 5
    result, _ = run(script, stopping="paper")
    assert (result.epochs, result.best_epoch) == (11, 1)


def test_progress_is_reported_after_every_epoch() -> None:
    seen: list[tuple[int, float]] = []
    fit(Scripted([answer(1, 0), answer(2, 0)]), GRAPH, SPLIT, TrainConfig(epochs=2), on_epoch=lambda *a: seen.append(a))
    assert seen == [(1, 0.25), (2, 0.5)]


def test_the_metric_is_the_one_asked_for() -> None:
    model = Scripted([answer(4, 4)])
    assert fit(model, GRAPH, SPLIT, TrainConfig(epochs=1), "roc-auc").test == 1.0
    with pytest.raises(GWNError, match="unknown metric 'acuracy'; did you mean 'accuracy'"):
        fit(model, GRAPH, SPLIT, TrainConfig(epochs=1), "acuracy")


def test_only_training_nodes_are_learned_from() -> None:
    graph = toy_graph()
    split = SPLITS["stratified"](graph.labels, 0)
    other = graph.labels.clone()
    other[split.test] = 1 - other[split.test]
    weights = []
    for y in (graph.labels, other):
        seed_everything(0)
        model = MODELS["gwn-sym"].build(graph.num_features, 2, hidden_channels=4)
        changed = Graph(x=graph.x, edge_index=graph.edge_index, y=y)
        weights.append(fit(model, changed, split, TrainConfig(epochs=5, device="cpu")).weights)
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


def narrow(name: str, width: int) -> nn.Module:
    """A model for the toy graph, of this width if it has a hidden layer."""
    spec = MODELS[name]
    options = {"hidden_channels": width} if "hidden_channels" in spec.settings() else {}
    return spec.build(toy_graph().num_features, 2, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(MODELS))
def test_the_same_seed_gives_the_same_result(name: str) -> None:
    graph = toy_graph()
    split = SPLITS["stratified"](graph.labels, 0)
    results = []
    for seed in (1, 1, 2):
        seed_everything(seed, deterministic=True)
        model = narrow(name, 8)
        try:
            results.append(fit(model, graph, split, TrainConfig(epochs=6, device="cpu")))
        finally:
            torch.use_deterministic_algorithms(False)
    first, again, other = results
    assert (first.val, first.test, first.val_loss, first.best_epoch) == (
        again.val,
        again.test,
        again.val_loss,
        again.best_epoch,
    )
    assert all(torch.equal(first.weights[key], again.weights[key]) for key in first.weights)
    differ = any(not torch.equal(first.weights[key], other.weights[key]) for key in first.weights)
    assert differ


@pytest.mark.slow
@pytest.mark.parametrize("name", list(MODELS))
def test_every_model_learns_the_toy_graph(name: str) -> None:
    graph = toy_graph(80)
    split = SPLITS["stratified"](graph.labels, 0)
    seed_everything(0)
    model = narrow(name, 16)
    result = fit(model, graph, split, TrainConfig(epochs=60, device="cpu"))
    assert result.val > 0.8 or "features" in MODELS[name].ignores
    logits = predict_logits(model, graph)
    assert float((logits.argmax(1) == graph.labels)[split.val].float().mean()) == pytest.approx(result.val)


# A run that overflows


def diverging(name: str, epochs: int = 30, lr: float = 0.01, largest: float = 1.0, **settings: Any) -> str:
    graph = toy_graph()
    graph = replace(graph, x=graph.x * largest)
    split = SPLITS["stratified"](graph.labels, 0)
    seed_everything(0)
    model = MODELS[name].build(graph.num_features, 2, hidden_channels=8, **settings)
    with pytest.raises(Diverged) as error:
        fit(model, graph, split, TrainConfig(epochs=epochs, lr=lr, device="cpu"))
    assert "\n" not in str(error.value)
    return str(error.value)


def test_an_overflowing_wave_names_growth_step_and_settings() -> None:
    message = diverging("gwn-sym", time=200.0, tau=1.0)
    assert "diverged in epoch 1" in message
    found = re.search(r"the wave grows ([\d.]+)-fold a step and overflows at step (\d+)", message)
    assert found is not None
    assert 2.5 < float(found[1]) < 2.65  # rho(1) = 2.618; the average starts lower
    assert 90 <= int(found[2]) <= 95  # mathematics, section 2: near 92 steps
    assert "use a smaller time or tau (now time=200, tau=1: 200 steps)" in message


@pytest.mark.parametrize(("name", "time"), [("gwn-sym", 60.0), ("gwn-sym", 85.0), ("gwn-fa", 200.0)])
def test_a_gradient_too_large_for_adam_is_no_quiet_standstill(name: str, time: float) -> None:
    """The loss is finite, but its squared gradient is not: Adam would divide by infinity and never move."""
    message = diverging(name, time=time, tau=1.0)
    assert "the wave grows" in message
    assert f"time={time:g}, tau=1" in message


def test_what_overflows_at_once_is_not_a_matter_of_the_learning_rate_alone() -> None:
    assert "use a smaller time or tau (now tau=5, 40 steps)" in diverging(
        "gwn-bank", laplacian="sym", tau=5.0, time=200.0
    )
    assert "scale the features, use fewer layers" in diverging("mlp", largest=1e30)


def test_other_models_name_the_learning_rate() -> None:
    assert "or a smaller lr" in diverging("mlp", lr=1e30)


def test_weights_that_are_no_longer_finite() -> None:
    graph = toy_graph()
    model = MODELS["gwn-sym"].build(graph.num_features, 2, hidden_channels=8)
    with torch.no_grad():
        model.head.layers[0].weight[0, 0] = float("inf")
    with pytest.raises(Diverged, match="weights are no longer finite; use a smaller lr"):
        fit(model, graph, SPLITS["stratified"](graph.labels, 0), TrainConfig(epochs=2, device="cpu"))


def test_a_graph_without_labels_says_so() -> None:
    graph = Graph(x=GRAPH.x, edge_index=GRAPH.edge_index)
    with pytest.raises(GWNError, match="no labels"):
        fit(Scripted([]), graph, SPLIT, TrainConfig(epochs=1))
