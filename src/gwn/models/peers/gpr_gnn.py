"""GPR-GNN (Chien et al., ICLR 2021)."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from gwn.dropout import dropout
from gwn.models.peers.layers import graph_of
from gwn.networks.feedforward import FeedForward, drop_features
from gwn.registry import require_known
from gwn.sparse import sparse_linear

STARTS = ("ppr", "sgc", "random")


class GPRGNN(nn.Module):
    """`Y = sum_k gamma_k Â^k MLP(X)`, `k = 0 ... K`, with learned `gamma` of any sign.

    Defaults are the authors' for Cora (README, Reproduce_GPRGNN.sh and train_model.py of jianhao2016/GPRGNN): one
    hidden layer of 64, `K = 10`, dropout 0.5 in the network and before the propagation, `gamma` started from
    personalised PageRank, `alpha (1 - alpha)^k` and `(1 - alpha)^K` for the last, `alpha = 0.1`; on Texas, Cornell and
    Actor they have `alpha` 1, 0.9 and 0.9. Other starts: "sgc" (`Â^K` alone) and "random". Their optimiser spares
    `gamma` the weight decay, which is `group_weight_decay=0` here; by default it has that of all weights.
    """

    parameter_group: ClassVar[tuple[str, ...]] = ("gamma",)

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        hops: int = 10,
        alpha: float = 0.1,
        start: str = "ppr",
        dropout: float = 0.5,
        filter_dropout: float = 0.5,
    ) -> None:
        super().__init__()
        require_known("start", start, STARTS)
        self.hops, self.alpha, self.start = hops, alpha, start
        self.dropout, self.filter_dropout = dropout, filter_dropout
        self.network = FeedForward(
            in_channels, hidden_channels, out_channels, layers=num_layers, activation="relu", dropout=dropout
        )
        self.gamma = nn.Parameter(torch.empty(hops + 1))
        self._start()

    def reset_parameters(self) -> None:
        self.network.reset_parameters()
        self._start()

    @torch.no_grad()
    def _start(self) -> None:
        if self.start == "random":
            bound = (3 / (self.hops + 1)) ** 0.5
            self.gamma.uniform_(-bound, bound)
            self.gamma.div_(self.gamma.abs().sum())
            return
        powers = (1 - self.alpha) ** torch.arange(self.hops + 1, dtype=self.gamma.dtype)
        self.gamma.copy_(self.alpha * powers if self.start == "ppr" else torch.zeros_like(powers))
        self.gamma[-1] = powers[-1] if self.start == "ppr" else 1.0

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        matrix = graph_of(x, edge_index, edge_weight).matrix
        hidden: Tensor = self.network(drop_features(x, self.dropout, self.training))
        hidden = dropout(hidden, self.filter_dropout, self.training)
        logits = self.gamma[0] * hidden
        for gamma in self.gamma[1:]:
            hidden = sparse_linear(matrix, hidden)
            logits = logits + gamma * hidden
        return logits
