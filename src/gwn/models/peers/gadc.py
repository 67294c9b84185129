"""GADC (Zhao et al., NeurIPS 2021): ADC without the heat kernel."""

from __future__ import annotations

import torch
from torch import Tensor

from gwn.models.peers.adc import ADC, heat_weights


class GADC(ADC):
    """`H(l+1) = relu(sum_{k<K} theta_k T^k H(l) W(l) + b(l))` with learned `theta`, one for every layer and channel.

    The generalised diffusion of the paper: `theta` is free rather than `e^-t t^k / k!`. Settings as for `adc`, and like
    its `t`, `theta` is trained on the training nodes, where the authors take the validation loss.
    Choice: the paper does not say where `theta` starts (the authors' code has one constant); here it starts as ADC
    does, at the heat kernel of `time`. `reference`, the default on the shelf, has `theta = softmax(.)` over the powers,
    as the authors' code does, which starts at their mean; `reference=false` is the paper's free `theta`.
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
        reference: bool = False,
    ) -> None:
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            num_terms=num_terms,
            time=time,
            per_channel=per_channel,
            num_layers=num_layers,
            dropout=dropout,
        )
        self.reference = reference

    def diffusion_shape(self, channels: int) -> tuple[int, ...]:
        return (self.num_terms, channels)

    def theta(self, change: Tensor) -> Tensor:
        if self.reference:
            return torch.softmax(change, 0)
        start = heat_weights(torch.tensor([self.time], dtype=change.dtype, device=change.device), self.num_terms)
        return start + change
