"""A network takes an `Adjacency` wherever it takes edges: the same numbers, and mistakes are named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from graphs import normal, random_edges
from gwn.adjacency import Adjacency, normalised_adjacency
from gwn.errors import GWNError
from gwn.networks import GWN, WaveConv
from seeds import reseed

NODES = 12
SETTINGS: dict[str, dict[str, Any]] = {
    "sym": {},
    "fa, directed": {"laplacian": "fa", "directed": True, "self_loops": "add"},
    "precomputed": {"laplacian": "physical", "precompute": True},
}


def some_graph() -> tuple[Tensor, Tensor, Tensor]:
    return normal(NODES, 4, dtype=torch.float32), random_edges(NODES, 30), normal(30, dtype=torch.float32).abs()


@pytest.mark.parametrize("name", SETTINGS)
def test_the_same_logits_as_from_the_edges(name: str) -> None:
    x, edges, weight = some_graph()
    model, rows = GWN(4, 5, 3, **SETTINGS[name]), torch.tensor([7, 2])
    options: dict[str, Any] = {"directed": model.directed, "self_loops": model.self_loops}
    adjacency = normalised_adjacency(edges, weight, NODES, **options)
    for chosen in (None, rows):
        reseed(1)
        from_edges = model(x, edges, weight, rows=chosen)
        reseed(1)
        assert torch.equal(model(x, adjacency, rows=chosen), from_edges)
    assert torch.equal(model.trajectory(x, adjacency), model.trajectory(x, edges, weight))


def test_attention_of_an_adjacency() -> None:
    x, edges, weight = some_graph()
    model = GWN(4, 5, 3, laplacian="fa")
    for found, wanted in zip(
        model.attention(x, normalised_adjacency(edges, weight, NODES)), model.attention(x, edges, weight), strict=True
    ):
        assert torch.equal(found, wanted)


def test_a_layer_takes_one_too() -> None:
    x, edges, weight = some_graph()
    layer = WaveConv(4)
    assert torch.equal(layer(x, normalised_adjacency(edges, weight, NODES)), layer(x, edges, edge_weight=weight))


def test_numbered_nodes_keep_their_dropout_whatever_rows_are_at_hand() -> None:
    """Two graphs side by side, as one and each on its own: what processes that share a graph rely on."""
    x, edges, _ = some_graph()
    model = GWN(4, 5, 3, encoder_layers=2, head_layers=2, activation="relu")
    both = normalised_adjacency(torch.cat([edges, edges + NODES], dim=1), None, 2 * NODES)
    second = replace(normalised_adjacency(edges, None, NODES), node_numbers=torch.arange(NODES, 2 * NODES))
    for features in (torch.cat([x, 2 * x]), torch.cat([x, 2 * x]).to_sparse_csr()):
        reseed(3)
        whole = model(features, replace(both, node_numbers=torch.arange(2 * NODES)))
        own = 2 * x if features.layout == torch.strided else (2 * x).to_sparse_csr()
        reseed(3)
        part = model(own, second, rows=torch.tensor([3, 5]))
        torch.testing.assert_close(part, whole[NODES + torch.tensor([3, 5])])
        assert not torch.allclose(model(own, second), whole[NODES:])  # another call draws anew


def wrong() -> dict[str, tuple[Adjacency, str]]:
    edges = random_edges(NODES, 30)
    here = normalised_adjacency(edges, None, NODES)
    elsewhere = replace(here, matrix=here.matrix.with_values(here.matrix.values.to("meta")))
    return {
        "size": (normalised_adjacency(edges, None, NODES + 1), "has 13 nodes and x has 12 rows"),
        "dtype": (normalised_adjacency(edges, None, NODES, dtype=torch.float64), "build it in torch.float32"),
        "directed": (normalised_adjacency(edges, None, NODES, directed=True), "this network has directed=False"),
        "loops": (normalised_adjacency(edges, None, NODES, self_loops="add"), "self_loops='none'"),
        "device": (elsewhere, "build it on cpu"),
    }


@pytest.mark.parametrize("mistake", ["size", "dtype", "directed", "loops", "device"])
def test_another_adjacency_than_the_network_wants_is_refused(mistake: str) -> None:
    adjacency, message = wrong()[mistake]
    with pytest.raises(GWNError, match=message):
        GWN(4, 5, 3)(some_graph()[0], adjacency)


def test_weights_beside_an_adjacency_are_refused() -> None:
    x, edges, weight = some_graph()
    with pytest.raises(GWNError, match="leave out edge_weight"):
        GWN(4, 5, 3)(x, normalised_adjacency(edges, None, NODES), weight)
