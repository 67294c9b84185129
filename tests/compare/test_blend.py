"""The blend: weights by validation, never told apart there as worse than the best model, every tested node unseen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import rankdata

from graphs import toy_graph
from gwn.compare import blend
from gwn.compare.blend import Blend, Classes, Said, choose_weights, interval_of, make_blend, mixed, nodes_aside
from gwn.data import Dataset, make_splits
from gwn.training.outputs import Floats
from gwn.training.result import summarise


def certain(y: Classes, wrong: slice) -> Floats:
    """Nine tenths for the right one of two classes, and three tenths for the nodes `wrong`."""
    right = np.full(y.size, 0.9)
    right[wrong] = 0.3
    found = np.empty((y.size, 2))
    found[np.arange(y.size), y], found[np.arange(y.size), 1 - y] = right, 1 - right
    return found


def said(y: Classes) -> Said:
    """Two models that err on different nodes, and one that says nothing."""
    answers = {"a": certain(y, slice(0, 4)), "b": certain(y, slice(4, 8)), "c": np.full((y.size, 2), 0.5)}
    return Said(val=answers, test=answers, aside={}, y_val=y, y_test=y)


def test_models_that_err_on_different_nodes_share_the_weight() -> None:
    one = said(np.arange(20, dtype=np.int64) % 2)
    weights = choose_weights([one])
    assert weights == pytest.approx({"a": 0.5, "b": 0.5})
    assert (mixed(one.val, weights).argmax(1) == one.y_val).all()


def toy(split: str = "tenfold") -> Dataset:
    return Dataset(
        name="toy",
        graph=toy_graph(60, classes=2),
        metric="accuracy",
        default_split=split,
        directed=False,
        published={},
        files={},
    )


def answered(
    monkeypatch: pytest.MonkeyPatch,
    dataset: Dataset,
    answers: dict[str, Floats],
    of_val: dict[str, Floats] | None = None,
) -> Blend:
    """The blend of models that say this about every node in every run, something else where they validate if given."""
    splits, y = make_splits(dataset, None, 10), dataset.graph.labels.numpy()
    aside = nodes_aside(dataset, splits)

    def listen(*_: object) -> list[Said]:
        return [
            Said(
                val={name: answer[split.val.numpy()] for name, answer in (of_val or answers).items()},
                test={name: answer[split.test.numpy()] for name, answer in answers.items()},
                aside={name: answer[aside] for name, answer in answers.items()},
                y_val=y[split.val.numpy()],
                y_test=y[split.test.numpy()],
            )
            for split in splits
        ]

    monkeypatch.setattr(blend, "listen", listen)
    return make_blend(dataset, splits, {name: Path(name) for name in answers})


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize(("split", "tested"), [("tenfold", 60), ("set-aside", 2)])
def test_a_blend_is_taken_where_validation_likes_it_and_says_how_good_it_is(
    alike: bool, split: str, tested: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = toy(split)
    y, aside = dataset.graph.labels.numpy(), nodes_aside(dataset, make_splits(dataset, None, 10))
    a, b = certain(y, slice(0, 60, 3)), certain(y, slice(1, 60, 3))
    found = answered(monkeypatch, dataset, {"a": a, "b": a if alike else b})
    assert dict(found.weights) == pytest.approx({"a": 1.0} if alike else {"a": 0.5, "b": 0.5}, abs=0.1)
    assert found.title({"a": "A", "b": "B"}) == ("A" if alike else "Blend of A and B")
    assert found.together["tested"] == tested, "ten runs test every node, or a twentieth of either class is set aside"
    assert found.together["aside"] == (split == "set-aside")
    right = np.arange(60) % 3 != 0 if alike else np.ones(60)
    assert found.together["mean"] == pytest.approx(np.mean(right[aside] if aside.size else right))


def test_a_node_is_tested_with_weights_that_it_did_not_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test nodes of the first split make `b` share the weight, where others validate on them; it is wrong there."""
    dataset = toy()
    y, tested = dataset.graph.labels.numpy(), make_splits(dataset, None, 1)[0].test.numpy()

    def says(elsewhere: float, there: float) -> Floats:
        right = np.full(y.size, elsewhere)
        right[tested] = there
        return np.where(np.arange(2) == y[:, None], right[:, None], 1 - right[:, None])

    of_val = {"a": says(0.7, 1e-12), "b": says(0.51, 0.999)}
    found = answered(monkeypatch, dataset, {"a": says(0.7, 0.7), "b": says(0.51, 0.01)}, of_val)
    assert dict(found.weights) == pytest.approx({"a": 2 / 3, "b": 1 / 3}, abs=0.1)
    assert mixed({"a": says(0.7, 0.7), "b": says(0.51, 0.01)}, found.weights)[tested, y[tested]].max() < 0.5
    assert found.test == (1.0,) * 10
    assert found.together["mean"] == 1.0


@pytest.mark.parametrize(("wrong", "taken"), [(slice(0, 1), True), (slice(0, 60, 4), False)])
def test_a_blend_is_left_only_where_the_best_model_is_told_apart_as_better(
    wrong: slice, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = toy()
    y = dataset.graph.labels.numpy()
    sure = certain(y, wrong)
    sure[wrong] = np.where(sure[wrong] < 0.5, 1e-6, 1 - 1e-6)
    unsure = np.where(certain(y, slice(0, 0)) > 0.5, 0.6, 0.4)  # right about every node
    found = answered(monkeypatch, dataset, {"unsure": unsure, "sure": sure})
    assert (len(found.weights) > 1) == taken, "one node in sixty decides nothing"


@pytest.mark.parametrize("kind", ["exponential", "normal"])
@pytest.mark.parametrize("positives", [20, 100, 1980])
def test_the_interval_of_an_area_under_the_curve_covers_it(kind: str, positives: int) -> None:
    """Scores are drawn so that the area is 0.9; the interval of a share of 2000 nodes misses it."""
    rng, area, nodes, draws = np.random.default_rng(0), 0.9, 2000, 400
    y = (np.arange(nodes) < positives).astype(np.int64)
    covered, of_shares = 0, 0
    for _ in range(draws):
        if kind == "normal":
            scores = rng.normal(size=nodes) + 2**0.5 * ndtri(area) * y
        else:
            scores = rng.exponential(size=nodes) * np.where(y, area / (1 - area), 1.0)
        above = rankdata(scores)[:positives].sum() - positives * (positives + 1) / 2
        found = float(above / (positives * (nodes - positives)))
        low, high = interval_of("roc-auc", found, y)
        assert 0 <= low < found < high <= 1
        covered += low <= area <= high
        share = summarise([found, found], [nodes])
        assert share is not None
        assert share.low is not None
        assert share.high is not None
        of_shares += share.low <= area <= share.high
    # the variance is that of exponential scores with few positives, and errs on the wide side for the others
    exact = kind == "exponential" and positives < 1000
    assert 0.93 <= covered / draws <= (0.97 if exact else 1.0)
    assert of_shares / draws < 0.7


@pytest.mark.parametrize("area", [0.0, 1.0])
def test_the_interval_of_a_perfect_area_has_a_width(area: float) -> None:
    low, high = interval_of("roc-auc", area, np.arange(40) // 20)
    assert area in (low, high)
    assert 0.05 < high - low < 0.2


def test_a_blend_says_the_interval_of_its_area(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = replace(toy(), metric="roc-auc")
    y = dataset.graph.labels.numpy()
    together = answered(monkeypatch, dataset, {"a": certain(y, slice(0, 60, 3))}).together
    assert (together["low"], together["high"]) == interval_of("roc-auc", together["mean"], y)
