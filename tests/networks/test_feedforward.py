"""Encoders and heads: linear by default, layers as asked, dropout on CSR features on stored values only."""

from __future__ import annotations

import gc
import weakref

import pytest
import torch

from dense import close
from graphs import normal
from gwn import GWNError
from gwn.models import model_spec
from gwn.networks.feedforward import _MATRICES, ACTIVATIONS, FeedForward, drop_features
from gwn.sparse import SparseMatrix
from seeds import reseed


def features() -> torch.Tensor:
    x = normal(20, 30)
    x[normal(20, 30, seed=1) < 0.8] = 0.0
    return x


def stored(matrix: torch.Tensor | SparseMatrix) -> torch.Tensor:
    """The values that a sparse matrix keeps."""
    assert isinstance(matrix, SparseMatrix)
    return matrix.values


def test_one_layer_is_linear() -> None:
    network = FeedForward(3, 7, 2).double()
    (linear,) = network.layers
    close(network(normal(4, 3)), normal(4, 3) @ linear.weight + linear.bias, 1e-14)


@pytest.mark.parametrize("final", [False, True])
@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_layers_and_activations(activation: str, final: bool) -> None:
    network = FeedForward(3, 7, 2, layers=3, activation=activation, final=final, dropout=0.5).double().eval()
    assert [tuple(layer.get_parameter("weight").shape) for layer in network.layers] == [(3, 7), (7, 7), (7, 2)]
    act, hidden = ACTIVATIONS[activation], normal(4, 3)
    for number, layer in enumerate(network.layers):
        hidden = hidden @ layer.weight + layer.bias
        hidden = act(hidden) if final or number < 2 else hidden
    close(network(normal(4, 3)), hidden, 1e-13)


def test_sparse_input_is_dense_input() -> None:
    network, x = FeedForward(30, 7, 2, layers=2, activation="relu").double(), features()
    sparse = drop_features(x.to_sparse_csr(), 0.5, training=False)
    assert isinstance(sparse, SparseMatrix)
    close(network(sparse), network(x), 1e-13)


def test_dropout_touches_stored_values_only() -> None:
    reseed(0)
    x = features()
    csr = x.to_sparse_csr()
    dropped = drop_features(csr, 0.4, training=True)
    assert isinstance(dropped, SparseMatrix)
    assert dropped.values.shape == csr.values().shape
    found = dropped.csr.to_dense()
    assert not found[x == 0].any()
    kept = found != 0
    close(found[kept], x[kept] / 0.6, 2e-5)  # p is rounded to 1 / 65536
    assert 0 < int(kept.sum()) < int((x != 0).sum())
    assert torch.equal(csr.to_dense(), x), "the features themselves stay"


def test_dropout_keeps_the_expectation() -> None:
    reseed(0)
    csr = features().to_sparse_csr()
    draws = torch.stack([stored(drop_features(csr, 0.4, training=True)) for _ in range(3000)])
    assert bool(((draws.mean(0) / csr.values() - 1).abs() < 0.08).all())
    assert float((draws != 0).double().mean()) == pytest.approx(0.6, abs=0.01)


def test_nothing_is_dropped_outside_training_or_with_p_zero() -> None:
    for x in (features(), features().to_sparse_csr()):
        for p, training in ((0.5, False), (0.0, True)):
            kept = drop_features(x, p, training)
            values = kept.csr if isinstance(kept, SparseMatrix) else kept
            assert torch.equal(values.to_dense() if values.layout == torch.sparse_csr else values, features())


def test_the_sparse_features_are_prepared_once_and_freed_with_the_tensor() -> None:
    csr = features().to_sparse_csr()
    gc.collect()
    before = len(_MATRICES._entries)
    first = drop_features(csr, 0.5, training=False)
    assert drop_features(csr, 0.5, training=False) is first
    assert drop_features(csr, 0.5, training=True).pattern is first.pattern
    seen = weakref.ref(first)
    del csr, first
    gc.collect()
    assert seen() is None
    assert len(_MATRICES._entries) == before


def test_mistakes_are_named() -> None:
    with pytest.raises(GWNError, match="at least one layer; got 0"):
        FeedForward(3, 3, 3, layers=0)
    with pytest.raises(GWNError, match="unknown activation 'gelo'; did you mean 'gelu'"):
        FeedForward(3, 3, 3, activation="gelo")


def test_sparse_features_that_require_a_gradient_are_refused_and_the_advice_works() -> None:
    """Products with them have a gradient for the weights alone: without a word, theirs would be missing."""
    x = normal(6, 4).relu().to_sparse_csr().requires_grad_()
    model = model_spec("gwn-sym").build(4, 2).double()
    edges = torch.tensor([[0, 1, 2], [1, 2, 3]])
    with pytest.raises(GWNError, match=r"use x\.to_dense\(\)"):
        model(x, edges)
    with torch.no_grad():
        model(x, edges)
    dense = x.detach().to_dense().requires_grad_()
    model(dense, edges).sum().backward()
    assert dense.grad is not None
