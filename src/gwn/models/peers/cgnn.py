"""CGNN (Xhonneux, Qu and Tang, ICML 2020)."""

from __future__ import annotations

import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.dropout import dropout
from gwn.errors import GWNError
from gwn.models.peers.layers import graph_of
from gwn.models.peers.ode import check_solver, solve, solve_linear
from gwn.networks.feedforward import Linear, drop_features
from gwn.sparse import sparse_linear


class CGNN(nn.Module):
    """`dH/dt = (A - I) H + E`, `H(0) = E = x W + b`, `A = a/2 (I + D^-1/2 A D^-1/2)`, logits from `relu(H(T))`.

    `weighted=True` is the paper's second model: `dH/dt = (A - I) H + H (W - I) + E`, `W = U diag(m) U^T` with `U`
    orthogonal and `m` clipped to [0, 1]; `U` is kept near orthogonal by a step `U <- (1 + b) U - b U U^T U` of the
    paper (b = 0.5) in every forward pass, `a` is one learned number (the authors' code has one a node, which ties a
    network to its graph), and starts at `alpha`. Defaults are the authors' for Cora (run_cora_cgnn.py): alpha 0.918,
    time 12.1, 16 channels, dropout 0.5 on the input and 0 behind; their solver is dopri5, here rk4 with step 1, so
    that the steps of one node do not depend on all others. `reference`, the default on the shelf, is the equation of
    their code, `dH/dt = a/2 (S H - H) + E` without a gradient through that `E`, and `a = sigmoid(alpha)` at first;
    their self-links of weight 0.555 are left out. `reference=false` is the paper's, as above.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        weighted: bool = False,
        alpha: float = 0.918,
        time: float = 12.1,
        method: str = "rk4",
        step_size: float = 1.0,
        tolerance: float = 1e-4,
        input_dropout: float = 0.5,
        dropout: float = 0.0,
        reference: bool = False,
    ) -> None:
        super().__init__()
        check_solver(method, time, step_size)
        if not 0.0 < alpha < 1.0:
            raise GWNError(f"alpha must be between 0 and 1; got {alpha}")
        self.solver = (time, method, step_size, tolerance)
        self.offset = alpha if reference else math.log(alpha / (1.0 - alpha))
        self.reference = reference
        self.input_dropout, self.dropout = input_dropout, dropout
        self.encoder = Linear(in_channels, hidden_channels)
        self.head = Linear(hidden_channels, out_channels)
        self.alpha = nn.Parameter(torch.empty(()))
        self.basis = nn.Parameter(torch.empty(hidden_channels, hidden_channels)) if weighted else None
        self.spectrum = nn.Parameter(torch.empty(hidden_channels)) if weighted else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        self.encoder.reset_parameters()
        self.head.reset_parameters()
        nn.init.zeros_(self.alpha)
        if self.basis is not None and self.spectrum is not None:
            nn.init.orthogonal_(self.basis)
            nn.init.uniform_(self.spectrum)

    def mixing(self) -> Tensor | None:
        """`W - I`, or None for the model without weights."""
        if self.basis is None or self.spectrum is None:
            return None
        u = 1.5 * self.basis - 0.5 * self.basis @ self.basis.t() @ self.basis
        return (u * self.spectrum.clamp(0.0, 1.0)) @ u.t() - torch.eye(len(u), dtype=u.dtype, device=u.device)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        matrix = graph_of(x, edge_index, edge_weight, self_loops="none").matrix
        start: Tensor = self.encoder(drop_features(x, self.input_dropout, self.training))
        half, mixing = torch.sigmoid(self.alpha + self.offset) / 2, self.mixing()
        alone = -half if self.reference else half - 1.0
        product = partial(sparse_linear, matrix)
        if mixing is None:
            rates = (half, alone, torch.ones_like(half))
            end = solve_linear(product, start, rates, *self.solver, learns_source=not self.reference)
        else:
            source = start.detach() if self.reference else start
            end = solve(lambda _, h: half * product(h) + alone * h + h @ mixing + source, start, *self.solver)
        logits: Tensor = self.head(dropout(F.relu(end), self.dropout, self.training))
        return logits
