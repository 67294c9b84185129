"""Matrices of a graph, products with them, and the layers on these that several peers share."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.nn.inits import glorot
from torch_geometric.utils import softmax

from gwn.adjacency import Adjacency, adjacency_of
from gwn.dropout import dropout
from gwn.networks.feedforward import Linear
from gwn.sparse import Pattern, SparseMatrix, edge_dot, matmul, sparse_linear


def graph_of(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None, self_loops: str = "add") -> Adjacency:
    """`Â = D^-1/2 A D^-1/2` of the simple undirected graph, with one self-loop a node unless told otherwise; cached."""
    return adjacency_of(edge_index, edge_weight, x.shape[0], dtype=x.dtype, self_loops=self_loops)


def sparse_matrix(row: Tensor, col: Tensor, values: Tensor, nodes: int) -> SparseMatrix:
    """The [nodes, nodes] matrix with these entries, in whatever order they come."""
    order = torch.argsort(row * nodes + col)
    return SparseMatrix(Pattern.from_sorted(row[order], col[order], (nodes, nodes)), values[order])


def edge_ends(pattern: Pattern) -> tuple[Tensor, Tensor]:
    """Row and column of every entry, as int64: with int32 ones PyTorch takes five to twenty times as long for the
    gradient of `index_select` on the CPU."""
    return pattern.row.long(), pattern.col.long()


def attention_product(pattern: Pattern, values: Tensor, x: Tensor) -> Tensor:
    """`A x`, `A` having `values` on `pattern`; both are differentiated."""
    out: Tensor = _AttentionProduct.apply(pattern, values.contiguous(), x.contiguous())  # type: ignore[no-untyped-call]
    return out


class _AttentionProduct(torch.autograd.Function):
    """`A x` with gradients for the entries of `A` too, without one feature row per edge."""

    @staticmethod
    def forward(ctx: Any, pattern: Pattern, values: Tensor, x: Tensor) -> Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(values, x)
        return matmul(SparseMatrix(pattern, values), x)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor, Tensor]:
        values, x = ctx.saved_tensors
        grad = grad.contiguous()
        return None, edge_dot(ctx.pattern, grad, x), matmul(SparseMatrix(ctx.pattern, values).t, grad)


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


def matrix_messages(layer: nn.Module, edge_index: SparseMatrix, x: Tensor, **others: Any) -> Tensor:
    """What `propagate` of a PyG layer is when the messages are the entries of a matrix: `A x`."""
    return sparse_linear(edge_index, x)


class GCNConv(pyg.GCNConv):  # type: ignore[misc]
    """`Â (x W) + b`."""

    propagate = matrix_messages

    def __init__(self, in_channels: int, out_channels: int, bias: bool = True) -> None:
        super().__init__(in_channels, out_channels, bias=bias)
        self.lin = Linear(in_channels, out_channels, bias=False)
        glorot(self.lin.weight)

    def reset_parameters(self) -> None:
        super().reset_parameters()
        glorot(self.lin.weight)  # as PyG's own


class SAGEConv(nn.Module):
    """`P x W_neighbours + x W_self + b`, `P = D^-1 A`: PyG's `SAGEConv` with the linear map before the mean.

    The two commute, and in this order the map also takes sparse features.
    """

    def __init__(self, in_channels: int, out_channels: int, bias: bool = True) -> None:
        super().__init__()
        self.lin_l = Linear(in_channels, out_channels, bias=False)
        self.lin_r = Linear(in_channels, out_channels, bias=bias)

    def reset_parameters(self) -> None:
        self.lin_l.reset_parameters()
        self.lin_r.reset_parameters()

    def forward(self, x: Tensor | SparseMatrix, walk: SparseMatrix) -> Tensor:
        neighbours: Tensor = self.lin_l(x)
        own: Tensor = self.lin_r(x)
        return sparse_linear(walk, neighbours) + own


class GATConv(pyg.GATConv):  # type: ignore[misc]
    """`alpha_ij = softmax_j(leaky_relu(a^T [W x_i || W x_j]))` over the neighbours and the node itself, `alpha W x`.

    With edge weights, `alpha_ij` is proportional to `A_ij exp(...)`; the paper has none. `edge_index` is the graph
    with self-loops as a random walk, whose row factors the softmax cancels.
    """

    def __init__(self, in_channels: int, out_channels: int, **options: Any) -> None:
        super().__init__(in_channels, out_channels, **options)
        self.projection = Linear(in_channels, self.heads * out_channels, bias=False)
        self.lin = nn.Identity()  # PyG's forward would refuse a sparse input, so the map stands before it
        glorot(self.projection.weight)

    def reset_parameters(self) -> None:
        for parameter in (self.att_src, self.att_dst):
            glorot(parameter)
        if self.bias is not None:
            nn.init.zeros_(self.bias)
        if hasattr(self, "projection"):  # PyG's constructor calls this before there is one
            glorot(self.projection.weight)

    def forward(self, x: Tensor | SparseMatrix, walk: SparseMatrix, weighted: bool = False) -> Tensor:
        attended: Tensor = super().forward(self.projection(x), walk, walk.values.log() if weighted else None)
        return attended

    def edge_updater(
        self, edge_index: SparseMatrix, alpha: tuple[Tensor, Tensor], edge_attr: Tensor | None, **others: Any
    ) -> Tensor:
        row, col = edge_ends(edge_index.pattern)
        score = F.leaky_relu(alpha[0].index_select(0, col) + alpha[1].index_select(0, row), self.negative_slope)
        if edge_attr is not None:
            score = score + edge_attr[:, None]
        return dropout(softmax(score, row, num_nodes=edge_index.size(0)), self.dropout, self.training)

    def propagate(self, edge_index: SparseMatrix, x: tuple[Tensor, Tensor], alpha: Tensor, **others: Any) -> Tensor:
        heads = [
            attention_product(edge_index.pattern, values, part)
            for values, part in zip(alpha.unbind(1), x[0].unbind(1), strict=True)
        ]
        return torch.stack(heads, 1)
