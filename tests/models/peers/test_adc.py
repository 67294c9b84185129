"""ADC: `sum_k e^-t t^k / k! T^k` with a time for every layer and channel, by dense powers."""

from __future__ import annotations

from math import exp, factorial

import numpy as np
import pytest
import torch

from dense import adjacency, close, normalise
from graphs import normal, random_edges
from gwn import GWNError
from gwn.models.peers.adc import ADC
from seeds import reseed

N, IN, HIDDEN, OUT, K = 9, 5, 4, 3, 6


def test_every_channel_has_its_time() -> None:
    """Compared with the paper's sum of dense powers; the authors' code was read and has the same."""
    reseed(0)
    model = ADC(IN, HIDDEN, OUT, num_terms=K, time=2.0).double().eval()
    with torch.no_grad():
        for part in (*model.diffusion, *model.biases):
            part.uniform_(-1, 1)
    edges, x = random_edges(N, 12), normal(N, IN)
    T = normalise(adjacency(edges, N, loops="add"))
    h = x.numpy()
    for number, layer in enumerate(model.layers):
        z = h @ layer.weight.detach().numpy()
        times = 2.0 + model.diffusion[number].detach().numpy()
        columns = []
        for c, t in enumerate(times):
            S = sum(exp(-t) * t**k / factorial(k) * np.linalg.matrix_power(T, k) for k in range(K))
            columns.append(S @ z[:, c])
        h = np.stack(columns, 1) + model.biases[number].detach().numpy()
        h = np.maximum(h, 0) if number == 0 else h
    close(model(x, edges), h, 1e-12)


def test_number_of_parameters() -> None:
    """Cora, 64 channels: weights, biases, and one time a channel."""
    count = sum(p.numel() for p in ADC(1433, 64, 7).parameters())
    assert count == 1433 * 64 + 64 + 64 + 64 * 7 + 7 + 7
    assert sum(p.numel() for p in ADC(1433, 64, 7, per_channel=False).diffusion) == 2


def test_one_term_is_no_diffusion() -> None:
    with pytest.raises(GWNError, match="num_terms"):
        ADC(IN, HIDDEN, OUT, num_terms=1)
