"""A bank of waves: every node weighs what a wave carries to it, what the wave leaves over, and its own signal."""

from __future__ import annotations

import inspect
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.adjacency import SELF_LOOPS, Adjacency, adjacency_of
from gwn.dropout import check_dropout, dropout_mask
from gwn.dropout import dropout as drop
from gwn.errors import GWNError
from gwn.networks.dynamics import build_dynamics, dynamics_options
from gwn.networks.feedforward import ACTIVATIONS, NORMS, Linear, drop_features
from gwn.networks.node_weights import NodeWeights
from gwn.networks.readout import READOUTS
from gwn.registry import lookup, require_known
from gwn.schemes import count_steps, integrate
from gwn.sparse import SparseMatrix, TensorCache

STRUCTURES = ("none", "channel", "velocity")
GATES = ("channels", "own", "sum")
STATES = ("last", "weighted")
DIRECTIONS = ("both", "stored", "reversed")

_EDGES = TensorCache()
"""Edges that are none, or reversed: one tensor for each graph, so that what is built from it is kept."""


class WaveBank(nn.Module):
    """`sum_c alpha_c act(H_c)` over `low = wave(z W_l)`, `high = z W_h - wave(z W_h)` and `own = z W_o`.

    `wave(u)` is X(n), or `sum_n w_n X(n)` with learned weights, of the wave that starts from `u` at rest. A fourth
    channel `A W_s`, with a row of `W_s` for every node, is `structure="channel"`; with "velocity" it is what the waves
    start with instead of rest.

    gate   where `alpha` comes from: "channels", `softmax(sigmoid([norm(H_c) w_c]_c) W_mix / C)`, or "own",
           `softmax(z W_g)`; "sum" has none: `low + own + b`, which its block normalises and activates. Over an operator
           that is not symmetric, `own = z (W_o + W_r)`: GraphSAGE's convolution has the node's own signal, and its
           residual connection has it again; as both learn, `own` moves twice as far in a step
    own    False for a sum without the node's own signal: `low + b`
    norm   what its block does with the sum
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        laplacian: str,
        scheme: str,
        steps: int,
        tau: float,
        states: str,
        structure: str,
        gate: str,
        own: bool,
        norm: str,
        activation: str,
        directed: bool,
        options: dict[str, Any],
    ) -> None:
        super().__init__()
        self.out_channels, self.steps, self.structure = out_channels, steps, structure
        self.activation = lookup("activation", activation, ACTIVATIONS)
        gated = gate != "sum"
        waves = 2 * out_channels if gated else out_channels
        self.widths = [waves, out_channels] if own else [waves]
        self.laplacian, self.scheme = build_dynamics(
            laplacian, scheme, waves, steps, tau, directed=directed, options=options
        )
        self.states = lookup("readout", states, READOUTS)(waves, steps)
        self.linear = Linear(in_channels, sum(self.widths), bias=False)
        self.edges = None
        if structure != "none":
            width = waves if structure == "velocity" else out_channels
            self.edges = NodeWeights(width, bias=False, bound=out_channels**-0.5)
        self.bias = None if gated else nn.Parameter(torch.empty(out_channels))
        self.residual = None
        if own and not gated and not self.laplacian.symmetric:
            self.residual = nn.Parameter(torch.empty(in_channels, out_channels))
        self.draws_bias = own and norm != "batch"  # which would subtract it again
        self.gate: nn.Module | None = None
        if gated:
            count = 4 if structure == "channel" else 3
            self.gate = Linear(in_channels, count) if gate == "own" else ChannelGate(count, out_channels)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights uniform within `1 / sqrt(out)`, as ACM-GCN has them; of a sum as the tuned classics have them, the
        GCN's over a symmetric operator: Glorot's where the wave begins, `1 / sqrt(in)` for the node's own, which it
        then sees less of; GraphSAGE's over a random walk: `1 / sqrt(in)` for all. Its bias is that of the residual
        connection: beside row-normalised features it is nearly all that the first norm sees. The rest as the parts
        do."""
        if self.bias is None:
            nn.init.uniform_(self.linear.weight, -(self.out_channels**-0.5), self.out_channels**-0.5)
        else:
            self.linear.reset_parameters()
            if self.laplacian.symmetric:
                nn.init.xavier_uniform_(self.linear.weight.data[:, : self.widths[0]])
            bound = max(1, self.linear.weight.shape[0]) ** -0.5
            if self.residual is not None:
                nn.init.uniform_(self.residual, -bound, bound)
            if self.draws_bias:
                nn.init.uniform_(self.bias, -bound, bound)
            else:
                nn.init.zeros_(self.bias)
        for part in (self.laplacian, self.states, self.gate, self.edges):
            if part is not None:
                part.reset_parameters()  # type: ignore[operator]

    def forward(self, z: Tensor | SparseMatrix, adjacency: Adjacency, plain: SparseMatrix | None) -> Tensor:
        mapped = self._mapped(z)
        # `split`: the gradient of a slice would be as wide as all of them, mostly zeros.
        start, *own = torch.split(mapped, self.widths, 1)
        start = start.contiguous()
        of_edges: list[Tensor] = [] if self.edges is None else [self.edges(plain)]
        velocity = of_edges.pop() if self.structure == "velocity" else torch.zeros_like(start)
        operator = self.laplacian.on(adjacency)
        wave = integrate(operator, self.scheme, start, velocity, self.steps, trajectory=self.states.needs_trajectory)
        seen: Tensor = self.states(wave, start, velocity)
        if self.bias is not None:
            return sum([*own, *of_edges], start=seen + self.bias)
        low, carried = seen.chunk(2, 1)
        return self._weighed([low, start.chunk(2, 1)[1] - carried, *own, *of_edges], z)

    def _mapped(self, z: Tensor | SparseMatrix) -> Tensor:
        """What all waves start from, beside the node's own signal."""
        if self.residual is None:
            mapped: Tensor = self.linear(z)
            return mapped
        wave, own = torch.split(self.linear.weight, self.widths, 1)
        return Linear.product(z, torch.cat([wave, own + self.residual], 1), None)

    def of_states(self, states: Tensor) -> Tensor:
        """The same from X(0) ... X(n) of what it sees, [n + 1, rows, f]: the wave and the weights commute."""
        z, wave = states[0], states if self.states.needs_trajectory else states[-1]
        low, high, own = self.linear.weight.chunk(3, 1)
        carried = self.states(wave, z, z)
        return self._weighed([carried @ low, (z - carried) @ high, z @ own], z)

    def _weighed(self, parts: list[Tensor], z: Tensor | SparseMatrix) -> Tensor:
        channels = [self.activation(part) for part in parts]
        assert self.gate is not None
        alpha = self.gate(channels) if isinstance(self.gate, ChannelGate) else torch.softmax(self.gate(z), 1)
        # Not stacked: that, and the gradients of its slices, would move each channel several times more.
        first, *others = [weight * h for weight, h in zip(alpha.split(1, 1), channels, strict=True)]
        mixed: Tensor = sum(others, start=first)
        return mixed


class ChannelGate(nn.Module):
    """`softmax(sigmoid([norm(H_c) w_c]_c) W_mix / C)` for every node, over C channels: that of ACM-GCN+."""

    def __init__(self, count: int, channels: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(channels) for _ in range(count))
        self.score = nn.Parameter(torch.empty(count, channels))
        self.mix = nn.Parameter(torch.empty(count, count))

    def reset_parameters(self) -> None:
        nn.init.uniform_(self.score, -1.0, 1.0)
        nn.init.uniform_(self.mix, -(self.mix.shape[0] ** -0.5), self.mix.shape[0] ** -0.5)
        for norm in self.norms:
            norm.reset_parameters()  # type: ignore[operator]

    def forward(self, channels: list[Tensor]) -> Tensor:
        """Weights [N, C] of channels [N, f]."""
        # Stacked: channel by channel the gradient of `score` is the same sum in another order, and so other bits, where
        # f is no whole number of the processor's vectors, such as the classes of a last bank.
        scored = torch.stack([norm(h) for norm, h in zip(self.norms, channels, strict=True)], 1)
        return torch.softmax(torch.sigmoid((scored * self.score).sum(-1)) @ self.mix / self.mix.shape[0], 1)


class BankGWN(nn.Module):
    """Blocks of wave banks between an encoder and a head: `h(l+1) = h(l) + bank(dropout(norm(h(l))))`.

    `h(0) = relu(x W)`, and the head sees `[h(L) || h(0)]` with `ego`. With `encoder` false the first bank sees the
    features, and with `head` false the last bank gives the classes: two such banks with one step of sqrt 2 over the
    random walk with self-loops and `structure="channel"` are ACM-GCN+.

    With `gate="sum"` a block is that of the tuned classics, `h(l+1) = dropout(act(norm(wave(h W_l) + h W_o + b)))`:
    without an encoder, one step of sqrt 2 over the symmetric operator with self-loops is the tuned GCN, over the random
    walk the tuned GraphSAGE. Their residual connection is `h W_o`, and over the walk, where GraphSAGE has that
    signal itself, `h W_r` beside it; `residual=false` leaves out both.

    num_layers        L, how many banks
    laplacian, scheme, time, tau    of the waves in every bank; one to three steps are usual
    states            what is seen of a wave: its "last" state, or all of them "weighted"
    structure, gate, activation   see `WaveBank`
    residual, norm    of the blocks: a gated one adds its input where that is as wide as its output, a sum has `h W_o`
    direction         of the arcs that the waves follow: "both", or as "stored" or "reversed" where the graph has one
    edges             False for the graph-free twin: the same network on a graph without edges
    precompute        one bank on the features themselves, which may be propagated once to files (`of_states`)
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        laplacian: str = "random-walk",
        scheme: str = "leapfrog",
        time: float = 2.0,
        tau: float = 1.0,
        states: str = "weighted",
        structure: str = "none",
        gate: str = "channels",
        activation: str = "relu",
        encoder: bool = True,
        head: bool = True,
        ego: bool = True,
        residual: bool = True,
        norm: str = "layer",
        dropout: float = 0.5,
        input_dropout: float | None = None,
        direction: str = "both",
        self_loops: str = "add",
        edges: bool = True,
        precompute: bool = False,
        **options: Any,
    ) -> None:
        super().__init__()
        require_known("states", states, STATES)
        require_known("structure", structure, STRUCTURES)
        require_known("gate", gate, GATES)
        require_known("self_loops", self_loops, SELF_LOOPS)
        require_known("direction", direction, DIRECTIONS)
        if ego and not (encoder and head):
            raise GWNError("ego=true needs an encoder and a head, which sees what the encoder says; set ego=false")
        input_dropout = dropout if input_dropout is None else input_dropout
        check_dropout(dropout=dropout, input_dropout=input_dropout)
        self.dropout, self.input_dropout = dropout, input_dropout
        self.direction, self.self_loops, self.edges, self.structure = direction, self_loops, edges, structure
        self.ego, self.residual, self.gated = ego, residual, gate != "sum"
        self.encoder = Linear(in_channels, hidden_channels) if encoder else None
        first = hidden_channels if encoder else in_channels
        widths = [first, *[hidden_channels] * (num_layers - 1), hidden_channels if head else out_channels]
        bank: dict[str, Any] = {
            "laplacian": laplacian,
            "scheme": scheme,
            "steps": count_steps(time, tau),
            "tau": tau,
            "states": states,
            "structure": structure,
            "gate": gate,
            "own": residual or gate != "sum",
            "norm": norm,
            "activation": activation,
            "directed": direction != "both",
            "options": options,
        }
        self.banks = nn.ModuleList(WaveBank(a, b, **bank) for a, b in pairwise(widths))
        normalise = lookup("norm", norm, NORMS)
        inside = num_layers + head - 1
        self.norms = nn.ModuleList(normalise(hidden_channels) for _ in range(inside + (encoder and self.gated)))
        """Of what every bank but the first sees, of what the first one sees behind an encoder, and before the head; of
        a sum, behind every bank but one that gives the classes."""
        self.head = Linear(hidden_channels * (2 if ego else 1), out_channels) if head else None
        alone = num_layers == 1 and not encoder and edges and structure == "none" and direction == "both" and self.gated
        if precompute and not (alone and self.first.laplacian.fixed and not list(self.first.laplacian.parameters())):
            raise GWNError(
                "precompute needs one bank on the features and waves that do not learn: num_layers=1, encoder=false, "
                "ego=false, structure=none, direction=both, a gate other than sum and a fixed Laplacian; leave it out, "
                "or change these"
            )
        self.precompute = precompute

    @property
    def first(self) -> WaveBank:
        """The first bank, which sees the features where there is no encoder."""
        bank = self.banks[0]
        assert isinstance(bank, WaveBank)
        return bank

    @staticmethod
    def further_settings(laplacian: str | None = None, **fixed: Any) -> dict[str, inspect.Parameter]:
        """The `options` that there are: with this Laplacian, or with any of them."""
        return dynamics_options(laplacian)

    def reset_parameters(self) -> None:
        for part in (self.encoder, *self.banks, *self.norms, self.head):
            if part is not None and not isinstance(part, nn.Identity):
                part.reset_parameters()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Logits [N, c]."""
        if not self.edges:
            edge_index, edge_weight = _EDGES.get(edge_index, "none", lambda: edge_index[:, :0].clone()), None
        elif self.direction == "reversed":
            edge_index = _EDGES.get(edge_index, "reversed", lambda: edge_index.flip(0))
        adjacency = self._adjacency(x, edge_index, edge_weight, self.self_loops)
        plain = None
        if self.structure != "none":
            plain = self._adjacency(x, edge_index, edge_weight, "none").plain
        features = drop_features(x, self.input_dropout, self.training)
        if not self.gated:
            return self._of_sums(features, adjacency, plain)
        banks = list(self.banks)
        if self.encoder is None:
            hidden: Tensor = banks.pop(0)(features, adjacency, plain)
        else:
            hidden = F.relu(self.encoder(features))
        first = hidden
        for bank, norm in zip(banks, self.norms, strict=False):
            out: Tensor = bank(drop(norm(hidden), self.dropout, self.training), adjacency, plain)
            hidden = hidden + out if self.residual and hidden.shape == out.shape else out
        return self._read(hidden, first)

    def _of_sums(self, features: Tensor | SparseMatrix, adjacency: Adjacency, plain: SparseMatrix | None) -> Tensor:
        """Norm, activation and dropout stand behind every sum that does not give the classes."""
        hidden = features if self.encoder is None else F.relu(self.encoder(features))
        first = hidden
        for number, bank in enumerate(self.banks):
            out: Tensor = bank(hidden, adjacency, plain)
            if number == len(self.norms):
                return out
            hidden = drop(self.first.activation(self.norms[number](out)), self.dropout, self.training)
        assert self.head is not None
        logits: Tensor = self.head(torch.cat([hidden, first], 1) if self.ego else hidden)  # type: ignore[list-item]
        return logits

    def of_states(self, states: Tensor) -> Tensor:
        """The same from X(0) ... X(n) of the features of some nodes, [n + 1, rows, f], where `precompute` allows it.

        In training, features are dropped behind the wave instead of before it, the same ones in all states of a node.
        """
        if self.training and self.input_dropout > 0:
            states = states * dropout_mask(states[0], self.input_dropout)
        hidden = self.first.of_states(states)
        return self._read(hidden, hidden)

    def _read(self, hidden: Tensor, first: Tensor) -> Tensor:
        """What the head says of the last bank, and of the first with `ego`."""
        if self.head is None:
            return hidden
        seen = self.norms[-1](hidden)
        if self.ego:
            seen = torch.cat([seen, first], 1)
        logits: Tensor = self.head(drop(seen, self.dropout, self.training))
        return logits

    def _adjacency(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None, self_loops: str) -> Adjacency:
        return adjacency_of(
            edge_index, edge_weight, x.shape[0], dtype=x.dtype, directed=self.direction != "both", self_loops=self_loops
        )
