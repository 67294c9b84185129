"""JacobiConv (Wang and Zhang, ICML 2022)."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from gwn.dropout import dropout
from gwn.errors import GWNError
from gwn.models.peers.layers import graph_of
from gwn.networks.feedforward import Linear, drop_features
from gwn.sparse import sparse_linear


class JacobiConv(nn.Module):
    """`Y_c = sum_k beta_kc (prod_{i<=k} gamma tanh(eta_i)) P_k^{a,b}(S) (X W + b)_c`: linear, a filter for each class.

    `P_k` are the Jacobi polynomials on [-1, 1], the spectrum of `S = D^-1/2 A D^-1/2` without self-loops, as SciPy has
    them (`reference=false`). `reference`, the default on the shelf, has `a² - b²` with the other sign in the recurrence
    of `P_2` and all after it, as the authors' code does: where a is not b, as in their published settings, that is
    another basis. The product of `gamma tanh(eta)` is the paper's decomposition of the coefficients. `K = 10` as in the
    paper; `a = b = 1`, `gamma = 1`, `eta = 1` and `beta = 1` at the start as in the authors' code, which then searches
    `a`, `b` and `gamma` for every dataset; dropout 0.5 on the features and before the filter. There is no hidden layer.
    Their `eta` and `beta` have a learning rate and a decay each; here `group_lr` and `group_weight_decay` are those of
    both.
    """

    parameter_group: ClassVar[tuple[str, ...]] = ("eta", "beta")

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        degree: int = 10,
        a: float = 1.0,
        b: float = 1.0,
        gamma: float = 1.0,
        dropout: float = 0.5,
        filter_dropout: float = 0.5,
        reference: bool = False,
    ) -> None:
        super().__init__()
        if min(a, b) <= -1 or degree < 1 or gamma <= 0:
            raise GWNError(
                f"a and b must be above -1, degree at least 1, gamma above 0; got {a}, {b}, {degree}, {gamma}"
            )
        self.a, self.b, self.gamma, self.degree = a, b, gamma, degree
        self.dropout, self.filter_dropout = dropout, filter_dropout
        self.sign = -1.0 if reference else 1.0
        self.linear = Linear(in_channels, out_channels)
        self.eta = nn.Parameter(torch.empty(degree))
        self.beta = nn.Parameter(torch.empty(degree + 1, out_channels))
        self._start()

    def reset_parameters(self) -> None:
        self.linear.reset_parameters()
        self._start()

    def _start(self) -> None:
        nn.init.constant_(self.eta, min(1.0 / self.gamma, 1.0))
        nn.init.ones_(self.beta)

    def recurrence(self, k: int) -> tuple[float, float, float]:
        """`P_k(s) = (p s + q) P_{k-1}(s) - r P_{k-2}(s)`."""
        a, b = self.a, self.b
        if k == 1:
            return (a + b + 2) / 2, (a - b) / 2, 0.0
        n = 2 * k + a + b
        scale = 2 * k * (k + a + b)
        p, q = n * (n - 1) / scale, self.sign * (n - 1) * (a * a - b * b) / (scale * (n - 2))
        return p, q, 2 * (k + a - 1) * (k + b - 1) * n / (scale * (n - 2))

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        graph = graph_of(x, edge_index, edge_weight, self_loops="none")
        signal: Tensor = self.linear(drop_features(x, self.dropout, self.training))
        basis, before = dropout(signal, self.filter_dropout, self.training), None
        scale = torch.cumprod(self.gamma * torch.tanh(self.eta), 0)
        logits = self.beta[0] * basis
        for k in range(1, self.degree + 1):
            p, q, r = self.recurrence(k)
            after = sparse_linear(graph.affine(q, p), basis)
            basis, before = after if before is None else after - r * before, basis
            logits = logits + scale[k - 1] * self.beta[k] * basis
        return logits
