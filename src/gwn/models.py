"""Every model by name."""

from __future__ import annotations

from gwn.baselines import gcn, mlp
from gwn.model_spec import ModelSpec
from gwn.networks import specs
from gwn.registry import lookup

MODELS: dict[str, ModelSpec] = {
    "gwn-sym": specs.GWN_SYM,
    "gwn-fa": specs.GWN_FA,
    "gwn": specs.GWN_ANY,
    "mlp": mlp.SPEC,
    "gcn": gcn.SPEC,
}


def model_spec(name: str) -> ModelSpec:
    """The model `name`, or an error that suggests the nearest one."""
    return lookup("model", name, MODELS)


__all__ = ["MODELS", "ModelSpec", "model_spec"]
