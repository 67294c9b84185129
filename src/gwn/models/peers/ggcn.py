"""GGCN (Yan et al., ICDM 2022)."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.adjacency import Adjacency
from gwn.dropout import dropout
from gwn.errors import GWNError
from gwn.models.peers.layers import attention_product, edge_scores, graph_of
from gwn.networks.feedforward import Linear, drop_features
from gwn.sparse import SparseMatrix


class SignedLayer(nn.Module):
    """`a (b0 Z + b1 (P ⊙ T ⊙ Â) Z + b2 (N ⊙ T ⊙ Â) Z)`, `Z = H W + c`.

    `P` and `N` are the positive and the negative part of the cosines of `Z_i` and `Z_j`, the diagonal left out;
    `T_ij = softplus(u (sqrt(d_j / d_i) - 1) + v)` corrects for degrees; `a = softplus(.)`, `b = softmax(.)`.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.linear = Linear(in_channels, out_channels)
        self.degree = nn.Parameter(torch.empty(2))
        self.share = nn.Parameter(torch.empty(3))
        self.scale = nn.Parameter(torch.empty(()))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        self.linear.reset_parameters()
        for parameter in (self.degree, self.share, self.scale):
            nn.init.zeros_(parameter)

    def forward(self, h: Tensor | SparseMatrix, graph: Adjacency) -> Tensor:
        z: Tensor = self.linear(h)
        pattern, root = graph.matrix.pattern, graph.degree.sqrt()
        ratio = root.index_select(0, pattern.col) / root.index_select(0, pattern.row) - 1
        unit = F.normalize(z, dim=1)
        cosine = edge_scores(pattern, unit, unit)
        share = torch.softmax(self.share, 0)
        signed = share[1] * F.relu(cosine) - share[2] * F.relu(-cosine)
        correction = F.softplus((0.5 + self.degree[0]) * ratio + self.degree[1])
        values = signed * correction * graph.matrix.values * (pattern.row != pattern.col)
        return F.softplus(2.0 + self.scale) * (share[0] * z + attention_product(pattern, values, z))


class GGCN(nn.Module):
    """`H(l+1) = H(l) + e_l elu(layer(H(l)))`, `e_1 = 1`, `e_l = log(decay / l^exponent + 1)`, with signed layers.

    `H(1) = elu(layer(x)) + elu(x W + c)`; the last layer gives the logits. `Â = D~^-1/2 (A + I) D~^-1/2`. Defaults are
    the authors' for Cora (table_1_GGCN.sh): 32 layers of 16 channels, decay 0.9, exponent 3, dropout 0.5, weight decay
    1e-3; where `u`, `v` and the scale start (0.5, 0, 2) is theirs too. `reference`, the default on the shelf, has
    `(l + 1)^exponent` in the steps after the first, as their code does; with two layers there is none.
    `reference=false` is the paper's, as above.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 32,
        decay: float = 0.9,
        exponent: float = 3.0,
        dropout: float = 0.5,
        reference: bool = False,
    ) -> None:
        super().__init__()
        if not decay > 0:
            raise GWNError(f"decay must be positive; got {decay}")
        self.decay, self.exponent, self.dropout = decay, exponent, dropout
        self.first = 1 if reference else 0
        widths = [in_channels, *[hidden_channels] * (num_layers - 1)]
        outs = [*[hidden_channels] * (num_layers - 1), out_channels]
        self.layers = nn.ModuleList(SignedLayer(a, b) for a, b in zip(widths, outs, strict=True))
        self.encoder = Linear(in_channels, hidden_channels) if num_layers > 1 else None

    def reset_parameters(self) -> None:
        for layer in (*self.layers, self.encoder):
            if layer is not None:
                layer.reset_parameters()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        graph = graph_of(x, edge_index, edge_weight)
        features = drop_features(x, self.dropout, self.training)
        inner: Tensor = self.layers[0](features, graph)
        hidden = None if self.encoder is None else F.elu(self.encoder(features))
        for number, layer in enumerate(list(self.layers)[1:], start=1):
            assert hidden is not None
            step = 1.0 if number == 1 else math.log(self.decay / (number + self.first) ** self.exponent + 1.0)
            hidden = hidden + step * dropout(F.elu(inner), self.dropout, self.training)
            inner = layer(hidden, graph)
        return inner
