"""GWN-sym and GWN-fa as plain PyTorch Geometric message passing: what one writes from the paper's equations in an hour.

Gather, multiply, scatter; dense features; the normalisation computed anew in every step. The benchmark divides by it,
so it is tested to be the same function as ours, and it is kept free of anything clever.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import degree

from gwn.errors import GWNError
from gwn.networks import GWN

LINEAR = ("phi0", "phi1", "head")


def normalisation(edge_index: Tensor, num_nodes: int, dtype: torch.dtype) -> Tensor:
    """`1 / sqrt(d_i d_j)` for every edge."""
    source, target = edge_index
    scale: Tensor = degree(target, num_nodes, dtype=dtype).pow(-0.5)
    return scale[source] * scale[target]


class SymmetricForce(MessagePassing):  # type: ignore[misc]
    """`D^-1/2 A D^-1/2 X`."""

    def __init__(self) -> None:
        super().__init__(aggr="add")

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        out: Tensor = self.propagate(edge_index, x=x, norm=normalisation(edge_index, x.size(0), x.dtype))
        return out

    def message(self, x_j: Tensor, norm: Tensor) -> Tensor:
        return norm.view(-1, 1) * x_j


class AdaptiveForce(MessagePassing):  # type: ignore[misc]
    """`(alpha ⊙ D^-1/2 A D^-1/2) X` with `alpha_ij = tanh(g^T [x_i || x_j])`."""

    def __init__(self) -> None:
        super().__init__(aggr="add")

    def forward(self, x: Tensor, edge_index: Tensor, g: Tensor) -> Tensor:
        norm = normalisation(edge_index, x.size(0), x.dtype)
        out: Tensor = self.propagate(edge_index, x=x, norm=norm, g=g)
        return out

    def message(self, x_i: Tensor, x_j: Tensor, norm: Tensor, g: Tensor) -> Tensor:
        alpha = torch.tanh(torch.cat([x_i, x_j], dim=-1) @ g)
        return (alpha * norm).view(-1, 1) * x_j


class MessagePassingGWN(nn.Module):
    """The paper's two networks on an undirected simple graph; `laplacian` is "sym" or "fa"."""

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        laplacian: str = "sym",
        steps: int = 5,
        tau: float = 1.0,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.steps, self.tau, self.dropout = steps, tau, dropout
        self.phi0 = nn.Linear(in_channels, hidden_channels)
        self.phi1 = nn.Linear(in_channels, hidden_channels)
        self.head = nn.Linear(hidden_channels, out_channels)
        self.adaptive = laplacian == "fa"
        if self.adaptive:
            bound = hidden_channels**-0.5
            self.adaptive_force = AdaptiveForce()
            self.g = nn.Parameter(torch.empty(steps, 2, hidden_channels).uniform_(-bound, bound))
            self.raw_epsilon = nn.Parameter(torch.logit(torch.rand(steps - 1).clamp(1e-3, 1 - 1e-3)))
        else:
            self.symmetric_force = SymmetricForce()

    def force(self, n: int, x: Tensor, edge_index: Tensor) -> Tensor:
        """`L_a(n) X`."""
        force: Tensor
        if self.adaptive:
            force = self.adaptive_force(x, edge_index, self.g[n].reshape(-1))
        else:
            force = self.symmetric_force(x, edge_index)
        return force

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Logits [N, c]."""
        if edge_weight is not None:
            raise GWNError("the message-passing version is for graphs without edge weights")
        x = F.dropout(x, self.dropout, self.training)
        x0, velocity, tau = self.phi0(x), self.phi1(x), self.tau
        before, now = x0, tau * velocity + x0 + tau**2 / 2 * self.force(0, x0, edge_index)
        for n in range(1, self.steps):
            following = 2 * now + tau**2 * self.force(n, now, edge_index) - before
            if self.adaptive:
                following = following + torch.sigmoid(self.raw_epsilon[n - 1]) * x0
            before, now = now, following
        logits: Tensor = self.head(F.dropout(now, self.dropout, self.training))
        return logits


def from_gwn(model: GWN) -> MessagePassingGWN:
    """The same network with the same weights."""
    weights = renamed(model.state_dict())
    hidden, features = weights["phi0.weight"].shape
    plain = MessagePassingGWN(
        features,
        hidden,
        weights["head.weight"].shape[0],
        laplacian="fa" if "g" in weights else "sym",
        steps=model.num_steps,
        tau=model.scheme.tau,
        dropout=model.dropout,
    ).to(weights["phi0.weight"].dtype)
    plain.load_state_dict(weights)
    return plain


def renamed(ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a `GWN`, or their gradients, by the names and in the layout of `MessagePassingGWN`."""
    found = {}
    for layer in LINEAR:
        found[f"{layer}.weight"] = ours[f"{layer}.layers.0.weight"].t()  # ours are [in, out]
        found[f"{layer}.bias"] = ours[f"{layer}.layers.0.bias"]
    return found | {name: ours[f"laplacian.{name}"] for name in ("g", "raw_epsilon") if f"laplacian.{name}" in ours}
