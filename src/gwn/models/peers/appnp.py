"""APPNP (Gasteiger, Bojchevski and Günnemann, ICLR 2019)."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch_geometric import nn as pyg

from gwn.dropout import dropout
from gwn.models.peers.layers import graph_of
from gwn.networks.feedforward import FeedForward, drop_features
from gwn.sparse import SparseMatrix, sparse_linear


class Propagation(pyg.APPNP):  # type: ignore[misc]
    """PyG's `APPNP` on a `SparseMatrix`; each iteration drops entries of its own."""

    def __init__(self, K: int, alpha: float, edge_dropout: float) -> None:
        super().__init__(K, alpha)
        self.edge_dropout = edge_dropout

    def propagate(self, edge_index: SparseMatrix, x: Tensor, **others: Any) -> Tensor:
        if self.training and self.edge_dropout > 0:
            edge_index = edge_index.with_values(dropout(edge_index.values, self.edge_dropout, True))
        return sparse_linear(edge_index, x)


class APPNP(nn.Module):
    """`Z(0) = H = MLP(X)`, `Z(k+1) = (1 - alpha) Â Z(k) + alpha H`, `Y = Z(K)`.

    The authors' settings for the citation graphs (reproduce_results_pytorch.ipynb of gasteigerjo/ppnp): one hidden
    layer of 64, `K = 10`, `alpha = 0.1`, dropout 0.5 on both layers and on the adjacency matrix, learning rate 0.01.
    They regularise the first layer alone, with 5e-3, which is the trainer's affair.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        hops: int = 10,
        alpha: float = 0.1,
        dropout: float = 0.5,
        edge_dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.network = FeedForward(
            in_channels, hidden_channels, out_channels, layers=num_layers, activation="relu", dropout=dropout
        )
        self.propagation = Propagation(hops, alpha, edge_dropout)

    def reset_parameters(self) -> None:
        self.network.reset_parameters()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        predictions: Tensor = self.network(drop_features(x, self.dropout, self.training))
        logits: Tensor = self.propagation(predictions, graph_of(x, edge_index, edge_weight).matrix)
        return logits
