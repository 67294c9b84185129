"""What a step costs on paper: bytes moved, bytes held, and the time they take at a measured rate.

A product `S X` reads, for every entry of S, its column number (4 bytes), its value (4) and a row of X (4 d); and for
every node it reads and writes a row of the new state (8 d). Nothing else grows with the graph and the width together.
"""

from __future__ import annotations

from dataclasses import dataclass

ARC = 8
"""Bytes of an entry of S: column number and value."""

FLOAT = 4


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A graph and a network; `arcs` counts both directions of an edge."""

    nodes: float
    arcs: float
    width: int
    steps: int

    @property
    def entries(self) -> float:
        """Of S in memory, whose pattern holds the diagonal."""
        return self.arcs + self.nodes

    @property
    def product(self) -> float:
        """Bytes that one sparse product moves."""
        return self.entries * (ARC + FLOAT * self.width) + self.nodes * 2 * FLOAT * self.width


def step_of_sym(shape: Shape) -> float:
    """Bytes of a training step with a fixed operator: a product forward and one backward, in every step of the wave."""
    return 2 * shape.steps * shape.product


def step_of_fa(shape: Shape) -> float:
    """Bytes of a training step with attention: the two products, and the gradient of alpha, which reads two rows an
    entry; and some numbers an entry for alpha itself: score, tanh, value, their gradients, and the transpose."""
    sampled = shape.entries * 2 * FLOAT * shape.width
    scores = shape.entries * 12 * FLOAT
    return shape.steps * (2 * shape.product + sampled + scores)


def propagation(shape: Shape, features: int) -> float:
    """Bytes moved when `[x, 1]` is propagated from files, as a displacement and as a velocity, `width` columns at a
    time: the entries of S are read anew for every block of columns."""
    columns = features + 1
    blocks = -(-columns // shape.width)
    per_block = shape.arcs * ARC * 2 * shape.steps * blocks
    rows = shape.arcs * FLOAT * columns * 2 * shape.steps
    states = shape.nodes * 3 * FLOAT * columns * 2 * shape.steps
    return per_block + rows + states


def on_disk(nodes: float, arcs: float, features: int) -> float:
    """Bytes of the graph folder, of the values of S, and of the propagated features."""
    graph = 8 * nodes + FLOAT * arcs + FLOAT * nodes * features + 6 * nodes
    return graph + FLOAT * arcs + 2 * FLOAT * nodes * (features + 1)


def columns_in(memory: float, nodes: float, buffers: int = 4) -> int:
    """How many columns can be propagated together in so much memory."""
    return int(memory // (FLOAT * nodes * buffers))
