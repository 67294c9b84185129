"""The models that can be trained: the wave networks and the published ones they are compared with."""

from gwn.models.shelf import FORMER_NAMES, MODELS, model_spec
from gwn.models.spec import ModelSpec

__all__ = ["FORMER_NAMES", "MODELS", "ModelSpec", "model_spec"]
