"""The training configuration refuses what makes no sense."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest
import torch

from gwn import GWNError
from gwn.training import TrainConfig


def test_defaults() -> None:
    config = TrainConfig()
    assert config.epochs == 200
    assert config.torch_dtype == torch.float32
    assert config.torch_device.type in ("cpu", "cuda")
    assert TrainConfig(dtype="float64").torch_dtype == torch.float64
    assert TrainConfig(device="cpu").torch_device == torch.device("cpu")
    assert config.to_json()["lr"] == 0.01
    with pytest.raises(FrozenInstanceError):
        config.lr = 1.0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": 0}, "epochs must be greater than 0"),
        ({"lr": 0.0}, "lr must be greater than 0"),
        ({"lr": float("nan")}, "lr must be greater than 0"),
        ({"patience": -1}, "patience must be greater than 0"),
        ({"weight_decay": -0.1}, "weight_decay must not be negative"),
        ({"weight_decay": float("nan")}, "weight_decay must not be negative"),
        ({"group_lr": 0.0}, "group_lr must be greater than 0; got 0.0"),
        ({"group_weight_decay": -0.1}, "group_weight_decay must not be negative; got -0.1"),
        ({"group_weight_decay": 1e7}, "group_weight_decay must be at most"),
        ({"stopping": "papre"}, "did you mean 'paper'"),
        ({"dtype": "float16"}, "unknown dtype 'float16'"),
        ({"device": "tpu"}, "unknown device 'tpu'"),
    ],
)
def test_mistakes_are_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(GWNError, match=message):
        TrainConfig(**change)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
def test_an_absent_device_is_named() -> None:
    with pytest.raises(GWNError, match="device 'cuda:1' is not available on this machine; use --device cpu"):
        _ = TrainConfig(device="cuda:1").torch_device


@pytest.mark.parametrize("device", ["cpu:abc", "cpu:-1", "cpu:"])
def test_what_is_no_device_is_named(device: str) -> None:
    with pytest.raises(GWNError, match=f"^'{device}' is no device; use cpu, cuda, cuda:1 or mps$"):
        _ = TrainConfig(device=device).torch_device
