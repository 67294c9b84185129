"""AIR: the adaptive initial residual, on dense matrices."""

from __future__ import annotations

import numpy as np
import torch

from dense import adjacency, close, linear, normalise
from graphs import normal, random_edges
from gwn.models.peers.air import AIR
from seeds import reseed

N, IN, HIDDEN, OUT = 8, 5, 4, 3


def test_each_node_decides_how_much_of_its_first_state_to_take_back() -> None:
    """Compared with the paper's formula on dense matrices, which the authors' code computes too."""
    reseed(0)
    model = AIR(IN, HIDDEN, OUT, num_layers=3).double().eval()
    edges, x = random_edges(N, 12), normal(N, IN)
    S = normalise(adjacency(edges, N, loops="add"))
    first = H = S @ linear(model.first, x)
    for layer in model.layers:
        a = 1 / (1 + np.exp(-linear(model.gate, torch.from_numpy(np.hstack([H, first])))))
        H = S @ linear(layer, torch.from_numpy(np.maximum((1 - a) * H + a * first, 0)))
    close(model(x, edges), linear(model.head, torch.from_numpy(np.maximum(H, 0))), 1e-11)


def test_one_layer_has_nothing_to_take_back() -> None:
    model = AIR(IN, HIDDEN, OUT, num_layers=1)
    model.reset_parameters()
    assert model(normal(N, IN).float(), random_edges(N, 12)).shape == (N, OUT)
