"""GWN: encode, let the wave travel, read out."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from gwn.adjacency import SELF_LOOPS, Adjacency, adjacency_of
from gwn.dropout import check_dropout
from gwn.dropout import dropout as drop
from gwn.errors import GWNError
from gwn.laplacians import LAPLACIANS
from gwn.networks.dynamics import build_dynamics, dynamics_options
from gwn.networks.feedforward import NORMS, FeedForward, as_matrix, drop_features, row_normalized
from gwn.networks.precomputed import (
    FeatureCache,
    class_weights,
    features_times_weights,
    prefers_features,
    propagated_features,
    wave_of_classes,
)
from gwn.networks.readout import READOUTS
from gwn.registry import lookup, require_known
from gwn.schemes import count_steps, integrate


class GWN(nn.Module):
    """A graph wave network: `X(0) = phi0(x)`, velocity `phi1(x)`, `u_tt = L_a u` up to time T, `Y = head(X(T))`.

    in_channels, hidden_channels, out_channels   f, d and c of the paper
    laplacian         "sym" (GWN-sym), "fa" (GWN-fa) or another of `gwn.laplacians`
    scheme            the integrator: "leapfrog" (paper) or another of `gwn.schemes`
    time, tau         T and the step length; n = ceil(T / tau) steps. `GWN` itself takes one step, which trains on
                      every kind of graph; the paper searches T from 1 to 20, and its operator grows with every step
    dropout           before the head, and on the input unless `input_dropout` says otherwise
    readout           what the head sees: "last" state (paper), "weighted", "trajectory" or "with-encoder"
    speed             the paper's velocity a: "none" for 1, or learned: "scalar", "channel"
    encoder_layers, head_layers, activation      1, 1 and "none" are the paper's linear maps
    norm              "none" (paper), "layer" or "batch": in encoders and head, and of what the head sees
    row_normalize     scale the features of every node to sum one
    directed, self_loops                         the graph as S sees it, see `gwn.adjacency`
    reference         take the options of the authors' code where it differs from the paper's text
    allow_unstable    accept a step above the stability bound of a Laplacian that has one
    precompute        train without propagating, where a fixed operator and linear maps allow it
    options           settings of the chosen Laplacian and scheme, e.g. `epsilon="free"` for "fa"
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        laplacian: str = "sym",
        scheme: str = "leapfrog",
        time: float = 1.0,
        tau: float = 1.0,
        dropout: float = 0.5,
        readout: str = "last",
        speed: str = "none",
        encoder_layers: int = 1,
        head_layers: int = 1,
        activation: str = "none",
        norm: str = "none",
        input_dropout: float | None = None,
        row_normalize: bool = False,
        directed: bool | None = None,
        self_loops: str | None = None,
        reference: bool = False,
        allow_unstable: bool = False,
        precompute: bool = False,
        **options: Any,
    ) -> None:
        super().__init__()
        for name, size in (("in_channels", in_channels), ("hidden_channels", hidden_channels)):
            if size < 1:
                raise GWNError(f"{name} must be at least 1; got {size}")
        input_dropout = dropout if input_dropout is None else input_dropout
        check_dropout(dropout=dropout, input_dropout=input_dropout)
        preset = dict(lookup("laplacian", laplacian, LAPLACIANS).reference) if reference else {}
        preset = {key: dropout if value == "dropout" else value for key, value in preset.items()}
        preset_directed, preset_loops = preset.pop("directed", False), preset.pop("self_loops", "none")
        self.directed: bool = preset_directed if directed is None else directed
        self.self_loops: str = preset_loops if self_loops is None else self_loops
        require_known("self_loops", self.self_loops, SELF_LOOPS)

        self.time, self.dropout, self.input_dropout = time, dropout, input_dropout
        self.row_normalize = row_normalize
        self.num_steps = count_steps(time, tau)
        self.laplacian, self.scheme = build_dynamics(
            laplacian,
            scheme,
            hidden_channels,
            self.num_steps,
            tau,
            speed=speed,
            directed=self.directed,
            allow_unstable=allow_unstable,
            options={**preset, **options},
        )
        encoder: dict[str, Any] = {"layers": encoder_layers, "activation": activation, "norm": norm, "final": True}
        self.phi0 = FeedForward(in_channels, hidden_channels, hidden_channels, dropout=dropout, **encoder)
        self.phi1 = FeedForward(in_channels, hidden_channels, hidden_channels, dropout=dropout, **encoder)
        self.readout = lookup("readout", readout, READOUTS)(hidden_channels, self.num_steps)
        self.norm = lookup("norm", norm, NORMS)(self.readout.width)
        self.head = FeedForward(
            self.readout.width,
            hidden_channels,
            out_channels,
            layers=head_layers,
            activation="relu",
            dropout=dropout,
            norm=norm,
        )

        linear = encoder_layers == head_layers == 1 and activation == norm == "none" and readout == "last"
        commutes = linear and self.laplacian.fixed and not list(self.laplacian.parameters())
        self.evaluates_classes = commutes and out_channels < hidden_channels
        if precompute and not commutes:
            raise GWNError(
                "precompute needs a Laplacian that neither changes nor learns, linear encoders and head (one layer, "
                "activation and norm 'none') and readout 'last'; leave it out, or change those settings"
            )
        self.precompute = precompute
        self._features = FeatureCache()

    def _is_watched(self) -> bool:
        """Whether hooks wait for states that the network otherwise need not compute."""
        return any(part._forward_hooks or part._forward_pre_hooks for part in self.modules() if part is not self)

    @staticmethod
    def further_settings(laplacian: str | None = None, **fixed: Any) -> dict[str, inspect.Parameter]:
        """The `options` that there are: with this Laplacian, or with any of them."""
        return dynamics_options(laplacian)

    def reset_parameters(self) -> None:
        for module in (self.phi0, self.phi1, self.laplacian, self.readout, self.head):
            module.reset_parameters()
        if not isinstance(self.norm, nn.Identity):
            self.norm.reset_parameters()  # type: ignore[operator]

    def forward(
        self, x: Tensor, edge_index: Tensor | Adjacency, edge_weight: Tensor | None = None, rows: Tensor | None = None
    ) -> Tensor:
        """Logits [N, c], or those of the nodes `rows` alone, which spares the head the others.

        edge_index    [2, E], or an `Adjacency` that was built elsewhere, which holds its weights
        edge_weight   [E]; those of repeated edges add up, and of two directions the larger counts, unless `directed`
        """
        if self.precompute:
            return self._precomputed(x, edge_index, edge_weight, rows)
        if self.evaluates_classes and not self.training and not self._is_watched():
            # Without dropout, head and wave commute: the wave then has c channels instead of d.
            matrix, adjacency = as_matrix(self.features(x)), self.adjacency(x, edge_index, edge_weight)
            weights = class_weights(self.phi0.first, self.phi1.first, self.head.first, 0.0)
            operator = self.laplacian.on(adjacency)
            return _rows_of(wave_of_classes(operator, self.scheme, matrix, self.num_steps, weights), rows)
        phi0, phi1, adjacency = self._start(x, edge_index, edge_weight)
        whole = self.readout.needs_trajectory
        operator = self.laplacian.on(adjacency)
        wave = integrate(operator, self.scheme, phi0, phi1, self.num_steps, trajectory=whole)
        seen, numbers = self.norm(self.readout(wave, phi0, phi1)), adjacency.node_numbers
        if rows is not None:
            seen = seen.index_select(0, rows)
            numbers = None if numbers is None else numbers.index_select(0, rows)
        logits: Tensor = self.head(drop(seen, self.dropout, self.training, numbers), numbers)
        return logits

    def _start(
        self, x: Tensor, edge_index: Tensor | Adjacency, edge_weight: Tensor | None
    ) -> tuple[Tensor, Tensor, Adjacency]:
        """Where the wave starts, and the graph that it travels on."""
        numbers = edge_index.node_numbers if isinstance(edge_index, Adjacency) else None
        phi0, phi1 = self.encode(x, numbers)
        return phi0, phi1, self.adjacency(phi0, edge_index, edge_weight)

    def _precomputed(
        self, x: Tensor, edge_index: Tensor | Adjacency, edge_weight: Tensor | None, rows: Tensor | None
    ) -> Tensor:
        """The same function with its linear maps multiplied in another order, see `gwn.networks.precomputed`."""
        if x.requires_grad and torch.is_grad_enabled():
            raise GWNError(
                "x requires a gradient; precompute treats features as constants: detach it, or set precompute=False"
            )
        p = self.input_dropout if self.training else 0.0
        weights = class_weights(self.phi0.first, self.phi1.first, self.head.first, p)
        adjacency, matrix = self.adjacency(x, edge_index, edge_weight), as_matrix(self.features(x))
        operator = self.laplacian.on(adjacency)
        if not prefers_features(matrix, self.num_steps, adjacency.matrix.pattern.nnz):
            return _rows_of(wave_of_classes(operator, self.scheme, matrix, self.num_steps, weights), rows)

        def build() -> Tensor:
            return propagated_features(operator, self.scheme, matrix, self.num_steps)

        return features_times_weights(self._features.get(adjacency, x, rows, build), weights)

    def encode(self, x: Tensor, numbers: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Initial displacement and velocity, [N, d] each, from one and the same dropped-out input.

        numbers   what the rows of `x` are called in all processes that share a graph, see `gwn.dropout`
        """
        dropped = drop_features(self.features(x), self.input_dropout, self.training, numbers)
        return self.phi0(dropped, numbers), self.phi1(dropped, numbers)

    def features(self, x: Tensor) -> Tensor:
        """What the encoders see of `x`."""
        return row_normalized(x) if self.row_normalize else x

    def adjacency(self, like: Tensor, edge_index: Tensor | Adjacency, edge_weight: Tensor | None = None) -> Adjacency:
        """`S` as this network sees the graph; built on the first call for these edges, then reused."""
        return adjacency_of(
            edge_index,
            edge_weight,
            like.shape[0],
            dtype=like.dtype,
            device=like.device,
            directed=self.directed,
            self_loops=self.self_loops,
        )

    @torch.no_grad()
    def trajectory(self, x: Tensor, edge_index: Tensor | Adjacency, edge_weight: Tensor | None = None) -> Tensor:
        """X(0) ... X(n), [n + 1, N, d], in evaluation mode."""
        with evaluating(self):
            phi0, phi1, adjacency = self._start(x, edge_index, edge_weight)
            operator = self.laplacian.on(adjacency)
            return integrate(operator, self.scheme, phi0, phi1, self.num_steps, trajectory=True)

    @torch.no_grad()
    def attention(
        self, x: Tensor, edge_index: Tensor | Adjacency, edge_weight: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """GWN-fa: the edges (j, i) that S has, [2, E], and the alpha_ij used in steps 0 ... n-1, [n, E]."""
        if not self.laplacian.attends:
            known = " or ".join(repr(name) for name, kind in LAPLACIANS.items() if kind.attends)
            raise GWNError(f"this network has no attention; use laplacian={known}")
        with evaluating(self):
            phi0, phi1, adjacency = self._start(x, edge_index, edge_weight)
            operator = self.laplacian.on(adjacency)
            states = integrate(operator, self.scheme, phi0, phi1, self.num_steps, trajectory=True)
            alpha = [operator.attention(n, self.scheme.step(n), states[n], phi1, phi0) for n in range(self.num_steps)]
        return adjacency.edge_index, torch.stack(alpha)[:, adjacency.is_edge]

    @property
    def epsilon(self) -> Tensor:
        """GWN-fa: eps of the steps 1 ... n-1."""
        epsilon = self.laplacian.epsilon
        if epsilon is None:
            raise GWNError("this network has no epsilon; use laplacian='fa'")
        return epsilon

    def extra_repr(self) -> str:
        return f"time={self.time}, tau={self.scheme.tau}, steps={self.num_steps}, dropout={self.dropout}"


def _rows_of(logits: Tensor, rows: Tensor | None) -> Tensor:
    return logits if rows is None else logits.index_select(0, rows)


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """Evaluation mode inside the block, every part's former mode after it: some may be frozen."""
    former = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in former:
            part.training = training
