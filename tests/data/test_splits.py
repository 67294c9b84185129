"""Splits: properties on any labels, and the known facts about the ones of the field."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import assume, given

from gwn.data import SPLITS, Dataset, Split, contextual_sbm, make_splits
from gwn.data.splits import per_class, splits_from_masks, stratified, uniform
from gwn.errors import GWNError

LABELS = st.lists(st.integers(-1, 4), min_size=3, max_size=120)


def parts(split: Split) -> tuple[set[int], set[int], set[int]]:
    return set(split.train.tolist()), set(split.val.tolist()), set(split.test.tolist())


def leaves_something(labels: list[int]) -> bool:
    """Whether the per-class split of these labels has a node for every part: of few nodes it may not."""
    known = [label for label in labels if label >= 0]
    quota = round(0.6 * len(known) / len(set(known)))
    train, val = sum(min(quota, known.count(c)) for c in set(known)), round(0.2 * len(known))
    return train > 0 and val > 0 and train + val < len(known)


@pytest.mark.parametrize("kind", SPLITS)
@given(labels=LABELS, seed=st.integers(0, 2**32))
def test_a_split_covers_every_labelled_node_once(kind: str, labels: list[int], seed: int) -> None:
    y = torch.tensor(labels)
    known = set(torch.nonzero(y >= 0).flatten().tolist())
    assume(len(known) >= 3 and len(set(labels) - {-1}) >= 2)
    assume(kind != "per-class" or leaves_something(labels))
    split = SPLITS[kind](y, seed)
    train, val, test = parts(split)
    aside = sum(labels.count(c) // 20 for c in set(labels) - {-1}) if kind == "set-aside" else 0
    assert train | val | test <= known
    assert len(train) + len(val) + len(test) == len(known) - aside
    for part in (split.train, split.val, split.test):
        assert part.dtype == torch.int64
        assert bool((part.diff() > 0).all())
    again = SPLITS[kind](y, seed)
    assert split.content_hash() == again.content_hash()
    assert (split.kind, split.seed) == (kind, seed)


def test_what_is_set_aside_is_in_no_run() -> None:
    y = torch.arange(200) % 3
    splits = [SPLITS["set-aside"](y, seed) for seed in range(25)]
    seen = [{*torch.cat([split.train, split.val, split.test]).tolist()} for split in splits]
    assert all(nodes == seen[0] for nodes in seen)
    assert torch.bincount(y[sorted({*range(200)} - seen[0])]).tolist() == [3, 3, 3]


@pytest.mark.parametrize("labels", [[0, 1, 1], [0, 0, 1], [-1, 0, 1, 2]])
def test_a_per_class_split_that_leaves_no_node_for_a_part_is_refused(labels: list[int]) -> None:
    assert not leaves_something(labels)
    with pytest.raises(GWNError, match=r"leaves no node for \w+; label more nodes or use 'stratified'"):
        per_class(torch.tensor(labels), 0)


def test_a_split_is_not_the_remedy_for_itself() -> None:
    nodes = torch.arange(2)
    with pytest.raises(GWNError, match=r"split 'stratified' leaves no node for test; label more nodes$"):
        Split(train=nodes[:1], val=nodes[1:], test=nodes[:0], kind="stratified", seed=0)


@given(labels=LABELS, seed=st.integers(0, 1000))
def test_stratified_is_within_one_node_of_its_share_in_every_class_and_in_all(labels: list[int], seed: int) -> None:
    y = torch.tensor(labels)
    known = int((y >= 0).sum())
    assume(known >= 3 and len(set(labels) - {-1}) >= 2)
    split = stratified(y, seed)
    for part, share in ((split.train, 0.6), (split.val, 0.2), (split.test, 0.2)):
        assert abs(part.numel() - share * known) < 1
        for c in set(labels) - {-1}:
            assert abs(int((y[part] == c).sum()) - share * labels.count(c)) < 1


@given(labels=st.lists(st.integers(-1, 4), min_size=40, max_size=120), seed=st.integers(0, 1000))
def test_per_class_takes_the_same_number_of_every_class(labels: list[int], seed: int) -> None:
    y = torch.tensor(labels)
    classes = set(labels) - {-1}
    known = int((y >= 0).sum())
    assume(len(classes) >= 2 and leaves_something(labels))
    quota = round(0.6 * known / len(classes))
    split = per_class(y, seed)
    for c in classes:
        assert int((y[split.train] == c).sum()) == min(quota, labels.count(c))
    assert split.val.numel() == round(0.2 * known)


def test_uniform_is_60_20_20() -> None:
    split = uniform(torch.arange(100) % 3, 0)
    assert [len(part) for part in parts(split)] == [60, 20, 20]


@pytest.mark.parametrize("kind", SPLITS)
def test_seeds_give_different_splits(kind: str) -> None:
    y = torch.arange(60) % 3
    assert len({SPLITS[kind](y, seed).content_hash() for seed in range(20)}) == 20


def test_a_single_member_class_is_not_always_in_the_same_part() -> None:
    y = torch.tensor([0] * 30 + [1] * 30 + [2])
    where = {tuple(60 in part for part in parts(stratified(y, seed))) for seed in range(60)}
    assert len(where) == 3


@pytest.mark.parametrize("kind", SPLITS)
@pytest.mark.parametrize(
    ("labels", "says"), [([0, 1], "2 labelled nodes"), ([-1] * 9, "0 labelled nodes"), ([2] * 9, "one class")]
)
def test_too_little_to_split_is_said(kind: str, labels: list[int], says: str) -> None:
    with pytest.raises(GWNError, match=says):
        SPLITS[kind](torch.tensor(labels), 0)


def test_a_split_refuses_a_node_in_two_parts_and_an_empty_part() -> None:
    a, b, nothing = torch.tensor([0, 1]), torch.tensor([2]), torch.tensor([], dtype=torch.int64)
    with pytest.raises(GWNError, match="two parts"):
        Split(train=a, val=b, test=torch.tensor([1]), kind="mine", seed=0)
    with pytest.raises(GWNError, match="no node for test"):
        Split(train=a, val=b, test=nothing, kind="mine", seed=0)


def test_the_hash_tells_the_parts_apart() -> None:
    a, b, c = torch.tensor([0, 1]), torch.tensor([2]), torch.tensor([3])
    one = Split(train=a, val=b, test=c, kind="x", seed=0)
    other = Split(train=a, val=c, test=b, kind="x", seed=0)
    same = Split(train=a.flip(0), val=b, test=c, kind="y", seed=5)
    assert one.content_hash() != other.content_hash()
    assert one.content_hash() == same.content_hash()


def toy(**published: tuple[Split, ...]) -> Dataset:
    return Dataset(
        name="toy",
        graph=contextual_sbm(nodes=40, degree=4),
        metric="accuracy",
        default_split="uniform",
        directed=False,
        published=published,
        files={},
    )


def test_make_splits_counts_seeds_up_and_uses_the_default() -> None:
    splits = make_splits(toy(), None, 3, seed=7)
    assert [(split.kind, split.seed) for split in splits] == [("uniform", 7), ("uniform", 8), ("uniform", 9)]


def test_make_splits_takes_published_ones_in_turn() -> None:
    masks = torch.eye(40, dtype=torch.bool)[:, :9].reshape(40, 3, 3)
    geom = splits_from_masks("geom", masks[:, :, 0], masks[:, :, 1], masks[:, :, 2])
    assert [split.seed for split in make_splits(toy(geom=geom), "geom", 7, seed=3)] == [0, 1, 2, 0, 1, 2, 0]


@pytest.mark.parametrize("numbers", [False, True])
def test_a_published_split_of_nodes_without_a_label_is_refused(numbers: bool) -> None:
    masks = torch.eye(40, dtype=torch.bool)[:, :6].reshape(40, 2, 3)
    data = toy(geom=splits_from_masks("geom", masks[:, :, 0], masks[:, :, 1], masks[:, :, 2]))
    y = data.graph.labels.clone().double() if numbers else data.graph.labels.clone()
    y[[4, 20]] = math.nan if numbers else -1
    data = replace(data, graph=replace(data.graph, y=y))
    with pytest.raises(GWNError, match="split 'geom' number 1 has nodes whose y is not known, 1 of 3, node 4 for"):
        make_splits(data, "geom", 1)
    assert make_splits(data, "uniform", 1)


def test_make_splits_names_what_there_is() -> None:
    with pytest.raises(GWNError, match="did you mean 'stratified'"):
        make_splits(toy(), "stratifed", 1)
    with pytest.raises(GWNError, match="toy has no published split 'geom'; it has per-class, uniform, stratified"):
        make_splits(toy(), "geom", 1)
    with pytest.raises(GWNError, match="at least one"):
        make_splits(toy(), None, 0)


def test_texas_per_class_is_no_60_20_20(dataset: Callable[..., Dataset]) -> None:
    texas = dataset("texas")
    splits = make_splits(texas, "per-class", 20)
    y = texas.graph.labels
    assert all(split.train.numel() == 85 for split in splits)  # 46 %
    majority = sum(float((y[split.test] == 3).float().mean()) for split in splits) / 20
    assert majority == pytest.approx(79 / 98, abs=0.02)  # 79 of the 98 nodes that are left; 77 % is one draw of it
    assert abs(float((y == 3).float().mean()) - 0.55) < 0.005
    assert all(1 not in y[split.test].unique() and 2 not in y[split.test].unique() for split in splits)


def test_actor_per_class_never_tests_one_class(dataset: Callable[..., Dataset]) -> None:
    actor = dataset("actor")
    for split in make_splits(actor, "per-class", 3):
        assert actor.graph.labels[split.test].unique().numel() == 4


def test_published_splits_are_the_published_ones(dataset: Callable[..., Dataset]) -> None:
    cora = make_splits(dataset("cora"), "public", 2)
    assert [len(part) for part in parts(cora[0])] == [140, 500, 1000]
    assert cora[0].content_hash() == cora[1].content_hash()
    geom = make_splits(dataset("texas"), None, 11)
    assert geom[0].kind == "geom"
    assert [len(part) for part in parts(geom[0])] == [87, 59, 37]
    assert len({split.content_hash() for split in geom}) == 10
    assert geom[10] is geom[0]


@pytest.mark.parametrize(("name", "sizes"), [("photo", [4590, 1530, 1530]), ("computers", [8251, 2750, 2751])])
def test_the_fixed_split_of_the_tuned_classics_is_a_published_one(
    name: str, sizes: list[int], dataset: Callable[..., Dataset]
) -> None:
    first, again = make_splits(dataset(name), "published", 2)
    assert first is again, "there is one, so runs differ by their seed alone"
    assert [len(part) for part in parts(first)] == sizes
    assert len(set().union(*parts(first))) == dataset(name).graph.num_nodes
