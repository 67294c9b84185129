"""GADC: `sum_k theta_k T^k` with free `theta`, by dense powers; it starts where ADC does."""

from __future__ import annotations

import numpy as np
import torch

from dense import adjacency, close, normalise
from graphs import normal, random_edges
from gwn.models.peers.adc import ADC
from gwn.models.peers.gadc import GADC
from seeds import reseed

N, IN, HIDDEN, OUT, K = 9, 5, 4, 3, 6


def test_every_channel_has_its_weights() -> None:
    """Compared with the paper's sum of dense powers."""
    reseed(0)
    model = GADC(IN, HIDDEN, OUT, num_terms=K, time=0.0).double().eval()  # theta starts at (1, 0, 0, ...)
    with torch.no_grad():
        for part in model.diffusion:
            part.uniform_(-1, 1)
    edges, x = random_edges(N, 12), normal(N, IN)
    T = normalise(adjacency(edges, N, loops="add"))
    h = x.numpy()
    for number, layer in enumerate(model.layers):
        z = h @ layer.weight.detach().numpy()
        theta = model.diffusion[number].detach().numpy() + np.eye(K)[:, :1]
        h = sum(np.linalg.matrix_power(T, k) @ z * theta[k] for k in range(K))
        h = np.maximum(h, 0) if number == 0 else h
    close(model(x, edges), h, 1e-12)


def test_it_starts_as_adc() -> None:
    models = []
    for kind in (ADC, GADC):
        reseed(0)
        models.append(kind(IN, HIDDEN, OUT).double().eval())
    close(models[1](normal(N, IN), random_edges(N, 12)), models[0](normal(N, IN), random_edges(N, 12)), 1e-12)


def test_the_authors_code_has_shares_that_start_equal() -> None:
    """Compared with the authors' softmax over dense powers, as their code was read."""
    reseed(0)
    model = GADC(IN, HIDDEN, OUT, num_terms=K, reference=True).double().eval()
    edges, x = random_edges(N, 12), normal(N, IN)
    T = normalise(adjacency(edges, N, loops="add"))
    mean = sum(np.linalg.matrix_power(T, k) for k in range(K)) / K
    first, second = (layer.weight.detach().numpy() for layer in model.layers)
    close(model(x, edges), mean @ np.maximum(mean @ x.numpy() @ first, 0) @ second, 1e-12)
    with torch.no_grad():
        model.diffusion[0].normal_()
    shares = model.theta(model.diffusion[0])
    close(shares.sum(0), np.ones(HIDDEN), 1e-12)
    assert (shares > 0).all()
