"""What a user of PyTorch Geometric would take instead: its two-layer GCN and GAT, as its own examples have them."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GCNConv


class PeerGCN(nn.Module):
    """Two `GCNConv`; the normalised edges are cached, which is the faster of the two ways PyG offers."""

    def __init__(self, in_channels: int, hidden_channels: int, out_channels: int, *, dropout: float = 0.5) -> None:
        super().__init__()
        self.dropout = dropout
        self.first = GCNConv(in_channels, hidden_channels, cached=True)
        self.second = GCNConv(hidden_channels, out_channels, cached=True)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        x = F.dropout(x, self.dropout, self.training)
        x = F.relu(self.first(x, edge_index, edge_weight))
        x = F.dropout(x, self.dropout, self.training)
        logits: Tensor = self.second(x, edge_index, edge_weight)
        return logits


class PeerGAT(nn.Module):
    """Two `GATConv`: `heads` heads that share the hidden width (8 x 8), then one."""

    def __init__(
        self, in_channels: int, hidden_channels: int, out_channels: int, *, heads: int = 8, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.dropout = dropout
        width = hidden_channels // heads
        self.first = GATConv(in_channels, width, heads=heads, dropout=dropout)
        self.second = GATConv(width * heads, out_channels, heads=1, concat=False, dropout=dropout)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        x = F.dropout(x, self.dropout, self.training)
        x = F.elu(self.first(x, edge_index))
        x = F.dropout(x, self.dropout, self.training)
        logits: Tensor = self.second(x, edge_index)
        return logits
