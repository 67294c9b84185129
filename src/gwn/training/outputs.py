"""What a trained network says about the nodes of validation and test, and how that becomes an answer for people."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from gwn.training.loss import Scaling


@dataclass(frozen=True, kw_only=True, eq=False)
class Outputs:
    """Outputs [n, c] of a network and the targets [n] it learnt, for the nodes of validation and test.

    scaling   for numbers: what makes outputs and targets numbers in the units of the table
    """

    val: Tensor
    y_val: Tensor
    test: Tensor
    y_test: Tensor
    scaling: Scaling | None = None
