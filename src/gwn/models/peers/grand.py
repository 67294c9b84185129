"""GRAND (Chamberlain et al., ICML 2021)."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.utils import softmax

from gwn.adjacency import Adjacency, normalised_adjacency
from gwn.dropout import dropout
from gwn.errors import GWNError
from gwn.models.peers.gdc import diffusion_matrix
from gwn.models.peers.layers import attention_product, edge_scores, graph_of
from gwn.models.peers.ode import check_solver, solve, solve_linear
from gwn.models.peers.precompute_cache import cached_by_graph
from gwn.networks.feedforward import Linear, drop_features
from gwn.registry import require_known

VARIANTS = ("linear", "nonlinear", "rewired")
SMALLEST_WEIGHT = 1e-30
"""Stands for a weight of zero where its logarithm is taken."""


class GRAND(nn.Module):
    """`dX/dt = s (A(X) - I) X + b X(0)`, `X(0) = x W + c`, logits from `relu(X(T))`.

    `A(X)_ij = mean_k softmax_j (K_k x_i . Q_k x_j / sqrt(d))` over neighbours and the node itself, heads `k`; edge
    weights multiply inside the softmax. `s = sigmoid(.)` and `b` are learned numbers that start at 1/2 and 0. variant
    "linear" takes `A(X(0))` throughout (GRAND-l), "nonlinear" `A(X(t))` (GRAND-nl), "rewired" is the nonlinear one on
    the edges that personalised PageRank keeps (GRAND-nl-rw; `ppr_alpha`, `k` largest a node), each counted once, as the
    authors' `reweight_attention` is off. Defaults are the authors' for Cora (best_params.py of graph-neural-pde): time
    18.29, 8 heads of 16, 80 channels, dropout 0.5 and 0.047, learning rate 0.023 and weight decay 0.0051 (theirs of
    Adamax). Choices: rk4 with step 1, their fixed-step setting, instead of dopri5, whose steps depend on all nodes
    together; no biases in `K` and `Q` (that of `Q` would cancel in the softmax), which start as other maps do and not
    at their 1e-5. `reference`, the default on
    the shelf, is the attention of their code for Cora, `squareplus` in the place of `exp` and columns that sum to one,
    see `column_squareplus`; `reference=false` is the paper's, as above.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        variant: str = "linear",
        time: float = 18.29,
        method: str = "rk4",
        step_size: float = 1.0,
        tolerance: float = 1e-4,
        heads: int = 8,
        attention_dim: int = 128,
        k: int = 64,
        ppr_alpha: float = 0.05,
        input_dropout: float = 0.5,
        dropout: float = 0.047,
        reference: bool = False,
    ) -> None:
        super().__init__()
        require_known("variant of grand", variant, VARIANTS)
        check_solver(method, time, step_size)
        if heads < 1 or attention_dim % heads:
            raise GWNError(f"attention_dim must be a multiple of heads; got {attention_dim} and {heads}")
        self.variant, self.solver, self.heads = variant, (time, method, step_size, tolerance), heads
        self.k, self.ppr_alpha = k, ppr_alpha
        self.input_dropout, self.dropout, self.reference = input_dropout, dropout, reference
        self.encoder = Linear(in_channels, hidden_channels)
        self.key = Linear(hidden_channels, attention_dim, bias=False)
        self.query = Linear(hidden_channels, attention_dim, bias=False)
        self.scale = nn.Parameter(torch.empty(()))
        self.source = nn.Parameter(torch.empty(()))
        self.head = Linear(hidden_channels, out_channels)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for layer in (self.encoder, self.key, self.query, self.head):
            layer.reset_parameters()
        nn.init.zeros_(self.scale)
        nn.init.zeros_(self.source)

    def edges(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> Adjacency:
        """The graph with self-loops, rewired if so asked."""
        nodes = x.shape[0]
        if self.variant != "rewired":
            return graph_of(x, edge_index, edge_weight)

        def build() -> Adjacency:
            kept = diffusion_matrix(edge_index, edge_weight, nodes, x.dtype, "ppr", self.ppr_alpha, self.k)
            pairs = torch.stack([kept.pattern.col, kept.pattern.row]).long()
            return normalised_adjacency(pairs, None, nodes, dtype=x.dtype, directed=True, self_loops="add")

        return cached_by_graph(edge_index, edge_weight, ("grand", nodes, x.dtype, self.ppr_alpha, self.k), build)

    def attention(self, x: Tensor, graph: Adjacency) -> Tensor:
        """The mean attention of every edge."""
        pattern = graph.matrix.pattern
        keys, queries = (part.chunk(self.heads, dim=1) for part in (self.key(x), self.query(x)))
        scores = [edge_scores(pattern, key, query) for key, query in zip(keys, queries, strict=True)]
        normalise = column_squareplus if self.reference else edge_softmax
        return normalise(graph, torch.stack(scores, 1) / keys[0].shape[1] ** 0.5).mean(1)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        graph = self.edges(x, edge_index, edge_weight)
        start: Tensor = self.encoder(drop_features(x, self.input_dropout, self.training))
        scale, pattern = torch.sigmoid(self.scale), graph.matrix.pattern

        def speed(_: Tensor, h: Tensor) -> Tensor:
            return scale * (attention_product(pattern, self.attention(h, graph), h) - h) + self.source * start

        if self.variant == "linear":
            product = partial(attention_product, pattern, self.attention(start, graph))
            end = solve_linear(product, start, (scale, -scale, self.source), *self.solver)
        else:
            end = solve(speed, start, *self.solver)
        logits: Tensor = self.head(dropout(F.relu(end), self.dropout, self.training))
        return logits


def column_squareplus(adjacency: Adjacency, scores: Tensor) -> Tensor:
    """`A_ij f(s_ij) / sum_k A_kj f(s_kj)` for scores [entries, heads], `f(s) = z/2 + sqrt(z²/4 + 1)`, `z = s - max`.

    As `z <= 0`, the two terms cancel: `1 / (sqrt(z²/4 + 1) - z/2)` is the same and keeps its digits.
    """
    pattern = adjacency.matrix.pattern
    z = scores - scores.max()
    grown = adjacency.plain.values[:, None] / (torch.sqrt(z.square() / 4 + 1) - z / 2)
    column = pattern.col.long()
    total = grown.new_zeros(pattern.shape[1], grown.shape[1]).index_add(0, column, grown)
    return grown / total.index_select(0, column)


def edge_softmax(adjacency: Adjacency, scores: Tensor) -> Tensor:
    """`A_ij exp(s_ij) / sum_k A_ik exp(s_ik)` for scores [entries] or [entries, heads].

    Edge weights enter as factors, so that an edge of weight two counts as two; `A` must have a diagonal.
    """
    pattern = adjacency.matrix.pattern
    offset = adjacency.plain.values.clamp_min(SMALLEST_WEIGHT).log()
    shifted = scores + (offset if scores.dim() == 1 else offset[:, None])
    out: Tensor = softmax(shifted, pattern.row.long(), num_nodes=pattern.shape[0])
    return out
