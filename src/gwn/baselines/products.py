"""What the peers share: a matrix from its entries, a product with it, and a softmax over the edges of each node."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.utils import softmax

from gwn.adjacency import Adjacency
from gwn.baselines.node_weights import plain_adjacency
from gwn.sparse import Pattern, SparseMatrix, edge_dot, matmul, sparse_linear

SMALLEST_WEIGHT = 1e-30
"""Stands for a weight of zero where its logarithm is taken."""


def sparse_matrix(row: Tensor, col: Tensor, values: Tensor, nodes: int) -> SparseMatrix:
    """The [nodes, nodes] matrix with these entries, in whatever order they come."""
    order = torch.argsort(row * nodes + col)
    return SparseMatrix(Pattern.from_sorted(row[order], col[order], (nodes, nodes)), values[order])


def propagate(a: SparseMatrix, x: Tensor) -> Tensor:
    """`A x` for a fixed `A`, with a gradient for `x`."""
    return sparse_linear(a, x)


def edge_scores(pattern: Pattern, a: Tensor, b: Tensor) -> Tensor:
    """`<a_i, b_j>` for every entry `(i, j)`, with gradients for both and without one feature row an entry."""
    out: Tensor = _EdgeScores.apply(pattern, a.contiguous(), b.contiguous())  # type: ignore[no-untyped-call]
    return out


class _EdgeScores(torch.autograd.Function):
    """The gradients are products with the matrix of the gradient, and with its transpose."""

    @staticmethod
    def forward(ctx: Any, pattern: Pattern, a: Tensor, b: Tensor) -> Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(a, b)
        return edge_dot(pattern, a, b)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor, Tensor]:
        a, b = ctx.saved_tensors
        matrix = SparseMatrix(ctx.pattern, grad.contiguous())
        return None, matmul(matrix, b), matmul(matrix.t, a)


def edge_softmax(adjacency: Adjacency, scores: Tensor) -> Tensor:
    """`A_ij exp(s_ij) / sum_k A_ik exp(s_ik)` for scores [entries] or [entries, heads].

    Edge weights enter as factors, so that an edge of weight two counts as two; `A` must have a diagonal.
    """
    pattern = adjacency.matrix.pattern
    offset = plain_adjacency(adjacency).values.clamp_min(SMALLEST_WEIGHT).log()
    shifted = scores + (offset if scores.dim() == 1 else offset[:, None])
    out: Tensor = softmax(shifted, pattern.row.long(), num_nodes=pattern.shape[0])
    return out
