"""GloGNN (Li et al., ICML 2022)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.adjacency import adjacency_of
from gwn.dropout import dropout
from gwn.errors import GWNError
from gwn.networks.feedforward import Linear, as_matrix
from gwn.networks.node_weights import NodeWeights
from gwn.sparse import sparse_linear


class GloGNN(nn.Module):
    """`H(l+1) = (1 - g) Z(l) H(l) + g H(0)` with the `Z` that explains `H(l+1)` best by all nodes:

        Z = argmin |H(l) - (1 - g) Z H(l) - g H(0)|² + beta1 |Z|² + beta2 |Z - sum_k lambda_k P^k|²,

    which is `Z = [(1-g) H H^T + beta2 sum_k lambda_k P^k - g (1-g) H(0) H^T] [(1-g)² H H^T + (beta1+beta2) I]^-1`. By
    `(b I + a² H H^T)^-1 H = H (b I + a² H^T H)^-1` no N x N matrix is made. `H(0) = MLP(d x W + (1 - d) P W_A)` has one
    channel a class, `P = D^-1 (A + I)`, `lambda` is learned. Whether `Z` follows `H` or the graph depends on the size
    of `H`, so features are row-normalised by default, as in the authors' code. The other defaults are theirs for Cora
    (run_glognn_sota_reproduce_small.sh): two layers, six powers, gamma 0.8, beta1 77, beta2 1000, delta 0.9, dropout
    0.8, 64 channels, weight decay 1e-5. Choices: `lambda` starts at 1 / powers; `delta=1` leaves `W_A` out, and with it
    the weights of single nodes.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        powers: int = 6,
        gamma: float = 0.8,
        beta1: float = 77.0,
        beta2: float = 1000.0,
        delta: float = 0.9,
        dropout: float = 0.8,
    ) -> None:
        super().__init__()
        if powers < 1 or beta1 < 0 or not beta2 > 0:
            raise GWNError(f"powers, beta2 must be positive, beta1 not negative; got {powers}, {beta2}, {beta1}")
        if not (0 <= gamma < 1 and 0 <= delta <= 1):
            raise GWNError(f"gamma must be in [0, 1) and delta in [0, 1]; got {gamma} and {delta}")
        self.num_layers, self.powers = num_layers, powers
        self.gamma, self.beta1, self.beta2, self.delta, self.dropout = gamma, beta1, beta2, delta, dropout
        self.features = Linear(in_channels, hidden_channels)
        self.nodes = NodeWeights(hidden_channels) if delta < 1 else None
        self.head = Linear(hidden_channels, out_channels)
        self.hops = nn.Parameter(torch.empty(powers))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for module in (self.features, self.nodes, self.head):
            if module is not None:
                module.reset_parameters()
        nn.init.zeros_(self.hops)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        nodes, dtype = x.shape[0], x.dtype
        hidden: Tensor = self.features(as_matrix(x))
        walk = adjacency_of(edge_index, edge_weight, nodes, dtype=dtype, self_loops="add").random_walk.matrix
        if self.nodes is not None:
            hidden = self.delta * hidden + (1 - self.delta) * self.nodes(walk)
        start: Tensor = self.head(dropout(F.relu(hidden), self.dropout, self.training))
        h, a = start, 1 - self.gamma
        eye = torch.eye(h.shape[1], dtype=dtype, device=h.device)
        for _ in range(self.num_layers):
            gram = h.t() @ h
            q = a * torch.linalg.solve((self.beta1 + self.beta2) * eye + a * a * gram, h.t()).t()  # (1-g) M^-1 H
            near, power = torch.zeros_like(q), q
            for weight in self.hops + 1 / self.powers:
                power = sparse_linear(walk, power)
                near = near + weight * power
            inner = h.t() @ q
            h = a * (h @ inner) + self.beta2 * near - self.gamma * a * (start @ inner) + self.gamma * start
        return h
