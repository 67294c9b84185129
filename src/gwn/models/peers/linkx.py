"""LINKX (Lim et al., NeurIPS 2021)."""

from __future__ import annotations

from torch import Tensor, nn
from torch_geometric import nn as pyg

from gwn.models.peers.layers import graph_of
from gwn.networks.feedforward import Linear, as_matrix
from gwn.networks.node_weights import NodeWeights


class LINKX(nn.Module):
    """`h_A = MLP_A(A)`, `h_X = MLP_X(X)`, `Y = MLP_f(relu(W [h_A || h_X] + h_A + h_X))`.

    `MLP_A` has a row of weights for every node, so the model knows the graph it was trained on and no other
    (`NodeWeights`). One layer for `MLP_A` and `MLP_X` as in the paper, and one for `MLP_f`: of the paper's grid 1, 2, 3
    it validates best on Cora and Texas here. Dropout 0.5 stands between the layers of `MLP_f`, so it does nothing with
    one. The edges are taken as undirected; the paper does so too except on two directed graphs.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 1,
        num_edge_layers: int = 1,
        num_node_layers: int = 1,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.network = pyg.LINKX(
            1, in_channels, hidden_channels, out_channels, num_layers, num_edge_layers, num_node_layers, dropout
        )
        self.network.edge_lin = NodeWeights(hidden_channels)
        self.network.node_mlp.lins[0] = Linear(in_channels, hidden_channels)
        if self.network.edge_norm is not None:
            self.network.edge_norm = pyg.BatchNorm(hidden_channels)
        for norm in self.network.modules():
            if isinstance(norm, pyg.BatchNorm):
                norm.allow_single_element = True  # a graph of one node has no variance

    def reset_parameters(self) -> None:
        self.network.reset_parameters()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        matrix = graph_of(x, edge_index, edge_weight, self_loops="none").plain
        logits: Tensor = self.network(as_matrix(x), matrix)
        return logits
