"""GWN-sym: the symmetric normalised adjacency as it stands on the paper's right-hand side."""

from __future__ import annotations

from typing import Any, ClassVar

from gwn.adjacency import Adjacency
from gwn.laplacians.base import FixedOperator, Laplacian


class Symmetric(Laplacian):
    """`L_a = D^-1/2 A D^-1/2` (paper, "Symmetric Normalized Laplacian"): no parameters, the same in every step.

    Its largest eigenvalue is +1, so smooth modes grow in every step whatever tau is (`docs/mathematics.md`).
    """

    fixed = True
    symmetric = True
    reference: ClassVar[dict[str, Any]] = {"self_loops": "keep", "directed": True}

    @property
    def interval(self) -> tuple[float, float]:
        return -1.0, 1.0

    def on(self, adjacency: Adjacency) -> FixedOperator:
        return FixedOperator(adjacency)
