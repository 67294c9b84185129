"""Weights for the nodes of one graph: drawn with the first graph, kept in the state."""

from __future__ import annotations

import torch

from gwn.adjacency import normalised_adjacency
from gwn.networks.node_weights import NodeWeights


def test_the_state_before_the_first_graph_can_be_restored_after_it() -> None:
    matrix = normalised_adjacency(torch.tensor([[0, 1], [1, 2]]), None, 3).matrix
    layer = NodeWeights(4)
    first = {name: tensor.clone() for name, tensor in layer.state_dict().items()}
    drawn = layer(matrix)
    after = {name: tensor.clone() for name, tensor in layer.state_dict().items()}
    layer.load_state_dict(first)
    assert layer.weight.shape == (0, 4)
    assert torch.equal(layer(matrix), drawn)
    other = NodeWeights(4)
    other.load_state_dict(after)
    assert torch.equal(other(matrix), drawn)
