"""The blend: weights by validation, never told apart there as worse than the best model, every tested node unseen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphs import toy_graph
from gwn.compare import blend
from gwn.compare.blend import Blend, Classes, Said, choose_weights, make_blend, mixed, nodes_aside
from gwn.data import Dataset, make_splits
from gwn.training.outputs import Floats


def certain(y: Classes, wrong: slice) -> Floats:
    """Nine tenths for the right one of two classes, and two tenths for the nodes `wrong`."""
    right = np.full(y.size, 0.9)
    right[wrong] = 0.2
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


def answered(monkeypatch: pytest.MonkeyPatch, dataset: Dataset, answers: dict[str, Floats]) -> Blend:
    """The blend of models that say this about every node in every run."""
    splits, y = make_splits(dataset, None, 10), dataset.graph.labels.numpy()
    aside = nodes_aside(dataset, splits)

    def listen(*_: object) -> list[Said]:
        return [
            Said(
                val={name: answer[split.val.numpy()] for name, answer in answers.items()},
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
    assert dict(found.weights) == pytest.approx({"a": 1.0} if alike else {"a": 0.5, "b": 0.5})
    assert found.title({"a": "A", "b": "B"}) == ("A" if alike else "Blend of A and B")
    assert found.together["tested"] == tested, "ten runs test every node, or a twentieth of either class is set aside"
    assert found.together["aside"] == (split == "set-aside")
    right = np.arange(60) % 3 != 0 if alike else np.ones(60)
    assert found.together["mean"] == pytest.approx(np.mean(right[aside] if aside.size else right))


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
