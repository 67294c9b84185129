"""Row-normalised features: what they are, dense and sparse, and that every model on the shelf sees them."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from graphs import normal, random_edges, toy_graph
from gwn import GWN
from gwn.models import MODELS, model_spec
from gwn.networks.feedforward import row_normalized
from seeds import reseed

FEATURES = sorted(name for name, spec in MODELS.items() if "features" not in spec.ignores and spec.gradients)


def test_absolute_values_of_a_row_sum_to_one_and_an_empty_row_stays() -> None:
    x = torch.tensor([[1.0, -3.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 5.0]])
    expected = torch.tensor([[0.25, -0.75, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert torch.equal(row_normalized(x), expected)
    sparse = row_normalized(x.to_sparse_csr())
    assert sparse.layout == torch.sparse_csr
    assert torch.equal(sparse.to_dense(), expected)


def test_computed_once_for_a_tensor_and_again_when_it_changes() -> None:
    x = torch.rand(4, 3)
    assert row_normalized(x) is row_normalized(x)
    x[0, 0] += 1
    assert torch.allclose(row_normalized(x).sum(1), torch.ones(4))


def test_gradients_reach_the_features() -> None:
    x = normal(4, 3).requires_grad_()
    assert torch.autograd.gradcheck(row_normalized, (x,))


@pytest.mark.parametrize("name", FEATURES)
def test_every_model_sees_them(name: str) -> None:
    """The plain network on normalised features is the normalising one on features of any size, dense or sparse."""
    edges, x = random_edges(12, 20), normal(12, 5).abs()

    def logits(given: torch.Tensor, **settings: Any) -> torch.Tensor:
        reseed(0)
        narrow = {"hidden_channels": 16} if "hidden_channels" in model_spec(name).defaults() else {}
        model = model_spec(name).build(5, 3, **narrow, **settings).double().eval()
        model(given, edges)  # some weights are made in the first pass
        reseed(0)
        for parameter in model.parameters():
            torch.nn.init.uniform_(parameter, -0.5, 0.5)
        return model(given, edges)

    expected = logits(row_normalized(x), row_normalize=False)
    assert torch.allclose(logits(7 * x, row_normalize=True), expected, atol=1e-5)
    assert torch.allclose(logits(x.to_sparse_csr(), row_normalize=True), expected, atol=1e-5)
    assert not torch.allclose(logits(7 * x, row_normalize=False), expected, atol=1e-3)


def test_wave_networks_see_them_precomputed_too() -> None:
    graph = toy_graph(20)
    plain = GWN(graph.num_features, 4, graph.num_classes, row_normalize=True, dropout=0.0).eval()
    fast = GWN(graph.num_features, 4, graph.num_classes, row_normalize=True, dropout=0.0, precompute=True).eval()
    fast.load_state_dict(plain.state_dict())
    expected = plain.double()(graph.x.double(), graph.edge_index)
    assert torch.allclose(fast.double()(graph.x.double(), graph.edge_index), expected, atol=1e-5)
