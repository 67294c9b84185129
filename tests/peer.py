"""What the fidelity tests share: a little graph as dense matrices, and models with weights away from their start."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from dense import Matrix, adjacency, normalise
from graphs import AWKWARD_NODES, awkward, normal
from gwn.models import model_spec
from seeds import reseed

IN, HIDDEN, OUT, N = 6, 8, 3, AWKWARD_NODES
X: Tensor = normal(N, IN)
EDGES: Tensor = awkward()
EYE: Matrix = np.eye(N)


def graph(loops: str = "add") -> Matrix:
    """The undirected graph as a dense matrix."""
    return adjacency(EDGES, N, loops=loops)


def normalised(loops: str = "add") -> Matrix:
    return normalise(graph(loops))


def walk(loops: str = "add") -> Matrix:
    """`D^-1 A`; rows without edges stay zero."""
    A = graph(loops)
    return A / np.maximum(A.sum(1, keepdims=True), 1e-300)


def peer(name: str, **options: Any) -> nn.Module:
    """A model in evaluation mode and float64, every parameter moved by noise, so that no bias is zero."""
    spec = model_spec(name)
    width = {"hidden_channels": HIDDEN} if "hidden_channels" in spec.settings() else {}
    reseed(3)
    model = spec.build(IN, OUT, **{**width, **options}).double().eval()
    model(X, EDGES)
    with torch.no_grad():
        for p in model.parameters():
            p.add_(0.3 * torch.randn(p.shape, dtype=p.dtype))
    return model


def weights(model: nn.Module) -> dict[str, Matrix]:
    return {name: value.detach().numpy() for name, value in model.state_dict().items()}


def output(model: nn.Module) -> Tensor:
    logits: Tensor = model(X, EDGES)
    return logits


def relu(x: Matrix) -> Matrix:
    return np.maximum(x, 0.0)


def feed_forward(w: dict[str, Matrix]) -> Matrix:
    """The two-layer network that the predict-then-propagate models begin with."""
    hidden = relu(X.numpy() @ w["network.layers.0.weight"] + w["network.layers.0.bias"])
    return hidden @ w["network.layers.1.weight"] + w["network.layers.1.bias"]


def leaky(x: Matrix) -> Matrix:
    return np.where(x > 0, x, 0.2 * x)


def attend(A: Matrix, h: Matrix, source: Matrix, target: Matrix) -> Matrix:
    """One attention head: `softmax_j(leaky_relu(target h_i + source h_j))` over the entries of `A`, times `h`."""
    score = np.where(A > 0, leaky((h @ target)[:, None] + (h @ source)[None, :]), -np.inf)
    alpha = np.exp(score - score.max(1, keepdims=True)) * A
    return alpha / alpha.sum(1, keepdims=True) @ h
