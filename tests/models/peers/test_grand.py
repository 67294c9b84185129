"""GRAND: attention by loops, diffusion by matrix exponentials, rewiring by a dense inverse."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.linalg import expm

from dense import Matrix, adjacency, close, linear, normalise
from graphs import normal, random_edges
from gwn import GWNError
from gwn.models.peers.grand import GRAND
from seeds import reseed

N, IN, HIDDEN, OUT, HEADS = 8, 5, 4, 3, 2


def build(**options: object) -> GRAND:
    reseed(0)
    model = GRAND(IN, HIDDEN, OUT, heads=HEADS, attention_dim=6, **options).double().eval()
    with torch.no_grad():
        model.scale.fill_(0.3)
        model.source.fill_(0.2)
        model.key.weight.mul_(3)
    return model


def attention(model: GRAND, x: Matrix, A: Matrix) -> Matrix:
    key, query = (x @ part.weight.detach().numpy() for part in (model.key, model.query))
    mean = np.zeros_like(A)
    if model.reference:
        scores = np.stack(
            [key[:, 3 * h : 3 * h + 3] @ query[:, 3 * h : 3 * h + 3].T / np.sqrt(3) for h in range(HEADS)]
        )
        z = scores - scores[:, A > 0].max()
        grown = A * (z + np.sqrt(z**2 + 4)) / 2
        return (grown / grown.sum(1, keepdims=True)).mean(0)
    for head in range(HEADS):
        own = slice(3 * head, 3 * head + 3)
        for i in range(N):
            e = np.array([A[i, j] * np.exp(key[i, own] @ query[j, own] / np.sqrt(3)) for j in range(N)])
            mean[i] += e / e.sum() / HEADS
    return mean


def logits(model: GRAND, x: Matrix) -> Matrix:
    return linear(model.head, torch.from_numpy(np.maximum(x, 0)))


@pytest.mark.parametrize("reference", [False, True])
def test_linear_diffusion_is_a_matrix_exponential(reference: bool) -> None:
    """Compared with the paper's rows by exp, and with the columns by squareplus of the authors' code for Cora."""
    model = build(time=2.0, step_size=0.05, reference=reference)
    edges, x = random_edges(N, 12), normal(N, IN)
    start = linear(model.encoder, x)
    rate = attention(model, start, adjacency(edges, N, loops="add")) - np.eye(N)
    B = np.block([[rate / (1 + np.exp(-0.3)), 0.2 * np.eye(N)], [np.zeros((N, 2 * N))]])
    end = (expm(2.0 * B) @ np.vstack([start, start]))[:N]
    close(model(x, edges), logits(model, end), 1e-6)


@pytest.mark.parametrize("variant", ["nonlinear", "rewired"])
def test_nonlinear_diffusion_by_euler_steps(variant: str) -> None:
    """Compared with the paper's equation by Euler steps on dense matrices."""
    model = build(variant=variant, time=1.0, method="euler", step_size=0.5, k=3, ppr_alpha=0.1)
    edges, x = random_edges(N, 9), normal(N, IN)
    A = adjacency(edges, N, loops="add")
    if variant == "rewired":
        S = np.linalg.inv(np.eye(N) - 0.9 * normalise(A))
        A = np.array([(S[i] >= np.sort(S[i])[-3] * (1 - 1e-9)) & (S[i] > 1e-12) for i in range(N)]) * 1.0
    start = X = linear(model.encoder, x)
    for _ in range(2):
        X = X + 0.5 * ((attention(model, X, A) @ X - X) / (1 + np.exp(-0.3)) + 0.2 * start)
    close(model(x, edges), logits(model, X), 1e-11)


def test_attention_by_squareplus_bears_large_scores() -> None:
    """From z = -8,192 on `z/2 + sqrt(z²/4 + 1)` is zero in single precision, and a column of zeros has no mean."""
    model = build(time=1.0, reference=True).float()
    edges, x = random_edges(N, 12), normal(N, IN).float()
    with torch.no_grad():
        model.key.weight.mul_(1e5)
    values = model.attention(model.encoder(x), model.edges(x, edges, None))
    assert (values > 0).all()
    assert model(x, edges).isfinite().all()


def test_number_of_parameters() -> None:
    """Cora: encoder, keys and queries of the attention, two numbers, head."""
    count = sum(p.numel() for p in GRAND(1433, 80, 7).parameters())
    assert count == 1434 * 80 + 2 * 80 * 128 + 2 + 81 * 7


def test_heads_must_divide_the_attention() -> None:
    with pytest.raises(GWNError, match="multiple of heads"):
        GRAND(IN, HIDDEN, OUT, heads=3, attention_dim=8)
