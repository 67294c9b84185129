"""What a Laplacian is to the time loop: something that advances a state by one step, and pulls a gradient back.

Every explicit scheme is the same three-term recurrence with other numbers,

    X(n+1) = a X(n) + b X(n-1) + c L_a(n) X(n) + s eps(n) X(0),

so an operator is asked for the whole right-hand side at once and can fuse it into one sparse product.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from gwn.adjacency import Adjacency
from gwn.dimension import Dimension
from gwn.errors import GWNError
from gwn.sparse import SparseMatrix, addmm_


class Step(NamedTuple):
    """The numbers of one step: `x X(n) + x_prev X(n-1) + force L_a(n) X(n) + source eps(n) X(0)`.

    first   whether this is the step from X(0), in which the place of X(n-1) is taken by the initial velocity
    """

    x: float
    x_prev: float
    force: float
    source: float = 0.0
    first: bool = False


class Gradients:
    """What a backward pass collects beside the gradient of the state."""

    def __init__(self, parameters: tuple[Tensor, ...], x_prev: Tensor, x0: Tensor) -> None:
        self.parameters = [torch.zeros_like(parameter) for parameter in parameters]
        self._inputs = {"x_prev": x_prev, "x0": x0}
        self._sums: dict[str, Tensor] = {}

    def input(self, name: str) -> Tensor:
        """The tensor the loop was started with: `x_prev` (the initial velocity) or `x0`."""
        return self._inputs[name]

    def of(self, name: str) -> Tensor:
        """The running gradient of that input, zero at first."""
        if name not in self._sums:
            self._sums[name] = torch.zeros_like(self._inputs[name])
        return self._sums[name]

    def get(self, name: str) -> Tensor | None:
        """The gradient, or None where nothing contributed."""
        return self._sums.get(name)


class Operator(ABC):
    """`L_a` on one graph, for one pass through time; made anew for every forward pass, so it may hold parameters."""

    needs_states: bool
    """Whether the gradient needs the states X(n); not so for an operator that is linear and has no parameters."""

    reversible: bool = True
    """Whether states may be computed backwards in time: not if the operator itself depends on the state, which lets
    small errors grow even where every single step is bounded."""

    remember: bool = False
    """Whether what `advance_` computes may be kept for `pull_back_`: set by the time loop for short runs."""

    @property
    def parameters(self) -> tuple[Tensor, ...]:
        """The tensors that receive a gradient from `pull_back_`."""
        return ()

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the eigenvalues of `L_a` lie on any undirected graph with the present parameters, where these move
        them; None where what the Laplacian said when it was built still holds."""
        return None

    @property
    def minus_identity(self) -> Adjacency | None:
        """The graph whose `S - I` this operator is, None where it is another: what a series in S needs."""
        return None

    @abstractmethod
    def advance_(self, n: int, step: Step, x: Tensor, x_prev: Tensor, x0: Tensor) -> Tensor:
        """Overwrite `x_prev` = X(n-1) with X(n+1)."""

    @abstractmethod
    def pull_back_(
        self, n: int, step: Step, x: Tensor | None, grad_next: Tensor, grad: Tensor, beta: float, total: Gradients
    ) -> Tensor:
        """`grad <- beta grad + (d X(n+1) / d X(n))^T grad_next`, in place; other gradients go into `total`."""

    def add_source_(self, n: int, step: Step, out: Tensor, x0: Tensor) -> Tensor:
        """Add `step.source eps(n) X(0)` to `out`; most operators have no such term."""
        return out

    def pull_back_source(self, n: int, step: Step, grad_next: Tensor, total: Gradients) -> None:
        """The gradients of `add_source_`, into `total`."""
        return

    def attention(self, n: int, step: Step, x: Tensor, velocity: Tensor, x0: Tensor) -> Tensor:
        """alpha(n) of every entry of the pattern, at the state X(n), for a Laplacian that `attends`."""
        raise GWNError(f"{type(self).__name__} has no attention")

    def frozen(self, n: int, step: Step, x: Tensor, velocity: Tensor, x0: Tensor) -> SparseMatrix:
        """`L_a(n)` as a matrix, held at what it is at the state X(n): for an operator that depends on the state."""
        raise GWNError(f"{type(self).__name__} is no matrix at a given state, so its stability is not known")


class Laplacian(nn.Module, ABC):
    """A rule that turns a graph into `L_a`, with whatever it learns.

    What others need to know of it, it says here, so that nobody asks which one it is.
    """

    traits: ClassVar[tuple[str, ...]] = ("fixed", "symmetric")
    """What every Laplacian must say; the other traits have a value that suits most."""

    fixed: bool
    """Whether `L_a` is the same in every step, whatever the state: what an implicit or exact scheme needs."""

    symmetric: bool
    """Whether `L_a` is symmetric on an undirected graph: what conjugate gradients need."""

    exact_with: ClassVar[tuple[str, ...]] = ()
    """The exact schemes that solve this `L_a`."""

    attends: bool = False
    """Whether its operator has an `attention` on every edge."""

    reference: ClassVar[dict[str, Any]] = {}
    """The options of the reference code where it differs from the paper's text."""

    search: ClassVar[tuple[Dimension, ...]] = ()
    """What a search may try of its own settings."""

    first_schemes: ClassVar[tuple[str, ...]] = ()
    """Schemes that a search lists before the others that suit it."""

    def __init__(self, channels: int, steps: int, sources: int | None = None) -> None:
        super().__init__()
        self.channels = channels
        self.steps = steps
        self.sources = steps - 1 if sources is None else sources

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the eigenvalues of `L_a` lie on any undirected graph (its norm, if it is not symmetric)."""
        return None

    @property
    def indivisible(self) -> str:
        """Why several processes cannot share its rows, and what to do; empty where they can."""
        return ""

    @property
    def epsilon(self) -> Tensor | None:
        """eps(n) of the source `eps(n) X(0)`, None where there is none."""
        return None

    def settings(self) -> dict[str, int | float | str]:
        """The numbers and words that decide `L_a`, whatever the width of the state."""
        return {
            name: value
            for name, value in vars(self).items()
            if isinstance(value, (int, float, str)) and name not in ("training", "channels")
        }

    @abstractmethod
    def on(self, adjacency: Adjacency) -> Operator:
        """The operator on one graph, with the present parameters."""

    def fastest_on(self, adjacency: Adjacency) -> Operator:
        """The operator of one channel: the fastest, where they differ."""
        return self.on(adjacency)

    def similar_on(self, adjacency: Adjacency) -> Operator:
        """An operator with the same eigenvalues that is symmetric, where there is one: for computing spectra."""
        return self.on(adjacency)

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""


class FixedOperator(Operator):
    """`L_a = shift I + scale S`, the same in every step: a step is one sparse product, and so is its adjoint."""

    needs_states = False

    def __init__(self, adjacency: Adjacency, shift: float = 0.0, scale: float = 1.0) -> None:
        self.adjacency, self.shift, self.scale = adjacency, shift, scale

    @property
    def minus_identity(self) -> Adjacency | None:
        return self.adjacency if (self.shift, self.scale) == (-1.0, 1.0) else None

    def advance_(self, n: int, step: Step, x: Tensor, x_prev: Tensor, x0: Tensor) -> Tensor:
        matrix = self.adjacency.affine(step.x + step.force * self.shift, step.force * self.scale)
        return addmm_(x_prev, matrix, x, beta=step.x_prev)

    def pull_back_(
        self, n: int, step: Step, x: Tensor | None, grad_next: Tensor, grad: Tensor, beta: float, total: Gradients
    ) -> Tensor:
        matrix = self.adjacency.affine(step.x + step.force * self.shift, step.force * self.scale)
        return addmm_(grad, matrix if self.adjacency.symmetric else matrix.t, grad_next, beta=beta)
