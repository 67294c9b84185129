"""GraphCON: the two-step recurrence with GCN and with GAT coupling, on dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dense import Matrix, adjacency, close, linear, normalise
from graphs import normal, random_edges
from gwn.models.peers.graphcon import GraphCON
from seeds import reseed

N, IN, HIDDEN, OUT, HEADS = 8, 5, 4, 3, 2


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("coupling", ["gcn", "gat"])
def test_the_oscillators(coupling: str, residual: bool) -> None:
    """Compared with the paper's recurrence on dense matrices; the authors' code computes the same with GCN coupling."""
    reseed(0)
    options = {"dt": 0.5, "alpha": 0.3, "gamma": 0.7, "num_layers": 3, "heads": HEADS}
    model = GraphCON(IN, HIDDEN, OUT, coupling=coupling, residual=residual, **options).double().eval()
    with torch.no_grad():
        model.conv.bias.normal_()
    edges, x = random_edges(N, 12), normal(N, IN)
    A = adjacency(edges, N, loops="add")
    mapped = model.conv.lin if coupling == "gcn" else model.conv.projection
    W, bias = mapped.weight.detach().numpy(), model.conv.bias.detach().numpy()

    def force(h: Matrix) -> Matrix:
        z = h @ W
        out = normalise(A) @ z if coupling == "gcn" else attend(z)
        if residual:
            own = z if coupling == "gcn" else (z[:, :HIDDEN] + z[:, HIDDEN:]) / 2
            out = out + linear(model.residual, torch.from_numpy(h)) - own
        return np.maximum(out + bias, 0)

    def attend(z: Matrix) -> Matrix:
        left, right = (p.detach().numpy()[0] for p in (model.conv.att_dst, model.conv.att_src))
        out = np.zeros((N, HIDDEN))
        for head in range(HEADS):
            part = z[:, head * HIDDEN : (head + 1) * HIDDEN]
            score = (part @ left[head])[:, None] + (part @ right[head])[None, :]
            e = A * np.exp(np.where(score > 0, score, 0.2 * score))
            out += e / e.sum(1, keepdims=True) @ part / HEADS
        return out

    X = Y = np.maximum(linear(model.encoder, x), 0)
    for _ in range(3):
        Y = Y + 0.5 * (force(X) - 0.7 * X - 0.3 * Y)
        X = X + 0.5 * Y
    close(model(x, edges), linear(model.head, torch.from_numpy(X)), 1e-11)
