"""ACM-GCN and ACM-GCN+ (Luan et al., NeurIPS 2022)."""

from __future__ import annotations

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.dropout import dropout
from gwn.models.peers.layers import graph_of
from gwn.networks.feedforward import Linear, drop_features
from gwn.networks.node_weights import NodeWeights
from gwn.sparse import SparseMatrix, sparse_linear


class ACMLayer(nn.Module):
    """`sum_c alpha_c H_c`, `alpha = softmax(sigmoid([H_c w_c]_c) W_mix / C)` for every node, over `C` channels.

    `H_low = relu(P x W_low)`, `H_high = relu((I - P) x W_high)`, `H_identity = relu(x W_identity)` and, with
    `structure`, `H_structure = relu(A W_structure)`. With `filter_last` false (ACMII) the order is `P relu(x W)`.

    reference   three channels are multiplied by three, as the authors' code does
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        structure: bool,
        layer_norm: bool,
        filter_last: bool,
        reference: bool,
    ) -> None:
        super().__init__()
        channels = 4 if structure else 3
        self.out_channels, self.filter_last = out_channels, filter_last
        self.factor = 3.0 if reference and not structure else 1.0
        self.linear = Linear(in_channels, 3 * out_channels, bias=False)
        self.structure = NodeWeights(out_channels, bias=False, bound=out_channels**-0.5) if structure else None
        self.norms = nn.ModuleList(nn.LayerNorm(out_channels) for _ in range(channels if layer_norm else 0))
        self.score = nn.Parameter(torch.empty(channels, out_channels))
        self.mix = nn.Parameter(torch.empty(channels, channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform within `1 / sqrt(out)`, 1 for the scores and `1 / sqrt(C)` for the mixture, as the authors do."""
        for parameter, bound in (
            (self.linear.weight, self.out_channels**-0.5),
            (self.score, 1.0),
            (self.mix, self.mix.shape[0] ** -0.5),
        ):
            nn.init.uniform_(parameter, -bound, bound)
        if self.structure is not None:
            self.structure.reset_parameters()
        for norm in self.norms:
            norm.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Tensor | SparseMatrix, walk: SparseMatrix, plain: SparseMatrix | None) -> Tensor:
        mapped: Tensor = self.linear(x)
        if not self.filter_last:
            mapped = F.relu(mapped)
        _, high, identity = mapped.chunk(3, 1)
        smooth_low, smooth_high = sparse_linear(walk, mapped[:, : 2 * self.out_channels].contiguous()).chunk(2, 1)
        parts = [smooth_low, high - smooth_high, identity]
        if self.filter_last:
            parts = [F.relu(part) for part in parts]
        if self.structure is not None:
            parts.append(F.relu(self.structure(plain)))
        channels = torch.stack(parts, 1)
        scored = (
            torch.stack([norm(p) for norm, p in zip(self.norms, parts, strict=True)], 1) if self.norms else channels
        )
        alpha = torch.softmax(torch.sigmoid((scored * self.score).sum(-1)) @ self.mix / self.mix.shape[0], 1)
        return self.factor * (alpha[:, :, None] * channels).sum(1)


class ACMGCN(nn.Module):
    """Adaptive channel mixing: every node weighs a smoothed, a sharpened and its own signal (`ACMLayer`).

    `P = D^-1 (A + I)`. Two layers of 64, dropout 0.5 (0.3 in ACM-GCN+), learning rate 0.1 and weight decay 5e-3 as the
    paper has on Cora (appendix, optimal settings). `acmii=true` is the paper's ACMII-GCN, the activation before the
    filter. ACM-GCN+ adds the structure channel, whose weights belong to the nodes of one graph, and scores the channels
    after a layer normalisation, which the authors' code makes and never applies (`layer_norm=false`). `reference`, the
    default on the shelf, multiplies the sum of three channels by three, as the authors' code does; `reference=false` is
    the paper's sum as printed. With four channels both are the same.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        dropout: float = 0.5,
        acmii: bool = False,
        structure: bool = False,
        layer_norm: bool = False,
        reference: bool = False,
    ) -> None:
        super().__init__()
        self.dropout, self.structure = dropout, structure
        widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.layers = nn.ModuleList(
            ACMLayer(a, b, structure=structure, layer_norm=layer_norm, filter_last=not acmii, reference=reference)
            for a, b in pairwise(widths)
        )

    def reset_parameters(self) -> None:
        for layer in self.layers:
            layer.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        walk = graph_of(x, edge_index, edge_weight).random_walk.matrix
        plain = None
        if self.structure:
            plain = graph_of(x, edge_index, edge_weight, self_loops="none").plain
        hidden: Tensor = self.layers[0](drop_features(x, self.dropout, self.training), walk, plain)
        for layer in list(self.layers)[1:]:
            hidden = layer(dropout(F.relu(hidden), self.dropout, self.training), walk, plain)
        return hidden
