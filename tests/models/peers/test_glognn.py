"""GloGNN: the N x N coefficient matrix `Z` itself, and that it solves the problem it is defined by."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dense import Matrix, adjacency, close, linear
from graphs import normal, random_edges
from gwn import GWNError
from gwn.models.peers.glognn import GloGNN
from seeds import reseed

N, IN, HIDDEN, OUT, G, B1, B2, D = 10, 5, 4, 3, 0.3, 0.7, 1.9, 0.6


def build() -> GloGNN:
    reseed(0)
    model = GloGNN(IN, HIDDEN, OUT, powers=3, gamma=G, beta1=B1, beta2=B2, delta=D).double().eval()
    model(normal(N, IN), random_edges(N, 14))
    with torch.no_grad():
        model.hops.uniform_(-1, 1)
    return model


def coefficients(H: Matrix, H0: Matrix, P: Matrix) -> Matrix:
    top = (1 - G) * H @ H.T + B2 * P - G * (1 - G) * H0 @ H.T
    return top @ np.linalg.inv((1 - G) ** 2 * H @ H.T + (B1 + B2) * np.eye(N))


def test_two_layers_with_the_whole_matrix() -> None:
    """Compared with the paper's formula with the whole N x N matrix, which the authors' code computes too."""
    model, edges, x = build(), random_edges(N, 14), normal(N, IN)
    A, hops = adjacency(edges, N, loops="add"), model.hops.detach().numpy() + 1 / 3
    walk = A / A.sum(1, keepdims=True)
    P = sum(hops[k] * np.linalg.matrix_power(walk, k + 1) for k in range(3))
    nodes = walk @ model.nodes.weight.detach().numpy() + model.nodes.bias.detach().numpy()
    hidden = D * linear(model.features, x) + (1 - D) * nodes
    H = H0 = linear(model.head, torch.from_numpy(np.maximum(hidden, 0)))
    for _ in range(2):
        H = (1 - G) * coefficients(H, H0, P) @ H + G * H0
    close(model(x, edges), H, 1e-11)


def test_the_coefficients_minimise_the_papers_objective() -> None:
    """Compared with the paper's objective, of which they are the minimum."""
    H, H0, P = (normal(N, size, seed=seed).numpy() for seed, size in enumerate((OUT, OUT, N)))

    def objective(Z: Matrix) -> float:
        misfit = H - (1 - G) * Z @ H - G * H0
        return float((misfit**2).sum() + B1 * (Z**2).sum() + B2 * ((Z - P) ** 2).sum())

    Z = coefficients(H, H0, P)
    for seed in range(5):
        assert objective(Z + 1e-3 * normal(N, N, seed=seed).numpy()) > objective(Z)


def test_renumbering_the_nodes_along_with_their_weights() -> None:
    model, edges, x = build(), random_edges(N, 14), normal(N, IN)
    logits = model(x, edges)
    order = torch.randperm(N, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        model.nodes.weight.copy_(model.nodes.weight[order].clone())
    close(model(x[order], torch.argsort(order)[edges]), logits[order], 1e-11)


def test_without_node_weights_any_graph_will_do() -> None:
    model = GloGNN(IN, HIDDEN, OUT, delta=1.0)
    for nodes in (4, 7):
        assert model(normal(nodes, IN).float(), random_edges(nodes, 9)).shape == (nodes, OUT)


@pytest.mark.parametrize(("setting", "value"), [("powers", 0), ("beta2", 0.0), ("gamma", 1.0), ("delta", 1.5)])
def test_impossible_settings(setting: str, value: float) -> None:
    with pytest.raises(GWNError, match=setting):
        GloGNN(IN, HIDDEN, OUT, **{setting: value})
