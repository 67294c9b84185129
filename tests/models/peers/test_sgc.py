from __future__ import annotations

import numpy as np
import torch
from torch_geometric.nn import SGConv

from dense import close
from gwn.models import model_spec
from gwn.models.peers.layers import graph_of
from peer import EDGES, IN, OUT, X, normalised, output, peer, weights


def test_powers_by_hand() -> None:
    model = peer("sgc", hops=3)
    w = weights(model)
    close(output(model), np.linalg.matrix_power(normalised(), 3) @ X.numpy() @ w["linear.weight"] + w["bias"])


def test_it_is_the_layer_of_pyg() -> None:
    model, theirs = peer("sgc"), SGConv(IN, OUT, K=2).double()
    with torch.no_grad():
        theirs.lin.weight.copy_(model.linear.weight.t())
        theirs.lin.bias.copy_(model.bias)
    close(output(model), theirs(X, graph_of(X, EDGES, None, self_loops="none").edge_index))


def test_it_is_a_logistic_regression() -> None:
    assert "hidden_channels" not in model_spec("sgc").settings()
    assert sum(p.numel() for p in model_spec("sgc").build(1433, 7).parameters()) == 1434 * 7
