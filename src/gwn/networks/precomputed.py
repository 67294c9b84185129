"""Training without propagating: with a fixed operator and linear encoders, the wave and the weights commute.

`X(n) = T x W0 + U x W1` (plus biases), where `T` and `U` are polynomials of S that do not change while training. So the
logits are linear in the features, and the product can be taken in the cheaper order:

    features   T x and U x once, then dense products with [f, c] matrices: no sparse product, and mini-batches;
    classes    x (W head) first, then the wave on c channels instead of d: for wide sparse features, where T x would be
               a dense [N, f] matrix.

Both are the same function as the network without dropout. Dropout here means dropping features, the same ones for all
nodes: dropout does not commute with the wave, so this is a variant of its own.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gwn.adjacency import Adjacency
from gwn.dropout import dropout_mask
from gwn.laplacians import Operator
from gwn.networks.feedforward import Linear
from gwn.schemes import Scheme, integrate
from gwn.sparse import SparseMatrix, TensorCache, lasting

BLOCK = 256
"""Feature columns propagated at a time, so that no second [N, f] matrix is needed."""


class ClassWeights(NamedTuple):
    """The whole network as three arrays: displacement and velocity [f + 1, c] (bias in the last row), and a bias."""

    displacement: Tensor
    velocity: Tensor
    bias: Tensor


def class_weights(phi0: Linear, phi1: Linear, head: Linear, p: float) -> ClassWeights:
    """`W0 head` and `W1 head`; with probability `p` a feature is dropped from both."""
    assert phi0.bias is not None
    assert phi1.bias is not None
    assert head.bias is not None
    kept = None if p == 0.0 else dropout_mask(phi0.weight.new_empty(phi0.weight.shape[0], 1), p)
    sides = []
    for encoder, offset in ((phi0, phi0.bias), (phi1, phi1.bias)):
        weight = encoder.weight @ head.weight
        sides.append(torch.cat([weight if kept is None else weight * kept, (offset @ head.weight)[None]]))
    return ClassWeights(sides[0], sides[1], head.bias)


def prefers_features(x: Tensor | SparseMatrix, steps: int, entries: int) -> bool:
    """Whether dense products with propagated features cost less than a wave on the classes, by entries touched."""
    if isinstance(x, Tensor):
        return True
    return x.pattern.shape[0] * x.pattern.shape[1] < 2 * (x.pattern.nnz + steps * entries)


def propagated_features(operator: Operator, scheme: Scheme, x: Tensor | SparseMatrix, steps: int) -> Tensor:
    """`[T x~ || U x~]`, [N, 2 (f + 1)]: the response to a displacement and to a velocity x~, which is x with a column
    of ones for the biases."""
    dense = x.csr.to_dense() if isinstance(x, SparseMatrix) else x
    dense = torch.cat([dense, dense.new_ones(dense.shape[0], 1)], dim=1)
    width = dense.shape[1]
    out = dense.new_empty(dense.shape[0], 2 * width)
    with torch.no_grad():
        for start in range(0, width, BLOCK):
            block = dense[:, start : start + BLOCK].contiguous()
            still = torch.zeros_like(block)
            for side, (displacement, velocity) in enumerate(((block, still), (still, block))):
                columns = slice(side * width + start, side * width + start + block.shape[1])
                out[:, columns] = integrate(operator, scheme, displacement, velocity, steps)
    return out


def features_times_weights(features: Tensor, weights: ClassWeights) -> Tensor:
    """Logits from propagated features."""
    tall = torch.cat([weights.displacement, weights.velocity])
    logits: Tensor = _TallProduct.apply(features, tall)  # type: ignore[no-untyped-call]
    return logits + weights.bias


class _Propagated(NamedTuple):
    """Propagated features, those of some rows, and what they were made from."""

    adjacency: Adjacency
    x: weakref.ref[Tensor]
    version: int
    features: Tensor
    of_rows: TensorCache


class FeatureCache:
    """The propagated features of the graph seen last, and those of its training rows; never saved with a model."""

    def __init__(self) -> None:
        self._known: _Propagated | None = None

    def get(self, adjacency: Adjacency, x: Tensor, rows: Tensor | None, build: Callable[[], Tensor]) -> Tensor:
        """The features of `rows`, built where graph or input are new."""
        if x.is_inference():  # see TensorCache
            features = build()
            return features if rows is None else features[rows]
        # One read and one store, so that threads that share a model never see the features of another graph.
        known, version = self._known, x._version
        if known is None or known.adjacency is not adjacency or known.x() is not x or known.version != version:
            with lasting():
                known = _Propagated(adjacency, weakref.ref(x), version, build(), TensorCache())
            self._known = known
        features = known.features
        return features if rows is None else known.of_rows.get(rows, "rows", lambda: features[rows])

    def __getstate__(self) -> dict[str, Any]:
        return {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]


def wave_of_classes(
    operator: Operator, scheme: Scheme, x: Tensor | SparseMatrix, steps: int, weights: ClassWeights
) -> Tensor:
    """Logits of all nodes by a wave on the classes."""
    both = torch.cat([weights.displacement, weights.velocity], dim=1)  # one product: it reads all of x, however narrow
    start, velocity = Linear.product(x, both[:-1], both[-1]).chunk(2, dim=1)
    return integrate(operator, scheme, start, velocity, steps) + weights.bias


class _TallProduct(torch.autograd.Function):
    """`P W` for a tall P that needs no gradient; `P^T G` as `(G^T P)^T`, which reads P in the order it is stored."""

    @staticmethod
    def forward(ctx: Any, tall: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(tall)
        return tall @ weight

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor]:
        (tall,) = ctx.saved_tensors
        return None, (grad.t().contiguous() @ tall).t()
