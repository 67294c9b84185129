"""CGNN: the solver against the solution in closed form, `H(t) = B^-1 (e^Bt (B + I) - I) E`, `B = A - I`."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.linalg import expm

from dense import adjacency, close, linear, normalise
from graphs import normal, random_edges
from gwn import GWNError
from gwn.models.peers.cgnn import CGNN
from seeds import reseed
from tolerance import rounding

N, IN, HIDDEN, OUT = 9, 5, 4, 3


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_closed_form(method: str) -> None:
    """Compared with the paper's solution in closed form."""
    reseed(0)
    model = CGNN(IN, HIDDEN, OUT, time=3.0, alpha=0.8, method=method, step_size=0.05, tolerance=1e-10).double().eval()
    edges, x = random_edges(N, 12), normal(N, IN)
    B = 0.4 * (np.eye(N) + normalise(adjacency(edges, N))) - np.eye(N)
    E = linear(model.encoder, x)
    H = np.linalg.inv(B) @ (expm(3.0 * B) @ (B + np.eye(N)) - np.eye(N)) @ E
    close(model(x, edges), linear(model.head, torch.from_numpy(np.maximum(H, 0))), 1e-6)


def test_closed_form_of_the_authors_equation() -> None:
    """Compared with the solution of the authors' `dH/dt = a/2 (S - I) H + E`, without a gradient through the source."""
    reseed(0)
    model = CGNN(IN, HIDDEN, OUT, time=3.0, alpha=0.8, step_size=0.05, reference=True).double().eval()
    edges, x = random_edges(N, 12), normal(N, IN)
    B = (normalise(adjacency(edges, N)) - np.eye(N)) / (1 + np.exp(-0.8)) / 2
    E = linear(model.encoder, x)
    whole = np.block([[B, np.eye(N)], [np.zeros((N, 2 * N))]])
    H = (expm(3.0 * whole) @ np.vstack([E, E]))[:N]
    close(model(x, edges), linear(model.head, torch.from_numpy(np.maximum(H, 0))), 1e-6)
    with torch.no_grad():
        model.head.weight.fill_(1.0)
        model.encoder.bias.fill_(9.0)  # all states are positive
    model(x, edges).sum().backward()
    pulled = expm(3.0 * B).T @ np.ones((N, HIDDEN)) * OUT
    close(model.encoder.bias.grad, pulled.sum(0), 1e-6)


def test_with_weights_the_channels_mix_too() -> None:
    """Compared with the solution of the paper's equation for all channels at once."""
    reseed(0)
    model = CGNN(IN, HIDDEN, OUT, time=2.0, alpha=0.8, step_size=0.02, weighted=True).double().eval()
    edges, x = random_edges(N, 12), normal(N, IN)
    basis, spectrum = (p.detach().numpy() for p in (model.basis, model.spectrum))
    A = 0.4 * (np.eye(N) + normalise(adjacency(edges, N)))
    W = basis @ np.diag(spectrum) @ basis.T  # an orthogonal basis stays as it is
    B = np.kron(A - np.eye(N), np.eye(HIDDEN)) + np.kron(np.eye(N), (W - np.eye(HIDDEN)).T)
    e = linear(model.encoder, x).ravel()
    h = expm(2.0 * B) @ e + np.linalg.solve(B, expm(2.0 * B) @ e - e)
    to_basis = rounding(HIDDEN, dtype=torch.float32)  # which was made orthogonal in float32
    close(model(x, edges), linear(model.head, torch.from_numpy(np.maximum(h.reshape(N, HIDDEN), 0))), to_basis)


@pytest.mark.parametrize(("setting", "value"), [("method", "rk5"), ("time", 0.0), ("alpha", 1.0)])
def test_impossible_settings(setting: str, value: object) -> None:
    with pytest.raises(GWNError):
        CGNN(IN, HIDDEN, OUT, **{setting: value})
