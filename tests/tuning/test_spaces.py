"""The spaces: the paper's numbers, only settings that a model has, and no combination that makes no sense."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import optuna
import pytest
import torch
from torch import nn

from gwn import GWNError
from gwn.data import DATASETS, Dataset, load_dataset
from gwn.dimension import Dimension
from gwn.graph import Graph
from gwn.models import MODELS, model_spec
from gwn.schemes import SCHEMES
from gwn.schemes.base import count_steps
from gwn.training import TrainConfig
from gwn.tuning.classics import CLASSICS
from gwn.tuning.objective import chosen_settings
from gwn.tuning.spaces import SPACES, Space, choose_space


def samples(space: str, model: str, count: int, **fixed: Any) -> list[dict[str, Any]]:
    sampler = optuna.samplers.RandomSampler(seed=0)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=sampler)
    return [SPACES[space].sample(study.ask(), model_spec(model), fixed) for _ in range(count)]


def test_papers_space() -> None:
    drawn = samples("paper", "gwn-fa", 200)
    assert {tuple(sorted(one)) for one in drawn} == {
        ("dropout", "hidden_channels", "lr", "tau", "time", "weight_decay"),
    }
    assert {one["hidden_channels"] for one in drawn} == {32, 64, 128, 256}
    assert {one["tau"] for one in drawn} == {0.2, 0.5, 1.0, 2.0, 5.0}
    for name, low, high in (("time", 1, 20), ("dropout", 0, 0.8), ("lr", 0.001, 0.25), ("weight_decay", 0, 0.1)):
        values = sorted(one[name] for one in drawn)
        assert low <= values[0] < values[-1] <= high
        middle = (low * high) ** 0.5 if name == "lr" else (low + high) / 2
        assert values[60] < middle < values[140], name


def test_weight_decay_reaches_zero_and_small_values() -> None:
    values = [one["weight_decay"] for one in samples("standard", "gwn-sym", 200)]
    assert 60 < values.count(0.0) < 140
    small = [value for value in values if 0 < value < 1e-3]
    assert len(small) > 30
    assert min(small) < 1e-5


@pytest.mark.parametrize("model", ["mlp", "gcn"])
def test_baselines_have_their_own_settings_only(model: str) -> None:
    (names,) = {tuple(sorted(one)) for one in samples("standard", model, 20)}
    assert names == ("dropout", "hidden_channels", "lr", "num_layers", "weight_decay")
    (names,) = {tuple(sorted(one)) for one in samples("paper", model, 20)}
    assert names == ("dropout", "hidden_channels", "lr", "weight_decay")


def test_networks_with_the_blocks_of_the_tuned_classics_begin_where_these_were_published() -> None:
    graph = load_dataset("digits")
    size = DATASETS["photo"].nodes
    edges = torch.empty(2, 0, dtype=torch.long)
    named = replace(graph, name="photo", graph=Graph(x=torch.ones(size, 1), edge_index=edges))
    of_conv = {"gcn-tuned": "gcn", "gat-tuned": "gat"}  # of GCN and GraphSAGE, the latter has Photo's best figure
    for space in ("peers", "peers-normalized"):
        for model, spec in MODELS.items():
            usual = SPACES[space].on(graph).starts_of(spec)
            begun = SPACES[space].on(named).starts_of(spec)
            variants = spec.classic.get(of_conv.get(model, "sage"), ())
            assert begun[len(variants) :] == usual == SPACES[space].starts_of(spec)
            for start in begun[: len(variants)]:
                assert {**start, **CLASSICS["photo"][of_conv.get(model, "sage")]} == start, model
                assert start["row_normalize"]  # as their code reads Photo
                assert start.get("laplacian", "random-walk") == "random-walk"
                network = {name: value for name, value in start.items() if name not in TrainConfig.__dataclass_fields__}
                spec.build(4, 2, **network)
    assert {name for name, spec in MODELS.items() if spec.classic} == {
        *("gcn-tuned", "sage-tuned", "gat-tuned", "gwn-bank", "gwn-bank-plus", "gwn-twin")
    }


def test_a_graph_of_ones_own_that_has_the_name_of_a_dataset_does_not_begin_with_its_settings() -> None:
    own = replace(load_dataset("digits"), name="photo")
    assert SPACES["peers"].on(own).starts_of(MODELS["gcn-tuned"]) == SPACES["peers"].starts_of(MODELS["gcn-tuned"])


# Short and normalized spaces have the same dimensions with other bounds: the wave family's are tried, where it matters.
BUILT = [
    *(
        (space, model)
        for model, spec in MODELS.items()
        if spec.search
        for space in dict.fromkeys((spec.space, "peers"))
    ),
    *((space, "gwn-fa") for space in ("paper", "standard", "standard-short", "standard-normalized")),
    *((space, "gwn-plus") for space in ("extended", "extended-short", "extended-normalized")),
    ("peers", "majority"),
    ("standard", "gwn-sym"),
]


@pytest.mark.parametrize(("space", "model"), BUILT)
def test_every_choice_can_be_built(space: str, model: str) -> None:
    spec = model_spec(model)
    training = {*TrainConfig.__dataclass_fields__}
    narrow = {"hidden_channels": 2} if spec.kind == "wave" else {}
    for one in samples(space, model, 60 if spec.kind == "wave" else 10):
        TrainConfig(**{name: value for name, value in one.items() if name in training})
        settings = {name: value for name, value in one.items() if name not in training}
        assert settings.keys() <= spec.settings().keys()
        assert isinstance(spec.build(3, 2, **{**settings, **narrow}), nn.Module)


@pytest.mark.parametrize("space", SPACES)
def test_every_start_of_every_model_can_be_built(space: str) -> None:
    """Starts with a Laplacian ended `gwn tune --model gcn --space extended` in a KeyError."""
    for spec in (spec for spec in MODELS.values() if spec.kind != "baseline"):
        for number, start in enumerate(SPACES[space].starts_of(spec)):
            trial = optuna.trial.FixedTrial(SPACES[space].start(number, spec, {})[0])
            settings, _ = chosen_settings(SPACES[space], spec, {}, trial, number)
            assert isinstance(spec.build(3, 2, **settings), nn.Module), (spec.name, start)


def test_extended_space_offers_everything_and_keeps_one_step_within_reach() -> None:
    drawn = samples("extended", "gwn-plus", 400)
    schemes = Counter(one["scheme"] for one in drawn)
    assert {*schemes} == {*SCHEMES}
    assert {one["scheme"] for one in samples("waves", "gwn-plus", 200)} == {*SCHEMES} - {"heat"}, "GWN+ is a wave"
    steps = [count_steps(one["time"], one["tau"]) for one in drawn]
    assert 60 < steps.count(1) < 250
    assert max(steps) > 50
    kept = [n for n, one in zip(steps, drawn, strict=True) if one["readout"] in ("trajectory", "weighted")]
    assert max(kept) <= 40
    for one in drawn:
        assert ("damping" in one) == (one["scheme"] == "damped")
        assert ("mass" in one) == (one["laplacian"] == "klein-gordon")
        assert ("epsilon" in one) == (one["laplacian"] == "fa")
        assert "speed" not in one or one["scheme"] != "bessel"


def test_fixed_settings_are_not_searched_and_decide_what_applies() -> None:
    for one in samples("extended", "gwn-plus", 30, laplacian="klein-gordon", weight_decay=0.5):
        assert one["laplacian"] == "klein-gordon"
        assert one["weight_decay"] == 0.5
        assert "mass" in one
    (names,) = {tuple(sorted(one)) for one in samples("paper", "gwn-sym", 5, tau=1.0)}
    assert "tau" in names


def test_key_knows_every_number() -> None:
    first = Space(name="a", title="", dimensions=(Dimension(setting="tau", low=0.1, high=1.0),))
    second = Space(name="a", title="", dimensions=(Dimension(setting="tau", low=0.1, high=2.0),))
    gwn, mlp = model_spec("gwn-plus"), model_spec("mlp")
    assert first.key(gwn) != second.key(gwn)
    assert first.key(mlp) == second.key(mlp), "an MLP has no tau"
    assert len({space.key(gwn) for space in SPACES.values()}) == len(SPACES)


def test_short_spaces_end_early_and_are_otherwise_the_same() -> None:
    whole, short = samples("standard", "gwn-fa", 40), samples("standard-short", "gwn-fa", 40)
    assert max(one["time"] for one in whole) > 10
    assert 4 < max(one["time"] for one in short) <= 5
    assert {*whole[0]} == {*short[0]}


def test_a_direction_is_searched_where_edges_have_one() -> None:
    both = load_dataset("digits")
    stored = replace(both, directed=True)

    def searched(model: str, dataset: Dataset) -> set[str]:
        spec = model_spec(model)
        return {dimension.setting for dimension in choose_space(spec, None).on(dataset).dimensions_of(spec)}

    assert "direction" in searched("gwn-bank-plus", stored)
    assert "direction" not in searched("gwn-bank-plus", both)
    assert "direction" not in searched("gwn-twin", stored), "it has no edges to follow"
    assert "direction" not in searched("gwn-sym", stored), "its Laplacian is symmetric"


def test_default_spaces() -> None:
    assert choose_space(model_spec("gwn-fa"), None).name == "standard"
    assert choose_space(model_spec("mlp"), None).name == "standard"
    assert choose_space(model_spec("gwn-plus"), None).name == "extended"
    with pytest.raises(GWNError, match="did you mean 'paper'"):
        choose_space(model_spec("gwn-plus"), "papr")
