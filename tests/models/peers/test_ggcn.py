"""GGCN: signed messages, degree correction and decaying steps, by loops over pairs of nodes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dense import Matrix, adjacency, close, linear, normalise
from graphs import normal, random_edges
from gwn.models.peers.ggcn import GGCN, SignedLayer
from seeds import reseed

N, IN, HIDDEN, OUT = 8, 5, 4, 3


def softplus(x: float) -> float:
    return float(np.log1p(np.exp(x)))


def elu(x: Matrix) -> Matrix:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def signed(layer: SignedLayer, h: Matrix, A: Matrix) -> Matrix:
    z = linear(layer.linear, torch.from_numpy(h))
    degree, share, scale = (p.detach().numpy() for p in (layer.degree, layer.share, layer.scale))
    b = np.exp(share) / np.exp(share).sum()
    d, S = A.sum(1), normalise(A)
    out = b[0] * z
    for i in range(N):
        for j in range(N):
            if i != j and A[i, j] > 0:
                cosine = z[i] @ z[j] / np.linalg.norm(z[i]) / np.linalg.norm(z[j])
                T = softplus((0.5 + degree[0]) * (np.sqrt(d[j] / d[i]) - 1) + degree[1])
                out[i] += (b[1] if cosine > 0 else b[2]) * cosine * T * S[i, j] * z[j]
    return softplus(2 + scale) * out


@pytest.mark.parametrize("reference", [False, True])
def test_three_layers(reference: bool) -> None:
    """Compared with the paper's steps, and with those of the authors' code, whose exponent is on `l + 1`."""
    reseed(0)
    model = GGCN(IN, HIDDEN, OUT, num_layers=4, decay=0.8, exponent=2.0, reference=reference).double().eval()
    with torch.no_grad():
        for layer in model.layers:
            for part in (layer.degree, layer.share, layer.scale):
                part.uniform_(-1, 1)
    edges, x = random_edges(N, 12), normal(N, IN)
    A = adjacency(edges, N, loops="add")
    h, inner = elu(linear(model.encoder, x)), signed(model.layers[0], x.numpy(), A)
    for number, layer in enumerate(list(model.layers)[1:], start=1):
        h = h + (1.0 if number == 1 else np.log(0.8 / (number + reference) ** 2 + 1)) * elu(inner)
        inner = signed(layer, h, A)
    close(model(x, edges), inner, 1e-11)


def test_one_layer_is_the_layer() -> None:
    """Compared with the paper's layer by loops over pairs."""
    model = GGCN(IN, HIDDEN, OUT, num_layers=1).double().eval()
    edges, x = random_edges(N, 12), normal(N, IN)
    close(model(x, edges), signed(model.layers[0], x.numpy(), adjacency(edges, N, loops="add")), 1e-11)
