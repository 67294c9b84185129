"""ADC (Zhao et al., NeurIPS 2021)."""

from __future__ import annotations

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.dropout import dropout
from gwn.errors import GWNError
from gwn.models.peers.layers import graph_of
from gwn.networks.feedforward import Linear, drop_features
from gwn.sparse import SparseMatrix, sparse_linear


class ADC(nn.Module):
    """`H(l+1) = relu(sum_{k<K} theta_k(t) T^k H(l) W(l) + b(l))`, `theta_k(t) = e^-t t^k / k!`.

    `T = D~^-1/2 (A + I) D~^-1/2`. The diffusion time `t` is learned, one for every layer and channel
    (`per_channel=False`: one a layer), and starts at `time`. Defaults are the authors' for GCN on Cora
    (config_Cora_GCN.yaml, args.py of abcbdf/ADC): K = 10 terms, time 5, two layers of 64, dropout 0.5. Choices: the
    channels are those behind the linear map, where wide sparse features need not be spread over the graph (with one
    time a layer both orders are the same); `t` is not kept positive, as in their code. They train `t` on the validation
    loss in turns with the weights; here all is trained on the training nodes, so that validation only chooses.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_terms: int = 10,
        time: float = 5.0,
        per_channel: bool = True,
        num_layers: int = 2,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        if num_terms < 2:
            raise GWNError(f"num_terms must be at least 2: the term 0 is the node itself; got {num_terms}")
        self.num_terms, self.time, self.dropout = num_terms, time, dropout
        widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.layers = nn.ModuleList(Linear(a, b, bias=False) for a, b in pairwise(widths))
        self.biases = nn.ParameterList(nn.Parameter(torch.empty(width)) for width in widths[1:])
        self.diffusion = nn.ParameterList(
            nn.Parameter(torch.empty(self.diffusion_shape(width if per_channel else 1))) for width in widths[1:]
        )
        self.reset_parameters()

    def diffusion_shape(self, channels: int) -> tuple[int, ...]:
        """What is learned of the diffusion in one layer, as a difference from where it starts."""
        return (channels,)

    def reset_parameters(self) -> None:
        for layer, bias, change in zip(self.layers, self.biases, self.diffusion, strict=True):
            nn.init.xavier_uniform_(layer.weight)  # type: ignore[arg-type]
            nn.init.zeros_(bias)
            nn.init.zeros_(change)

    def theta(self, change: Tensor) -> Tensor:
        """The weight of every power, [K, channels]."""
        return heat_weights(self.time + change, self.num_terms)

    def diffuse(self, matrix: SparseMatrix, hidden: Tensor, theta: Tensor) -> Tensor:
        """`sum_k theta_k T^k h`."""
        out = theta[0] * hidden
        for weight in theta[1:]:
            hidden = sparse_linear(matrix, hidden)
            out = out + weight * hidden
        return out

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        matrix = graph_of(x, edge_index, edge_weight).matrix
        hidden: Tensor | SparseMatrix = drop_features(x, self.dropout, self.training)
        for number, (layer, bias, change) in enumerate(zip(self.layers, self.biases, self.diffusion, strict=True)):
            if isinstance(hidden, Tensor) and number > 0:
                hidden = dropout(F.relu(hidden), self.dropout, self.training)
            hidden = self.diffuse(matrix, layer(hidden), self.theta(change)) + bias
        assert isinstance(hidden, Tensor)
        return hidden


def heat_weights(time: Tensor, terms: int) -> Tensor:
    """`e^-t t^k / k!` for k = 0 ... K-1, [K, channels]."""
    weights = [torch.exp(-time)]
    for k in range(1, terms):
        weights.append(weights[-1] * time / k)
    return torch.stack(weights)
