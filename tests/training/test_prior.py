"""Label shift: what Bayes' rule gives in closed form, what is estimated, and what a run keeps of it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gwn import Diverged, Graph, GWNError
from gwn.data import Dataset, Split
from gwn.distributed.runs import check_divisible
from gwn.models import MODELS, model_spec
from gwn.training import Experiment, TrainConfig, fit, load_trained, predict, refit, run_experiment, seed_everything
from gwn.training.config import effective_settings
from gwn.training.metrics import METRICS
from gwn.training.outputs import warnings_of
from gwn.training.prior import (
    FAITH,
    MOST_STEPS,
    PLAIN_STEPS,
    PSEUDO,
    Prior,
    PriorCorrection,
    calibration,
    cost_of_shift,
    counted_shares,
    estimated_shares,
    log_ratio,
    train_shares,
)

NAMES = ("a", "b", "c")


def shifted_graph(nodes: int = 240) -> tuple[Graph, Split]:
    """Two classes with overlapping features and no edges: balanced in training, nine to one elsewhere.

    The feature takes the values 0, 1, 2 with the chances 6:3:1 in class "0" and 1:3:6 in class "1", exactly.
    """
    train = [(c, v) for c, chances in enumerate(((6, 3, 1), (1, 3, 6))) for v in range(3) for _ in range(chances[v])]
    rest = [(c, v) for c, v in train for _ in range(9 if c == 0 else 1)]
    both = train + rest * max(1, (nodes - len(train)) // len(rest))
    y, value = (torch.tensor(column) for column in zip(*both, strict=True))
    graph = Graph(x=torch.eye(3)[value], edge_index=torch.zeros(2, 0, dtype=torch.long), y=y)
    others = torch.arange(len(train), len(both))
    return graph, Split(
        train=torch.arange(len(train)), val=others[::2].clone(), test=others[1::2].clone(), kind="mine", seed=0
    )


GRAPH, SPLIT = shifted_graph()
POSTERIOR = torch.tensor([[6.0, 1.0], [3.0, 3.0], [1.0, 6.0]])
"""Class by value of the feature, as balanced training nodes have it."""


def logits_of(graph: Graph) -> Tensor:
    return POSTERIOR.log()[graph.x.argmax(1)]


def test_expectation_maximisation_finds_the_shares_and_bayes_rule_the_posterior() -> None:
    others = torch.cat([SPLIT.val, SPLIT.test])
    train = train_shares(GRAPH.labels[SPLIT.train], 2)
    target, steps = estimated_shares(logits_of(GRAPH)[others], train)
    assert train.tolist() == [0.5, 0.5]
    assert 0 < steps < MOST_STEPS
    assert abs(float(target[0]) - 0.9) < 0.01  # the half node that every class has beforehand is all that is missing
    found = (POSTERIOR.double().log() + log_ratio(torch.tensor([0.9, 0.1]), train)).softmax(1)
    expected = POSTERIOR.double() * torch.tensor([0.9, 0.1])
    torch.testing.assert_close(found, expected / expected.sum(1, keepdim=True), rtol=1e-6, atol=1e-8)


def test_answers_that_differ_little_still_say_how_frequent_the_classes_are() -> None:
    """Plain steps are then so small that a thousand of them do not arrive; forty thousand do."""
    draw, nodes, truth = torch.Generator().manual_seed(0), 50_000, torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
    classes = torch.multinomial(truth, nodes, replacement=True, generator=draw)
    # a Gaussian of deviation s whose mean is s² higher for the class itself is its own log likelihood ratio
    logits = 0.1 * torch.randn(nodes, 3, generator=draw) + 0.01 * nn.functional.one_hot(classes, 3)
    train = torch.full((3,), 1 / 3, dtype=torch.float64)
    target, steps = estimated_shares(logits, train)
    assert PLAIN_STEPS < steps < MOST_STEPS
    p, limit = logits.double().softmax(1) / train, train
    for _ in range(40_000):
        limit = (limit * (p.t() @ (p @ limit).reciprocal()) + PSEUDO) / (nodes + 3 * PSEUDO)
    torch.testing.assert_close(target, limit, rtol=0, atol=1e-4)
    torch.testing.assert_close(target, truth, rtol=0, atol=0.1)


def test_calibration_finds_the_factor_and_the_shares_of_answers_that_say_too_little() -> None:
    """Exact posteriors of balanced classes, said in a whisper: the counts alone would then add too much."""
    others = torch.cat([SPLIT.val, SPLIT.test])
    train = train_shares(GRAPH.labels[SPLIT.train], 2)
    said = 0.25 * logits_of(GRAPH)
    target, scale = calibration(said[others].repeat(50, 1), GRAPH.labels[others].repeat(50), train)
    assert abs(scale - 4.0) < 1.0
    assert abs(float(target[0]) - 0.9) < 0.05
    plain, scaled = (accuracy_of(how, said) for how in ("validation", "calibrated"))
    assert scaled >= plain


def accuracy_of(how: str, said: Tensor) -> float:
    """On the test nodes, corrected by the labels of the validation nodes."""
    y = GRAPH.labels
    correction = PriorCorrection(how, y[SPLIT.train], y[SPLIT.val], ("a", "b"), None, halves=True)
    _, test, found = correction(said[SPLIT.val], said[SPLIT.test], said[:0])
    assert torch.equal(test, Prior.from_json(found.to_json()).apply(said[SPLIT.test]))
    return float((test.argmax(1) == y[SPLIT.test]).double().mean())


def test_calibration_is_a_maximum_and_survives_labels_that_say_nothing() -> None:
    draw, train = torch.Generator().manual_seed(1), torch.full((4,), 0.25, dtype=torch.float64)
    logits, y = torch.randn(200, 4, generator=draw), torch.randint(3, (200,), generator=draw)
    target, scale = calibration(logits, y, train)

    def merit(factor: float, bias: Tensor) -> float:
        said = nn.functional.cross_entropy(factor * logits.double() + bias, y, reduction="sum")
        return -float(said) - FAITH * ((factor - 1) ** 2 + float(bias.square().sum())) / 2

    bias = log_ratio(target, train)
    bias = bias - bias.mean()  # a common bias changes nothing but what it costs
    best = merit(scale, bias)
    for change in (1e-3, -1e-3):
        assert merit(scale + change, bias) < best
        assert all(merit(scale, bias + change * unit) < best for unit in torch.eye(4, dtype=torch.float64))
    assert 0 < float(target[3]) < 0.05, "a class that no label has is rare, not ruled out"
    assert calibration(logits[:0], y[:0], train) == (train, 1.0)
    assert calibration(logits * math.nan, y, train)[1] == 1.0


def test_answers_that_contradict_the_labels_are_not_turned_round() -> None:
    train, y = torch.tensor([0.5, 0.5], dtype=torch.float64), torch.arange(100) % 2
    wrong = 3.0 * nn.functional.one_hot(1 - y, 2).double()
    target, scale = calibration(wrong, y, train)
    assert scale == 1.0
    assert torch.equal(target, counted_shares(y, train))


def test_calibration_refuses_a_class_that_never_trained() -> None:
    y_train, y_val = torch.tensor([0, 0, 1]), torch.tensor([0, 1, 2])
    with pytest.raises(GWNError, match=r"prior=calibrated needs every class .*'c' has 1 to validate and none"):
        PriorCorrection("calibrated", y_train, y_val, NAMES, None, halves=True)


def test_without_a_shift_nothing_changes() -> None:
    train = torch.tensor([0.5, 0.5], dtype=torch.float64)
    target, _ = estimated_shares(logits_of(GRAPH)[SPLIT.train].repeat(50, 1), train)
    assert float(log_ratio(target, train).abs().max()) < 1e-3


def test_shares_are_what_the_loss_sees() -> None:
    y = torch.tensor([0, 0, 0, 1])
    assert train_shares(y, 3).tolist() == [0.75, 0.25, 0.0]
    weights = torch.tensor([2 / 3, 2.0, 0.0], dtype=torch.float64)
    assert train_shares(y, 3, weights).tolist() == pytest.approx([0.5, 0.5, 0.0])
    assert counted_shares(y, torch.tensor([0.5, 0.5, 0.0])).tolist() == pytest.approx([0.7, 0.3, 0.0])


def test_a_validation_node_is_scored_without_its_own_label() -> None:
    y_train, y_val, logits = torch.tensor([0, 1, 2]), torch.tensor([0, 0, 1, 0, 2, 0, 0, 1]), torch.zeros(8, 3)

    def scored(y: Tensor, node: int) -> list[float]:
        correct = PriorCorrection("validation", y_train, y, NAMES, None, halves=True)
        return list(correct(logits, logits[:2], logits[:0])[0][node].tolist())

    for node in range(8):
        other = y_val.clone()
        other[node] = (other[node] + 1) % 3
        assert scored(y_val, node) == scored(other, node)
    correct = PriorCorrection("validation", y_train, y_val, NAMES, None, halves=True)
    val, test, prior = correct(logits, logits[:2], logits[:0])
    assert prior.target == pytest.approx(((torch.bincount(y_val).double() + 0.5) / 9.5).tolist())
    torch.testing.assert_close(test, prior.apply(logits[:2]))
    one = PriorCorrection("validation", y_train, y_val, NAMES, None, halves=False)
    torch.testing.assert_close(one(logits, logits[:2], logits[:0])[0], prior.apply(val * 0))


def test_estimating_reads_no_label_beyond_the_training_ones() -> None:
    logits = logits_of(GRAPH)
    answers = [
        PriorCorrection("em", GRAPH.labels[SPLIT.train], y[SPLIT.val], ("a", "b"), None, halves=True)(
            logits[SPLIT.val], logits[SPLIT.test], logits[:0]
        )
        for y in (GRAPH.labels, 1 - GRAPH.labels)
    ]
    assert answers[0][2] == answers[1][2]
    assert torch.equal(answers[0][0], answers[1][0])


def test_a_class_that_training_never_saw() -> None:
    y_train, y_val = torch.tensor([0, 1, 1]), torch.tensor([0, 2, 2, 1])
    with pytest.raises(GWNError, match="'c' has 2 to validate and none to train on: use prior=em"):
        PriorCorrection("validation", y_train, y_val, NAMES, None, halves=True)
    said = torch.tensor([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0], [1.0, 0.0, 5.0], [0.0, 0.0, 0.0]])
    val, _, prior = PriorCorrection("em", y_train, y_val, NAMES, None, halves=True)(said, said[:0], said[:0])
    assert torch.equal(val[:, 2], said[:, 2])
    assert prior.target[2] == 0.0
    assert bool(torch.isfinite(val).all())


def train(prior: str, graph: Graph = GRAPH, split: Split = SPLIT, model: str = "mlp", **options: Any) -> Any:
    config = TrainConfig(**{"prior": prior, "epochs": 40, "lr": 0.1, "device": "cpu", **options})
    seed_everything(0)
    network = MODELS[model].build(graph.num_features, graph.num_outputs)
    return fit(network, graph, split, config)


@pytest.mark.parametrize("prior", ["validation", "em"])
@pytest.mark.parametrize("model", ["mlp", "boosted-hops"])
def test_a_shift_is_corrected(model: str, prior: str) -> None:
    """Balanced training makes value 1 a coin and value 2 the rare class; both are mostly the frequent one."""
    plain, found = train("none", model=model), train(prior, model=model)
    assert found.val_loss < plain.val_loss - 0.05
    assert abs(found.outputs.prior.target[0] - 0.9) < 0.1
    assert found.outputs.prior.source == prior
    assert plain.outputs.prior is None


def test_shares_that_cannot_be_found_end_the_run_in_one_line() -> None:
    class Shares(nn.Module):
        """Says of every node how frequent the classes are in training, which is all that it could learn of it."""

        def __init__(self) -> None:
            super().__init__()
            self.logits = nn.Parameter(torch.tensor([10.0, 4.0]).log())

        def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
            return self.logits.expand(x.shape[0], 2)

    uneven, config = replace(SPLIT, train=SPLIT.train[:14]), TrainConfig(prior="em", epochs=2, lr=1e-9, device="cpu")
    with pytest.raises(Diverged, match=r"prior=em did not converge: .*use prior=validation"):
        fit(Shares(), GRAPH, uneven, config)
    assert fit(Shares(), GRAPH, uneven, replace(config, prior="validation")).test == pytest.approx(0.9)


def test_numbers_and_other_ways_to_train_are_refused() -> None:
    with pytest.raises(GWNError, match="prior=em needs classes; here are numbers"):
        train("em", replace(GRAPH, y=GRAPH.labels.float()))
    with pytest.raises(GWNError, match="prior=em needs all answers in one process; leave out --processes"):
        check_divisible(MODELS["gwn-sym"].build(3, 2), TrainConfig(prior="em"))
    with pytest.raises(GWNError, match="prior"):
        TrainConfig(prior="test")


def test_the_order_of_nodes_and_so_roc_auc_stays() -> None:
    scores = []
    for prior in ("none", "validation", "em"):
        seed_everything(0)
        config = TrainConfig(prior=prior, epochs=3, lr=0.1, device="cpu")
        scores.append(fit(MODELS["mlp"].build(3, 2), GRAPH, SPLIT, config, "roc-auc").test)
    assert scores[0] == pytest.approx(scores[1])
    assert scores[0] == pytest.approx(scores[2])


@pytest.mark.parametrize("prior", ["validation", "em"])
def test_a_run_keeps_its_prior_and_predictions_use_it(prior: str, tmp_path: Path) -> None:
    dataset = Dataset(
        name="toy", graph=GRAPH, metric="accuracy", default_split="mine", directed=False, published={}, files={}
    )
    spec = model_spec("mlp")
    experiment = Experiment(
        dataset=dataset,
        model=spec,
        settings=effective_settings(spec, {}),
        config=TrainConfig(prior=prior, epochs=20, lr=0.1, device="cpu"),
        splits=[SPLIT],
    )
    usual = replace(experiment, config=replace(experiment.config, prior="none"))
    assert "prior" not in usual.describe()["training"]
    assert experiment.folder(tmp_path) != usual.folder(tmp_path)
    result, folder = run_experiment(experiment, tmp_path)
    trained = load_trained(folder)
    assert trained.run.prior == result["runs"][0]["prior"]
    assert Prior.from_json(trained.run.prior or {}).to_json() == trained.run.prior
    table = predict(trained, GRAPH)
    right = (table["known"] == table["predicted"]).to_numpy()[SPLIT.test.numpy()]
    assert right.mean() == pytest.approx(trained.run.test)
    again = refit(folder, dataset)
    assert again.run.prior is not None
    assert again.run.prior["target"] == trained.run.prior["target"]
    assert again.run.prior["train"] == train_shares(GRAPH.labels, 2).tolist()


def test_a_run_without_a_prior_says_what_the_shift_costs() -> None:
    y_train, y_val = GRAPH.labels[SPLIT.train], GRAPH.labels[SPLIT.val]
    score = METRICS["accuracy"]
    found = cost_of_shift(logits_of(GRAPH)[SPLIT.val], y_train, y_val, None, score)
    assert found is not None
    assert found["moved"] == pytest.approx(0.4)
    assert found["validation"] == pytest.approx(0.9)
    assert score(logits_of(GRAPH)[SPLIT.val], y_val) < 0.89
    assert cost_of_shift(logits_of(GRAPH)[SPLIT.train], y_train, y_train, None, score) is None
    assert cost_of_shift(logits_of(GRAPH)[SPLIT.val], y_train[y_train == 1], y_val, None, score) is None
    few, fair = torch.tensor([0, 0, 0, 1, 1]), torch.tensor([0, 0, 1, 1, 1])
    answers = torch.zeros(5, 2, dtype=torch.float64)
    assert cost_of_shift(answers, few, fair, None, score) is None, "a fifth of five labels is chance"
    assert cost_of_shift(answers.repeat(40, 1), few.repeat(40), fair.repeat(40), None, score) is not None
    run = {"status": "ok", "val": 0.7, "shift": found}
    (line,) = warnings_of([run], ["0", "1"])
    assert line.startswith("label shift: ")
    assert "instead of 70.0%" in line
    (line,) = warnings_of([{**run, "val": 0.95}], ["0", "1"])
    assert "gains nothing" in line
