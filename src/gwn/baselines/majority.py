"""The floor of every table: always the most frequent class."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gwn.model_spec import ModelSpec


class Majority(nn.Module):
    """`Y_i = b` for every node: a learned bias, no features and no edges.

    The cross-entropy of the training nodes is least where `softmax(b)` is their class frequencies, so training it like
    any other model makes it predict the most frequent training class. `b` starts from small random numbers, so that
    the seed decides between equally frequent classes.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.empty(out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.normal_(self.bias, std=0.01)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        return self.bias + self.bias.new_zeros(x.shape[0], 1)


SPEC = ModelSpec(
    name="majority",
    network=Majority,
    title="Majority class",
    paper="no model: the share of the most frequent class",
    year=1986,
    kind="mainstream",
    origin="ours",
    ignores=("features", "edges"),
)
