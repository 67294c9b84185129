"""Ordered GNN: gates that only ever close, on dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dense import Matrix, adjacency, close, linear
from graphs import normal, random_edges
from gwn import GWNError
from gwn.models.peers.ordered_gnn import OrderedGNN
from seeds import reseed

N, IN, HIDDEN, OUT = 8, 5, 6, 3


def norm(layer: torch.nn.LayerNorm, x: Matrix) -> Matrix:
    centred = x - x.mean(1, keepdims=True)
    unit = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
    return unit * layer.weight.detach().numpy() + layer.bias.detach().numpy()


@pytest.mark.parametrize("shared", [False, True])
def test_three_layers(shared: bool) -> None:
    """Compared with the paper's formula on dense matrices, which the authors' code computes too."""
    reseed(0)
    model = OrderedGNN(IN, HIDDEN, OUT, num_layers=3, gate_width=2, shared_gate=shared).double().eval()
    with torch.no_grad():
        for layer in (model.start, *model.norms):
            layer.weight.normal_()
            layer.bias.normal_()
    edges, x = random_edges(N, 12), normal(N, IN)
    A = adjacency(edges, N)
    P = A / np.maximum(A.sum(1, keepdims=True), 1)
    h = norm(model.start, np.maximum(linear(model.encoder, x), 0))
    g = np.zeros((N, 3))
    for number in range(3):
        m = P @ h
        score = np.exp(linear(model.gates[0 if shared else number], torch.from_numpy(np.hstack([h, m]))))
        g = g + (1 - g) * np.cumsum(score / score.sum(1, keepdims=True), 1)
        wide = np.repeat(g, 2, axis=1)
        h = norm(model.norms[number], wide * h + (1 - wide) * m)
    close(model(x, edges), linear(model.head, torch.from_numpy(h)), 1e-11)


def test_gates_must_fit() -> None:
    with pytest.raises(GWNError, match="multiple of gate_width"):
        OrderedGNN(IN, 6, OUT, gate_width=4)


def test_the_authors_code_drops_what_the_head_sees_at_the_rate_of_the_input() -> None:
    """Compared with the authors' code as it was read."""
    edges, x = random_edges(N, 12), normal(N, IN)
    for reference, drops in ((False, True), (True, False)):
        reseed(0)
        model = OrderedGNN(IN, HIDDEN, OUT, num_layers=1, gate_width=2, input_dropout=0.0, reference=reference).double()
        model.dropout = 0.0
        once, again = (model.train()(x, edges) for _ in range(2))
        assert torch.equal(once, again) is not drops
