"""GADC (Zhao et al., NeurIPS 2021): ADC without the heat kernel."""

from __future__ import annotations

import torch
from torch import Tensor

from gwn.models.peers.adc import ADC, heat_weights


class GADC(ADC):
    """`H(l+1) = relu(sum_{k<K} theta_k T^k H(l) W(l) + b(l))` with learned `theta`, one for every layer and channel.

    The generalised diffusion of the paper: `theta` is free rather than `e^-t t^k / k!`. Settings as for `adc`.
    Choice: the paper does not say where `theta` starts (the authors' code has one constant); here it starts as ADC
    does, at the heat kernel of `time`.
    """

    def diffusion_shape(self, channels: int) -> tuple[int, ...]:
        return (self.num_terms, channels)

    def theta(self, change: Tensor) -> Tensor:
        start = heat_weights(torch.tensor([self.time], dtype=change.dtype, device=change.device), self.num_terms)
        return start + change
