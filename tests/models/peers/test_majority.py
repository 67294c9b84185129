from __future__ import annotations

import torch
import torch.nn.functional as F

from gwn.models import model_spec
from peer import EDGES, X, output, peer, weights


def test_every_node_gets_the_bias() -> None:
    model = peer("majority")
    assert (output(model).detach().numpy() == weights(model)["bias"]).all()
    assert "hidden_channels" not in model_spec("majority").settings()


def test_training_finds_the_class_frequencies() -> None:
    labels = torch.tensor([0, 1, 1, 1, 1, 2, 2, 1])
    model = peer("majority").train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(300):
        optimizer.zero_grad()
        F.cross_entropy(model(X, EDGES), labels).backward()
        optimizer.step()
    assert bool((output(model).argmax(1) == 1).all())
    assert torch.allclose(output(model)[0].softmax(0), torch.tensor([1, 5, 2], dtype=torch.float64) / 8, atol=1e-3)
