"""`--set name=value` becomes typed arguments of the model or of the training loop."""

from __future__ import annotations

from typing import Any

import pytest

from gwn import GWNError
from gwn.models import MODELS
from gwn.training.config import effective_settings, parse_settings, parse_value


def test_each_setting_goes_where_it_belongs_with_its_type() -> None:
    assignments = [
        "tau=0.5",
        "time=3",
        "hidden_channels=32",
        "epsilon=free",
        "reference=true",
        "directed=none",
        "attention-dropout = 0.1",
        "lr=1e-3",
        "epochs=5",
        "deterministic=False",
        "stopping=paper",
    ]
    model, training = parse_settings(MODELS["gwn-fa"], assignments)
    assert model == {
        "tau": 0.5,
        "time": 3.0,
        "hidden_channels": 32,
        "epsilon": "free",
        "reference": True,
        "directed": None,
        "attention_dropout": 0.1,
    }
    assert isinstance(model["time"], float)
    assert isinstance(model["hidden_channels"], int)
    assert training == {"lr": 0.001, "epochs": 5, "deterministic": False, "stopping": "paper"}


def test_the_last_one_wins_and_values_may_hold_an_equals_sign() -> None:
    assert parse_settings(MODELS["gwn-sym"], ["tau=1", "tau=2"])[0] == {"tau": 2.0}
    assert parse_settings(MODELS["gwn-sym"], ["activation=a=b"])[0] == {"activation": "a=b"}


@pytest.mark.parametrize(
    ("model", "assignment", "message"),
    [
        ("gwn-sym", "tau", "--set takes name=value; got 'tau'"),
        ("gwn-sym", "tua=1", "unknown setting of gwn-sym 'tua'; did you mean 'tau'"),
        ("gwn-sym", "epsilon=free", "unknown setting of gwn-sym 'epsilon'"),
        ("gwn-sym", "laplacian=fa", "unknown setting of gwn-sym 'laplacian'"),
        ("mlp", "tau=1", "unknown setting of mlp 'tau'"),
        ("gwn-sym", "tau=fast", "tau takes a number; got 'fast'"),
        ("gwn-sym", "hidden_channels=1.5", "hidden_channels takes a whole number; got '1.5'"),
        ("gwn-sym", "hidden_channels=", "hidden_channels takes a whole number; got ''"),
        ("gwn-sym", "reference=yes", "reference takes true or false; got 'yes'"),
        ("gwn-sym", "directed=1", "directed takes none or true or false; got '1'"),
        ("gwn-sym", "epochs=ten", "epochs takes a whole number"),
    ],
)
def test_mistakes_are_named(model: str, assignment: str, message: str) -> None:
    with pytest.raises(GWNError) as error:
        parse_settings(MODELS[model], [assignment])
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("3", "int", 3),
        ("3", "float", 3.0),
        ("true", "bool", True),
        ("TRUE", "bool | None", True),
        ("none", "bool | None", None),
        ("none", "str", "none"),
        ("none", "str | None", None),
        ("add", "str | None", "add"),
        ("1e-4", "float", 1e-4),
    ],
)
def test_parse_value(text: str, kind: str, value: Any) -> None:
    found = parse_value("x", text, kind)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("name", list(MODELS))
def test_every_setting_of_every_model_can_be_parsed_from_its_default(name: str) -> None:
    spec = MODELS[name]
    complete = effective_settings(spec, {})
    assert complete.keys() <= spec.settings().keys()
    assert complete.keys() >= spec.defaults().keys()
    parsed, _ = parse_settings(spec, [f"{key}={value}" for key, value in complete.items()])
    assert parsed == complete
    spec.build(4, 2, **parsed)


def test_effective_settings_name_everything_and_keep_what_was_given() -> None:
    found = effective_settings(MODELS["gwn-fa"], {"tau": 0.25})
    assert found["tau"] == 0.25
    assert found["hidden_channels"] == 64
    assert "laplacian" not in found
