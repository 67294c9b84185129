"""NSD (Bodnar et al., NeurIPS 2022): neural sheaf diffusion."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.adjacency import Adjacency
from gwn.dropout import dropout
from gwn.errors import GWNError
from gwn.models.peers.layers import graph_of
from gwn.networks.feedforward import Linear, drop_features
from gwn.registry import require_known


class NSD(nn.Module):
    """`X(t+1) = (1 + e) X(t) - elu(Δ_F(t) (I ⊗ W1) X(t) W2)` on states of `stalk` x `hidden_channels` numbers a node.

    `Δ_F = (D + I)^-1/2 L_F (D + I)^-1/2` with `(L_F x)_v = sum_u A_vu F_v^T (F_v x_v - F_u x_u)`, `D` the diagonal
    blocks of `L_F`. The maps of an edge are learned from the states at its ends, `F_v = tanh(V [x_v || x_u])`: maps
    "diagonal" (Diag-NSD) or "orthogonal" (O(d)-NSD: the exponential of a skew-symmetric matrix; paper and code have
    Householder products, and so does `reference`, the default on the shelf; for diagonal maps it is the same). `e` in
    (-1, 1) is learned, one a layer and stalk dimension. Defaults are the authors' for Texas (run_texas.sh): stalk 3,
    four layers, 20 channels, elu, dropout 0.7 behind the encoder, on what is diffused and (from the second layer on) on
    what the maps are learned from, none on the input; learning rate 0.02, weight decay 5e-3. Choices: diagonal maps as
    the plain ones; a new sheaf in every layer; `W1` starts near the identity; with orthogonal maps, no learned edge
    weights and no other learner for sparse features, which their code has beside the Householder products.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        maps: str = "diagonal",
        stalk: int = 3,
        num_layers: int = 4,
        input_dropout: float = 0.0,
        dropout: float = 0.7,
        reference: bool = False,
    ) -> None:
        super().__init__()
        require_known("kind of sheaf maps", maps, ("diagonal", "orthogonal"))
        if stalk < 1 or (maps == "orthogonal" and stalk < 2):
            raise GWNError(f"stalk must be at least 1, and 2 for orthogonal maps; got {stalk}")
        self.maps, self.stalk, self.input_dropout, self.dropout = maps, stalk, input_dropout, dropout
        self.reference = reference
        wide, free = stalk * hidden_channels, stalk if maps == "diagonal" else stalk * (stalk - 1) // 2
        self.encoder = Linear(in_channels, wide)
        self.own = nn.ModuleList(Linear(wide, free, bias=False) for _ in range(num_layers))
        self.other = nn.ModuleList(Linear(wide, free, bias=False) for _ in range(num_layers))
        self.left = nn.ParameterList(nn.Parameter(torch.empty(stalk, stalk)) for _ in range(num_layers))
        self.right = nn.ModuleList(Linear(hidden_channels, hidden_channels, bias=False) for _ in range(num_layers))
        self.keep = nn.ParameterList(nn.Parameter(torch.empty(stalk, 1)) for _ in range(num_layers))
        self.head = Linear(wide, out_channels)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for module in (self.encoder, *self.own, *self.other, self.head):
            module.reset_parameters()
        for left, right, keep in zip(self.left, self.right, self.keep, strict=True):
            nn.init.normal_(left, std=0.1)
            left.data += torch.eye(self.stalk, dtype=left.dtype, device=left.device)
            nn.init.orthogonal_(right.weight)  # type: ignore[arg-type]
            nn.init.zeros_(keep)

    def restriction(self, own: Tensor, other: Tensor) -> Tensor:
        """`F_v` of every edge, as a diagonal [E, stalk] or as matrices [E, stalk, stalk]."""
        free = torch.tanh(own + other)
        if self.maps == "diagonal":
            return free
        row, col = torch.tril_indices(self.stalk, self.stalk, -1)
        skew = free.new_zeros(len(free), self.stalk, self.stalk)
        skew[:, row, col] = free
        if self.reference:
            below = skew + torch.eye(self.stalk, dtype=free.dtype, device=free.device)
            reflected: Tensor = torch.linalg.householder_product(below, 2 / below.square().sum(1))
            return reflected
        return torch.matrix_exp(skew - skew.transpose(1, 2))

    def laplacian(self, layer: int, state: Tensor, mixed: Tensor, graph: Adjacency) -> Tensor:
        """`Δ_F` of the sheaf that `state` [N, stalk hidden] gives, times `mixed` [N, stalk, hidden]."""
        pattern = graph.matrix.pattern
        edge = graph.is_edge.nonzero().squeeze(1)
        v, u = pattern.row[edge].long(), pattern.col[edge].long()
        weight = graph.plain.values[edge, None]
        own, other = self.own[layer](state), self.other[layer](state)
        at_v, at_u = self.restriction(own[v], other[u]), self.restriction(own[u], other[v])
        if self.maps == "diagonal":
            degree = state.new_zeros(len(state), self.stalk).index_add(0, v, weight * at_v.square())
            moved = (weight * at_v * at_u)[:, :, None]
        else:
            degree = graph.degree[:, None].expand(-1, self.stalk)
            moved = weight[:, :, None] * (at_v.transpose(1, 2) @ at_u)
        scale = (degree + 1).rsqrt()[:, :, None]
        there = (scale * mixed)[u]
        message = moved * there if self.maps == "diagonal" else moved @ there
        total = degree[:, :, None] * scale * mixed - torch.zeros_like(mixed).index_add(0, v, message)
        return scale * total

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        graph = graph_of(x, edge_index, edge_weight, self_loops="none")
        state = F.elu(self.encoder(drop_features(x, self.input_dropout, self.training)))
        state = dropout(state, self.dropout, self.training)
        for layer, (left, right, keep) in enumerate(zip(self.left, self.right, self.keep, strict=True)):
            blocks = state.view(len(state), self.stalk, -1)
            dropped = dropout(blocks, self.dropout, self.training)
            mixed = left @ right(dropped.flatten(0, 1)).view_as(blocks)
            seen = dropout(state, self.dropout if layer > 0 else 0.0, self.training)
            change = F.elu(self.laplacian(layer, seen, mixed, graph))
            state = ((1 + torch.tanh(keep)) * blocks - change).flatten(1)
        logits: Tensor = self.head(state)
        return logits
