"""What the head sees of the wave."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn


class Readout(nn.Module, ABC):
    """From the wave to the head's input.

    needs_trajectory   whether it looks at every state, which then have to be kept
    """

    needs_trajectory = False

    def __init__(self, channels: int, steps: int) -> None:
        super().__init__()
        self.channels, self.steps = channels, steps

    @property
    def width(self) -> int:
        """Channels of what `forward` returns."""
        return self.channels

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""

    @abstractmethod
    def forward(self, wave: Tensor, phi0: Tensor, phi1: Tensor) -> Tensor:
        """`wave` is X(n), [N, d], or the trajectory, [n + 1, N, d]."""


class Last(Readout):
    """X(n), as the paper has it."""

    def forward(self, wave: Tensor, phi0: Tensor, phi1: Tensor) -> Tensor:
        return wave


class Weighted(Readout):
    """`sum_n w_n X(n)` with learned weights, one for each state; starts as their mean."""

    needs_trajectory = True

    def __init__(self, channels: int, steps: int) -> None:
        super().__init__(channels, steps)
        self.weights = nn.Parameter(torch.empty(steps + 1))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.constant_(self.weights, 1.0 / (self.steps + 1))

    def forward(self, wave: Tensor, phi0: Tensor, phi1: Tensor) -> Tensor:
        return (self.weights @ wave.flatten(1)).view(wave.shape[1:])


class Trajectory(Readout):
    """`[X(0) || X(1) || ... || X(n)]`: every state, side by side."""

    needs_trajectory = True

    @property
    def width(self) -> int:
        return self.channels * (self.steps + 1)

    def forward(self, wave: Tensor, phi0: Tensor, phi1: Tensor) -> Tensor:
        return wave.transpose(0, 1).reshape(wave.shape[1], self.width)


class WithEncoder(Readout):
    """`[X(n) || phi0 || phi1]`: the last state beside what the encoders said of the node alone."""

    @property
    def width(self) -> int:
        return 3 * self.channels

    def forward(self, wave: Tensor, phi0: Tensor, phi1: Tensor) -> Tensor:
        return torch.cat([wave, phi0, phi1], dim=1)


READOUTS: dict[str, type[Readout]] = {
    "last": Last,
    "weighted": Weighted,
    "trajectory": Trajectory,
    "with-encoder": WithEncoder,
}
