"""GCNII (Chen et al., ICML 2020)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric import nn as pyg

from gwn.dropout import dropout
from gwn.models.peers.layers import graph_of, matrix_messages
from gwn.networks.feedforward import Linear, drop_features


class GCN2Conv(pyg.GCN2Conv):  # type: ignore[misc]
    """`((1 - alpha) Â x + alpha x0) ((1 - beta) I + beta W)`."""

    propagate = matrix_messages


class GCNII(nn.Module):
    """`H(l+1) = relu(((1 - alpha) Â H(l) + alpha H(0)) ((1 - beta) I + beta W(l)))`, `beta = log(lambda / l + 1)`.

    `H(0) = relu(X W_in)` and a linear head. The paper's settings for Cora, fully supervised: 64 layers of 64, `alpha =
    0.2`, `lambda = 0.5` (here `theta`, as in PyG), dropout 0.5, weight decay 1e-4; the small webgraphs take 16 or 32
    layers and `theta` 1 or 1.5. `variant=true` is GCNII*, with a weight of its own for `H(0)`.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 64,
        alpha: float = 0.2,
        theta: float = 0.5,
        dropout: float = 0.5,
        variant: bool = False,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.encoder = Linear(in_channels, hidden_channels)
        self.convs = nn.ModuleList(
            GCN2Conv(hidden_channels, alpha, theta, layer, shared_weights=not variant)
            for layer in range(1, num_layers + 1)
        )
        self.head = Linear(hidden_channels, out_channels)

    def reset_parameters(self) -> None:
        for layer in (self.encoder, *self.convs, self.head):
            layer.reset_parameters()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        matrix = graph_of(x, edge_index, edge_weight).matrix
        start: Tensor = F.relu(self.encoder(drop_features(x, self.dropout, self.training)))
        hidden = start
        for conv in self.convs:
            hidden = F.relu(conv(dropout(hidden, self.dropout, self.training), start, matrix))
        logits: Tensor = self.head(dropout(hidden, self.dropout, self.training))
        return logits
