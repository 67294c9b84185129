"""NLMLP (Liu, Wang and Ji, TPAMI 2021): a perceptron with non-local aggregation by attention-guided sorting."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.dropout import dropout
from gwn.errors import GWNError
from gwn.networks.feedforward import FeedForward, Linear, drop_features


class NLMLP(nn.Module):
    """`z = MLP(x)`, `a_i = c . z_i`, `ẑ = unsort(conv(sort_a(a ⊙ z)))`, logits linear in `[z || ẑ]`.

    Nodes are put in the order of one learned score, so that a short one-dimensional convolution along that order sees
    nodes that are alike, however far apart in the graph; the edges are not used. Defaults of the authors' code
    (longrange.py): two layers of 48 in the MLP, `z` with one channel a class, two convolutions with a kernel of 5, relu
    between them, dropout 0.5 in the MLP and between the convolutions. `reference`, the default on the shelf, gives the
    score a bias, `a_i = c . z_i + d`, as their code does; `reference=false` is the paper's, without.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        kernel_size: int = 5,
        num_layers: int = 2,
        conv_dropout: float = 0.5,
        dropout: float = 0.5,
        reference: bool = False,
    ) -> None:
        super().__init__()
        if kernel_size < 1 or kernel_size % 2 == 0:
            raise GWNError(f"kernel_size must be odd, so that a node is in the middle; got {kernel_size}")
        self.dropout, self.conv_dropout = dropout, conv_dropout
        self.embed = FeedForward(
            in_channels, hidden_channels, out_channels, layers=num_layers, activation="relu", dropout=dropout
        )
        self.score = Linear(out_channels, 1, bias=reference)
        self.convs = nn.ModuleList(
            nn.Conv1d(out_channels, out_channels, kernel_size, padding=kernel_size // 2) for _ in range(2)
        )
        self.head = Linear(2 * out_channels, out_channels)

    def reset_parameters(self) -> None:
        for module in (self.embed, self.score, *self.convs, self.head):
            module.reset_parameters()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        z: Tensor = self.embed(drop_features(x, self.dropout, self.training))
        score: Tensor = self.score(z)
        order = torch.argsort(score.detach().squeeze(1), stable=True)
        line = (score * z).index_select(0, order).t()[None]
        line = self.convs[1](dropout(F.relu(self.convs[0](line)), self.conv_dropout, self.training))
        distant = line[0].t().index_select(0, torch.argsort(order))
        logits: Tensor = self.head(torch.cat([z, distant], dim=1))
        return logits
