from __future__ import annotations

import torch
from torch_geometric.nn import GCNConv
from torch_geometric.utils import remove_self_loops, to_undirected

from dense import close
from peer import EDGES, X, normalised, output, peer, relu, weights


def test_layers_by_hand() -> None:
    model = peer("gcn", num_layers=3)
    w, S, h = weights(model), normalised(), X.numpy()
    for layer in range(3):
        h = S @ h @ w[f"convs.{layer}.lin.weight"] + w[f"convs.{layer}.bias"]
        h = relu(h) if layer < 2 else h
    close(output(model), h)


def test_a_layer_is_pygs() -> None:
    model = peer("gcn", num_layers=1)
    theirs = GCNConv(X.shape[1], 3).double()
    with torch.no_grad():
        theirs.lin.weight.copy_(model.convs[0].lin.weight.t())
        theirs.bias.copy_(model.convs[0].bias)
    simple = to_undirected(remove_self_loops(EDGES)[0], num_nodes=X.shape[0])
    close(output(model), theirs(X, simple).detach().numpy())
