"""Every model on the devices this machine has; skipped, with the reason, where it has none."""

from __future__ import annotations

import pytest
import torch

from dense import close
from graphs import AWKWARD_NODES, awkward, normal
from gwn.models import MODELS, ModelSpec
from seeds import reseed

DEVICES = [
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")),
    pytest.param("mps", marks=pytest.mark.skipif(not torch.backends.mps.is_available(), reason="no MPS device here")),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("spec", [s for s in MODELS.values() if s.gradients], ids=lambda spec: spec.name)
def test_a_device_agrees_with_the_cpu(spec: ModelSpec, device: str) -> None:
    reseed(0)
    off = {name: 0.0 for name in spec.defaults() if "dropout" in name}
    narrow = {"hidden_channels": 8} if "hidden_channels" in spec.settings() else {}
    model, x = spec.build(6, 3, **narrow, **off), normal(AWKWARD_NODES, 6, dtype=torch.float32)
    found = {}
    for place in ("cpu", device):
        model.to(place).zero_grad()
        logits = model(x.to(place), awkward().to(place))
        logits.square().sum().backward()
        found[place] = [logits, *(p.grad.clone() for p in model.parameters() if p.grad is not None)]
    for a, b in zip(found["cpu"], found[device], strict=True):
        close(b, a, 1e-4)


@pytest.mark.parametrize("device", DEVICES)
def test_attention_dropout_on_a_device(device: str) -> None:
    model = MODELS["gwn-fa"].build(6, 3, hidden_channels=8, attention_dropout=0.5).to(device).train()
    model(normal(AWKWARD_NODES, 6, dtype=torch.float32).to(device), awkward().to(device)).sum().backward()
    assert all(bool(torch.isfinite(p.grad).all()) for p in model.parameters() if p.grad is not None)
