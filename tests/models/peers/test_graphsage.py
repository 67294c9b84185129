from __future__ import annotations

import torch
from torch_geometric.nn import SAGEConv

from dense import close
from gwn.models.peers.layers import SAGEConv as Ours
from gwn.models.peers.layers import graph_of
from peer import EDGES, IN, X, output, peer, relu, walk, weights


def test_two_layers_by_hand() -> None:
    model = peer("graphsage")
    w, h, P = weights(model), X.numpy(), walk("none")
    for layer in range(2):
        left, right, bias = (w[f"convs.{layer}.{part}"] for part in ("lin_l.weight", "lin_r.weight", "lin_r.bias"))
        h = P @ h @ left + h @ right + bias
        h = relu(h) if layer == 0 else h
    close(output(model), h)


def test_hidden_rows_have_length_one() -> None:
    model = peer("graphsage", normalize=True)
    scaled = peer("graphsage", normalize=True)
    with torch.no_grad():
        for parameter in scaled.convs[0].parameters():
            parameter.mul_(7.0)
    close(output(scaled), output(model))


def test_the_layer_is_the_one_of_pyg() -> None:
    ours, theirs = Ours(IN, 5).double(), SAGEConv(IN, 5).double()
    with torch.no_grad():
        theirs.lin_l.weight.copy_(ours.lin_l.weight.t())
        theirs.lin_r.weight.copy_(ours.lin_r.weight.t())
        theirs.lin_l.bias.copy_(ours.lin_r.bias)
    graph = graph_of(X, EDGES, None, self_loops="none")
    close(ours(X, graph.random_walk.matrix), theirs(X, graph.edge_index))
