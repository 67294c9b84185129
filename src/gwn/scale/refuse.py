"""What several processes cannot share, said before any work begins."""

from __future__ import annotations

from torch import nn

from gwn.errors import GWNError
from gwn.laplacians import FrequencyAdaptive
from gwn.laplacians.speed import LearnedSpeed
from gwn.networks import GWN
from gwn.schemes.newmark import Newmark
from gwn.training.config import TrainConfig


def check_divisible(model: nn.Module, config: TrainConfig) -> GWN:
    """The network, if its rows can be computed in several processes with the result of one."""
    if not isinstance(model, GWN):
        raise GWNError(
            f"{type(model).__name__} cannot be trained in several processes, only wave networks can; use model gwn, "
            f"gwn-sym or gwn-fa, or one process"
        )
    if isinstance(model.scheme, Newmark):
        raise GWNError(
            "scheme 'newmark' solves for all rows at once, which several processes cannot; use scheme 'bessel', which "
            "is stable for any step too, or one process"
        )
    laplacian = model.laplacian.inner if isinstance(model.laplacian, LearnedSpeed) else model.laplacian
    if isinstance(laplacian, FrequencyAdaptive) and laplacian.attention_dropout > 0:
        raise GWNError(
            "dropout on alpha is drawn for all edges at once, which several processes cannot; use "
            "attention_dropout=0, or one process"
        )
    if any(isinstance(module, nn.BatchNorm1d) for module in model.modules()):
        raise GWNError(
            "norm 'batch' averages over all rows, which several processes cannot; use norm 'layer' or 'none'"
        )
    if config.batch_size > 0 and not model.precompute:
        raise GWNError("batch_size needs a network with precompute=true, where a step costs what its nodes cost")
    return model
