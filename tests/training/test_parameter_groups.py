"""Parameter groups: a learning rate and a decay of their own, where a network has a group and the settings say so."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from graphs import toy_graph
from gwn import GWNError
from gwn.data import SPLITS
from gwn.io import content_key
from gwn.models import MODELS, model_spec
from gwn.training import TrainConfig, build_network, fit, seed_everything
from gwn.training.loop import make_optimizer

GROUPS = {
    "bernnet": {"theta"},
    "chebnet2": {"gamma"},
    "gpr-gnn": {"gamma"},
    "jacobi": {"eta", "beta"},
    "ordered-gnn": {"encoder.weight", "encoder.bias", "head.weight", "head.bias"},
}
OWN: dict[str, Any] = {"group_lr": 0.003, "group_weight_decay": 0.0}
GRAPH = toy_graph()
SPLIT = SPLITS["stratified"](GRAPH.labels, 0)


def network(name: str, config: TrainConfig, **settings: Any) -> nn.Module:
    seed_everything(0)
    narrow = {"hidden_channels": 8} if "hidden_channels" in model_spec(name).settings() else {}
    return build_network(model_spec(name), {**narrow, **settings}, config, GRAPH, SPLIT)


def trained(name: str, **options: Any) -> dict[str, torch.Tensor]:
    config = TrainConfig(epochs=3, device="cpu", **options)
    return fit(network(name, config), GRAPH, SPLIT, config).weights


@pytest.mark.parametrize("name", ["gcn", *GROUPS])
def test_without_settings_there_is_one_group_in_the_order_of_the_network(name: str) -> None:
    config = TrainConfig(device="cpu")
    model = network(name, config)
    (group,) = make_optimizer(model, config).param_groups
    assert [id(p) for p in group["params"]] == [id(p) for p in model.parameters()]
    assert (group["lr"], group["weight_decay"]) == (config.lr, config.weight_decay)


@pytest.mark.parametrize("wrapped", [{}, {"labels": "masked"}], ids=["plain", "known labels"])
@pytest.mark.parametrize("name", GROUPS)
def test_a_group_has_its_own_rate_and_decay(name: str, wrapped: dict[str, Any]) -> None:
    config = TrainConfig(device="cpu", **OWN, **wrapped)
    model = network(name, config, row_normalize=True)
    others, group = make_optimizer(model, config).param_groups
    names = {id(p): name.removeprefix("network.") for name, p in model.named_parameters()}
    assert {names[id(p)] for p in group["params"]} == GROUPS[name]
    assert len(others["params"]) + len(group["params"]) == len(names)
    assert (group["lr"], group["weight_decay"]) == (0.003, 0.0)
    assert (others["lr"], others["weight_decay"]) == (config.lr, config.weight_decay)


def test_what_is_not_set_is_that_of_the_others() -> None:
    config = TrainConfig(device="cpu", group_weight_decay=0.05)
    _, group = make_optimizer(network("ordered-gnn", config), config).param_groups
    assert (group["lr"], group["weight_decay"]) == (config.lr, 0.05)


@pytest.mark.parametrize("name", GROUPS)
def test_training_uses_them(name: str) -> None:
    """The same rates for both are training without groups, to the bit; a rate near zero holds the group where it is."""
    plain = trained(name)
    same = trained(name, group_lr=TrainConfig.lr, group_weight_decay=TrainConfig.weight_decay)
    held = trained(name, group_lr=1e-30)
    start = network(name, TrainConfig()).state_dict()
    for key, weight in plain.items():
        assert torch.equal(same[key], weight)
        still = torch.allclose(held[key], start[key], rtol=0.0, atol=1e-20)
        assert still == (key in GROUPS[name]), key


@pytest.mark.parametrize("name", ["gcn", "gwn-sym", "boosted-hops"])
@pytest.mark.parametrize(
    ("given", "line"), [({"group_lr": 0.002}, "group_lr=0.002"), (OWN | {"group_lr": None}, "group_weight_decay=0")]
)
def test_models_without_a_group_refuse_them(name: str, given: dict[str, Any], line: str) -> None:
    assert name in MODELS
    with pytest.raises(GWNError) as refused:
        trained(name, **given)
    assert str(refused.value).startswith(line)
    assert "chebnet2, bernnet" in str(refused.value)
    assert "leave it out" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_run_is_named_by_them_only_where_they_are_used() -> None:
    assert not OWN.keys() & TrainConfig().to_json().keys()
    assert TrainConfig(**OWN).to_json().items() >= OWN.items()
    assert content_key(TrainConfig(**OWN).to_json()) != content_key(TrainConfig().to_json())
