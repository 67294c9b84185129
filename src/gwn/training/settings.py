"""From `--set name=value` to the arguments of a model and of the training loop."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from gwn.errors import GWNError
from gwn.laplacians import LAPLACIANS
from gwn.models import ModelSpec
from gwn.registry import keyword_options, require_known
from gwn.schemes import SCHEMES
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
    """The given settings and all defaults, so that a result names every one of them.

    Except under `reference`, which has other defaults for what only some Laplacians have: there the given ones stand
    alone.
    """
    chosen = {**model.defaults(), **model.fixed, **given}
    options = {}
    if "laplacian" in chosen and not chosen.get("reference"):
        of_dynamics = (LAPLACIANS.get(chosen["laplacian"]), SCHEMES.get(chosen["scheme"]))
        options = {n: p.default for kind in of_dynamics if kind for n, p in keyword_options(kind).items()}
    return {name: value for name, value in {**options, **chosen}.items() if name not in model.fixed}


def _type_name(parameter: inspect.Parameter) -> str:
    annotation = parameter.annotation
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "str")
