from __future__ import annotations

import numpy as np
import torch
from torch_geometric.nn import MixHopConv

from dense import close
from gwn.models.peers.layers import graph_of
from gwn.models.peers.mixhop import MixHopLayer
from peer import EDGES, HIDDEN, IN, X, normalised, output, peer, relu, weights


def test_two_layers_of_three_powers_by_hand() -> None:
    """Compared with the paper's formula on dense matrices; the authors' code was read in part."""
    model = peer("mixhop")
    w, h, S = weights(model), X.numpy(), normalised()
    for layer in range(2):
        parts = np.split(w[f"convs.{layer}.linear.weight"], 3, 1)
        powers = [np.linalg.matrix_power(S, p) @ h @ part for p, part in enumerate(parts)]
        h = relu(np.concatenate(powers, 1) + w[f"convs.{layer}.bias"])
    close(output(model), h @ w["head.weight"] + w["head.bias"])


def test_the_layer_is_the_one_of_pyg() -> None:
    """Compared with PyG's MixHopConv."""
    ours, theirs = MixHopLayer(IN, HIDDEN, 2).double(), MixHopConv(IN, HIDDEN, powers=[0, 1, 2]).double()
    with torch.no_grad():
        for lin, part in zip(theirs.lins, ours.linear.weight.chunk(3, 1), strict=True):
            lin.weight.copy_(part.t())
    graph = graph_of(X, EDGES, None, self_loops="none")
    close(ours(X, graph_of(X, EDGES, None).matrix), theirs(X, graph.edge_index))
