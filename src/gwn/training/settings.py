"""From `--set name=value` to the arguments of a model and of the training loop."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from gwn.errors import GWNError
from gwn.models import ModelSpec
from gwn.registry import require_known
from gwn.training.config import TrainConfig


def parse_settings(model: ModelSpec, assignments: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """`["tau=0.5", "lr=0.01"]` as (model settings, training settings), each of the type its default has."""
    of_model = {name: _type_name(parameter) for name, parameter in model.settings().items()}
    of_training = {field.name: str(field.type) for field in fields(TrainConfig)}
    for_model: dict[str, Any] = {}
    for_training: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise GWNError(f"--set takes name=value; got {assignment!r}")
        require_known(f"setting of {model.name}", name, {**of_model, **of_training})
        if name in of_model:
            for_model[name] = parse_value(name, text.strip(), of_model[name])
        else:
            for_training[name] = parse_value(name, text.strip(), of_training[name])
    return for_model, for_training


def parse_value(name: str, text: str, kind: str) -> Any:
    """`text` as the annotated type: "int", "float", "bool" or "str", each possibly with "| None"."""
    kinds = {part.strip() for part in kind.split("|")}
    if "None" in kinds and text.lower() in ("none", "null"):
        return None
    try:
        if "bool" in kinds and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if "int" in kinds:
            return int(text)
        if "float" in kinds:
            return float(text)
    except ValueError:
        pass
    if "str" in kinds:
        return text
    allowed = {"bool": "true or false", "int": "a whole number", "float": "a number", "None": "none"}
    raise GWNError(f"{name} takes {' or '.join(allowed[k] for k in sorted(kinds) if k in allowed)}; got {text!r}")


def effective_settings(model: ModelSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of the model, the given ones and the defaults, so that a result names every one of them."""
    defaults = {
        name: parameter.default
        for name, parameter in model.settings().items()
        if parameter.default is not inspect.Parameter.empty
    }
    return {"hidden_channels": 64, **defaults, **given}


def _type_name(parameter: inspect.Parameter) -> str:
    annotation = parameter.annotation
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "str")
