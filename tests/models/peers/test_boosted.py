"""Boosted trees: scikit-learn's answers from our tensors, through a run folder, with as many as validation likes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from graphs import normal, random_edges, toy_graph
from gwn import GWNError
from gwn.data.splits import SPLITS
from gwn.models.peers.boosted import BINS, BoostedTrees
from gwn.training import TrainConfig, fit, seed_everything
from gwn.training.loop import predict_logits

N = 300
X, EDGES = normal(N, 4, dtype=torch.float32), random_edges(N, 900)


def grown(model: BoostedTrees, y: torch.Tensor) -> torch.Tensor:
    """What the model looks at, after it has learnt `y`."""
    columns = model.columns(X, EDGES, None)
    said, of_others = list(model.grow(columns, y, columns[:7]))[-1]
    torch.testing.assert_close(said, model(X, EDGES), rtol=1e-4, atol=1e-4)
    assert torch.equal(of_others, said[:7])
    return columns


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_probabilities_are_those_of_scikit_learn(classes: int, dtype: torch.dtype) -> None:
    y = (X[:, 0] + normal(N, 1, dtype=torch.float32)[:, 0] > 0).long() + (X[:, 1] > 0) * (classes - 2)
    model = BoostedTrees(4, classes, iterations=12, leaves=9, l2=0.5, learning_rate=0.2, share=1.0).to(dtype)
    columns = grown(model, y).double().numpy()
    theirs = HistGradientBoostingClassifier(
        max_iter=12,
        max_leaf_nodes=9,
        l2_regularization=0.5,
        learning_rate=0.2,
        min_samples_leaf=5,
        max_bins=BINS,
        early_stopping=False,
        random_state=0,
    ).fit(columns, y.numpy())
    ours = model(X, EDGES).softmax(1).double().numpy()
    np.testing.assert_allclose(ours, theirs.predict_proba(columns), atol=1e-5)


def test_numbers_are_those_of_scikit_learn() -> None:
    model = BoostedTrees(4, 1, hops=1, iterations=12, leaves=31, share=1.0)
    columns = grown(model, X[:, 0] * X[:, 1]).double().numpy()
    theirs = HistGradientBoostingRegressor(
        max_iter=12, min_samples_leaf=5, max_bins=BINS, early_stopping=False, random_state=0
    )
    expected = theirs.fit(columns, (X[:, 0] * X[:, 1]).numpy()).predict(columns)
    np.testing.assert_allclose(model(X, EDGES)[:, 0].numpy(), expected, atol=1e-5)


def test_hop_means_are_means_over_neighbours_and_features_may_be_sparse() -> None:
    line = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    x = torch.tensor([[1.0], [0.0], [4.0]])
    expected = torch.tensor([[1.0, 0.0, 2.5], [0.0, 2.5, 0.0], [4.0, 0.0, 2.5]])
    model = BoostedTrees(1, 2)
    assert torch.equal(model.columns(x, line, None), expected)
    assert torch.equal(model.columns(x.to_sparse_csr(), line, None), expected)


def test_classes_without_training_nodes_are_never_predicted() -> None:
    two = BoostedTrees(4, 4, iterations=12)
    grown(two, (X[:, 0] > 0).long() * 2 + 1)
    assert {*two(X, EDGES).argmax(1).tolist()} == {1, 3}
    one = BoostedTrees(4, 3)
    assert len(list(one.grow(one.columns(X, EDGES, None), torch.ones(N, dtype=torch.long)))) == 1
    assert {*one(X, EDGES).argmax(1).tolist()} == {1}


def test_validation_chooses_how_many_iterations_count() -> None:
    graph = toy_graph(80)
    noisy = graph.labels.clone()
    noisy[::3] = 1 - noisy[::3]
    graph = replace(graph, y=noisy)
    split = SPLITS["stratified"](graph.labels, 0)
    seen: list[float] = []
    model = BoostedTrees(graph.num_features, 2, iterations=30, learning_rate=0.5)
    config = TrainConfig(epochs=25, stopping="none", device="cpu")
    fitted = fit(model, graph, split, config, on_epoch=lambda epoch, score: seen.append(score))
    assert fitted.epochs == len(seen) == len(fitted.curves.val_loss) == 25
    ranked = [(score, -loss) for score, loss in zip(seen, fitted.curves.val_loss, strict=True)]
    assert fitted.best_epoch == int(model.used) == 1 + ranked.index(max(ranked)) < 25
    answers = predict_logits(model, graph)
    assert fitted.outputs is not None
    torch.testing.assert_close(answers[split.val], fitted.outputs.val)
    assert float((answers.argmax(1) == graph.labels)[split.val].float().mean()) == pytest.approx(max(seen))
    assert fitted.curves.train_loss[-1] < fitted.curves.train_loss[0]


@pytest.mark.parametrize("config", [{"partitions": 2}, {"batch_size": 8}])
def test_what_trees_cannot_do_is_refused(config: dict[str, int]) -> None:
    graph = toy_graph()
    seed_everything(0)
    with pytest.raises(GWNError, match=next(iter(config))):
        fit(BoostedTrees(graph.num_features, 2), graph, SPLITS["stratified"](graph.labels, 0), TrainConfig(**config))


def test_other_trees_than_ours_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoostedTrees, "_copy", lambda *_: None)
    model = BoostedTrees(4, 2, iterations=12)
    with pytest.raises(GWNError, match=r"scikit-learn \d"):
        grown(model, (X[:, 0] > 0).long())


def test_a_tree_that_leads_in_a_circle_is_refused() -> None:
    """Its weights are a file, which anyone may have written."""
    model = BoostedTrees(4, 2, hops=0, iterations=1, leaves=2)
    model.used.fill_(1)
    model.left[0, 0, 0] = model.right[0, 0, 0] = 1  # and from there back to the root
    with pytest.raises(GWNError, match="leads in a circle"):
        model(X, EDGES)


def test_the_deepest_tree_is_walked_to_its_end() -> None:
    """Every split has a leaf to its left; the last leaf is as deep as a tree of so many leaves can be."""
    model = BoostedTrees(1, 1, hops=0, iterations=1, leaves=4)
    model.used.fill_(1)
    model.left[0, 0] = torch.tensor([1, 1, 3, 3, 5, 5, 6])
    model.right[0, 0] = torch.tensor([2, 1, 4, 3, 6, 5, 6])
    model.threshold.fill_(-1.0)
    model.value[0, 0, 6] = 7.0
    assert model(torch.ones(1, 1), torch.empty(2, 0, dtype=torch.long)).item() == 7.0


def test_too_many_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gwn.models.peers.boosted.MOST_VALUES", 1000)
    with pytest.raises(GWNError, match="12 dense columns of 300 nodes, beyond 1,000 values"):
        BoostedTrees(4, 2).columns(X, EDGES, None)
