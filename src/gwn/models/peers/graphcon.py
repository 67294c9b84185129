"""GraphCON (Rusch et al., ICML 2022)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from gwn.adjacency import Adjacency
from gwn.dropout import dropout
from gwn.errors import GWNError
from gwn.models.peers.layers import GATConv, GCNConv, graph_of
from gwn.networks.feedforward import Linear, drop_features
from gwn.registry import require_known


class GraphCON(nn.Module):
    """`X'' = relu(F(X)) - gamma X - alpha X'` in steps `Y += dt (relu(F(X)) - gamma X - alpha Y)`, `X += dt Y`.

    coupling "gcn": `F(X) = D~^-1/2 (A + I) D~^-1/2 X W + b`; "gat": GAT's attention with `heads` heads, averaged.
    `X(0) = Y(0) = relu(x W + b)`; all steps share `F`. `residual` adds `X V + c - X W`, which the authors have on the
    heterophilic graphs. Defaults are the values of their code for those (run_GNN.py): five steps, alpha = gamma =
    dt = 1, 64 channels, dropout 0.3 on the input and after every step: the 0.3 of the code, which does not read the
    `dropout` of its best_params.py (the settings of WebKB on the shelf do). Choice: heads are averaged before the
    activation, and edge weights multiply inside the attention's softmax.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        coupling: str = "gcn",
        num_layers: int = 5,
        dt: float = 1.0,
        alpha: float = 1.0,
        gamma: float = 1.0,
        heads: int = 4,
        residual: bool = False,
        dropout: float = 0.3,
    ) -> None:
        super().__init__()
        require_known("coupling", coupling, ("gcn", "gat"))
        if heads < 1:
            raise GWNError(f"heads must be at least 1; got {heads}")
        self.num_layers, self.dt, self.alpha, self.gamma, self.dropout = num_layers, dt, alpha, gamma, dropout
        self.encoder = Linear(in_channels, hidden_channels)
        self.conv = (
            GCNConv(hidden_channels, hidden_channels)
            if coupling == "gcn"
            else GATConv(hidden_channels, hidden_channels, heads=heads, concat=False)
        )
        self.residual = Linear(hidden_channels, hidden_channels) if residual else None
        self.head = Linear(hidden_channels, out_channels)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for module in (self.encoder, self.conv, self.residual, self.head):
            if module is not None:
                module.reset_parameters()

    def coupled(self, h: Tensor, graph: Adjacency, weighted: bool) -> Tensor:
        """`F(X)`."""
        attends = isinstance(self.conv, GATConv)
        out: Tensor = self.conv(h, graph.random_walk.matrix, weighted) if attends else self.conv(h, graph.matrix)
        if self.residual is None:
            return out
        mapped: Tensor = self.conv.projection(h) if attends else self.conv.lin(h)
        extra: Tensor = self.residual(h) - mapped.view(h.shape[0], -1, h.shape[1]).mean(1)
        return out + extra

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        graph = graph_of(x, edge_index, edge_weight)
        position = F.relu(self.encoder(drop_features(x, self.dropout, self.training)))
        velocity = dropout(position, self.dropout, self.training)
        position = dropout(position, self.dropout, self.training)
        for _ in range(self.num_layers):
            force = F.relu(self.coupled(position, graph, edge_weight is not None))
            velocity = velocity + self.dt * (force - self.alpha * velocity - self.gamma * position)
            position = position + self.dt * velocity
            velocity = dropout(velocity, self.dropout, self.training)
            position = dropout(position, self.dropout, self.training)
        logits: Tensor = self.head(position)
        return logits
