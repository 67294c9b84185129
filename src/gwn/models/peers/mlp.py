"""The multilayer perceptron: every table needs to know what the features alone are worth."""

from __future__ import annotations

from torch import Tensor, nn

from gwn.networks.feedforward import FeedForward, drop_features


class MLP(nn.Module):
    """`Y = W2 relu(W1 x)`, with dropout on the input and between the layers; the edges are ignored."""

    def __init__(
        self, in_channels: int, hidden_channels: int, out_channels: int, *, num_layers: int = 2, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.network = FeedForward(
            in_channels, hidden_channels, out_channels, layers=num_layers, activation="relu", dropout=dropout
        )

    def reset_parameters(self) -> None:
        self.network.reset_parameters()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        logits: Tensor = self.network(drop_features(x, self.dropout, self.training))
        return logits
