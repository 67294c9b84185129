"""Stability, told truthfully: spectra, growth per step, the largest stable step, amplification over a run.

A mode with `L_a v = mu v` follows `r² - (2 + tau² mu) r + 1 = 0` under leapfrog. The two roots multiply to one, so no
mode grows exponentially if and only if every `mu` lies in [-4 / tau², 0]; at an end of it the roots are double, and the
mode drifts, linearly at most. Other schemes have other roots (`Scheme.growth`).
With attention, alpha(n) is held at what the network computes on the given graph, and the linear recurrence that this
leaves is examined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs, eigsh
from torch import Tensor

from gwn.adjacency import Adjacency
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.laplacians import Gradients, Operator, Step
from gwn.networks import GWN
from gwn.networks.wave import evaluating
from gwn.schemes import Scheme, integrate
from gwn.sparse import SparseMatrix, addmm_

SMALL = 64
"""Up to this many nodes the dense matrix is decomposed; Lanczos needs more room."""

BOUNDED = 1 + 1e-6
"""A growth factor up to here counts as 1: eigenvalues are computed to about eight digits."""

MODES = 201
"""Modes looked at between the extreme eigenvalues; the fastest stands at an end, the most amplified may not."""

SAMPLED_STEPS = 8
"""Steps of an attention network whose own spectrum is computed, spread evenly over the run."""

ZERO = 1e-8
"""An eigenvalue below this share of the largest is zero up to rounding; a growth factor would show its square root."""

Product = Callable[[Tensor], Tensor]


@dataclass(frozen=True, kw_only=True)
class Stability:
    """A network's dynamics on one graph.

    low, high       the extreme eigenvalues of `L_a` (of its symmetric part, where it is not symmetric)
    growth          the factor of the fastest mode in one step
    amplification   the largest factor by which the whole run multiplies an initial displacement
    largest_tau     the largest step length for which nothing grows: 0 for none, inf for every, nan where it is not
                    known (directed edges, so complex eigenvalues)
    """

    tau: float
    steps: int
    low: float
    high: float
    growth: float
    amplification: float
    largest_tau: float

    @property
    def stable(self) -> bool:
        return self.growth <= BOUNDED

    def to_json(self) -> dict[str, Any]:
        """Infinite numbers become text and unknown ones null, which JSON has no other way to hold."""
        values = {name: "inf" if value == math.inf else value for name, value in asdict(self).items()}
        return {**{name: None if value != value else value for name, value in values.items()}, "stable": self.stable}


def analyse(model: GWN, graph: Graph) -> Stability:
    """The stability of a network's dynamics on a graph; with attention, of the operator that it has learned."""
    graph = graph.to("cpu", torch.float64)
    model = deepcopy(model).to("cpu", torch.float64)  # the caller's stays where it is
    linear = _linear(model, graph)
    low, high = _interval(linear, graph.num_nodes)
    growth, amplified = _growth_and_amplification(model, linear, graph.num_nodes, (low, high))
    return Stability(
        tau=model.scheme.tau,
        steps=model.num_steps,
        low=low,
        high=high,
        growth=growth,
        amplification=amplified,
        largest_tau=math.nan if model.directed else model.scheme.largest_stable_tau(low, high),
    )


def apply(operator: Operator, x: Tensor, n: int = 0) -> Tensor:
    """`L_a(n) x`, whatever scheme it is going to be used with."""
    return operator.advance_(n, Step(x=0.0, x_prev=0.0, force=1.0), x, torch.zeros_like(x), x)


def energy(operator: Operator, x: Tensor, x_next: Tensor, tau: float) -> Tensor:
    """`||X(n+1) - X(n)||² / tau² - <X(n+1), L_a X(n)>`: constant under leapfrog with a symmetric `L_a`."""
    return ((x_next - x) / tau).square().sum() - (x_next * apply(operator, x)).sum()


def extreme_eigenvalues(product: Product, nodes: int) -> tuple[float, float]:
    """The smallest and the largest eigenvalue of a symmetric operator, by Lanczos."""

    def matvec(vector: Any) -> Any:
        return product(torch.from_numpy(np.ascontiguousarray(vector, dtype=np.float64).reshape(-1, 1))).numpy().ravel()

    if nodes <= SMALL:
        values = np.linalg.eigvalsh(np.stack([matvec(unit) for unit in np.eye(nodes)], axis=1))
        return _without_rounding(float(values[0]), float(values[-1]))
    vector, radius = np.random.default_rng(1).standard_normal(nodes), 0.0
    for _ in range(10):  # the power method: roughly the largest eigenvalue
        vector = matvec(vector / np.linalg.norm(vector))
        radius = float(np.linalg.norm(vector))
        if radius == 0.0:
            return 0.0, 0.0
    # ARPACK's tolerance is relative to the eigenvalue, so one near zero never converges and the next is returned in
    # its place; shifted by twice the radius, no eigenvalue is near zero.
    shift = 2 * radius
    low = _lanczos(lambda vector: matvec(vector) - shift * vector, nodes, "SA", 1e-9) + shift
    high = _lanczos(lambda vector: matvec(vector) + shift * vector, nodes, "LA", 1e-9) - shift
    return _without_rounding(low, high)


def _lanczos(matvec: Callable[[Any], Any], nodes: int, which: Any, tolerance: float) -> float:
    matrix = LinearOperator((nodes, nodes), matvec=matvec, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(nodes)
    try:
        found: Any = eigsh(matrix, k=1, which=which, v0=start, return_eigenvectors=False, tol=tolerance, ncv=40)
    except ArpackNoConvergence as error:
        found = error.eigenvalues
        if len(found) == 0:
            raise GWNError("the extreme eigenvalues did not converge in float64 on this graph") from None
    return float(found[0])


def _without_rounding(low: float, high: float) -> tuple[float, float]:
    small = ZERO * max(abs(low), abs(high))
    return (0.0 if abs(low) <= small else low), (0.0 if abs(high) <= small else high)


def mode_amplification(scheme: Scheme, mu: float, steps: int) -> float:
    """`|X(steps)|` of a mode with `L_a v = mu v`, from displacement 1 without velocity; inf where it overflows."""
    symbol, before, now = scheme.symbol(mu), 0.0, 1.0
    for n in range(steps):
        step = scheme.step(n)
        previous = 0.0 if step.first else before  # in the first step that is the velocity
        before, now = now, (step.x + step.force * symbol) * now + step.x_prev * previous
    return abs(now) if math.isfinite(now) else math.inf


def _growth_and_amplification(
    model: GWN, linear: Linear, nodes: int, interval: tuple[float, float]
) -> tuple[float, float]:
    """From the spectrum for an operator that is symmetric and stays the same; by Arnoldi and power iteration else."""
    scheme, steps, operator = model.scheme, model.num_steps, linear.operator
    modes = [float(mu) for mu in np.linspace(*interval, MODES)]
    if linear.symmetric and linear.matrices == 1:
        growth = max(map(scheme.growth, modes))
        if linear.itself is None:
            return growth, max(mode_amplification(scheme, mu, steps) for mu in modes)
        return growth, _power_amplification(linear.itself, scheme, steps, nodes)
    if linear.symmetric:
        growth = max(map(scheme.growth, modes))
    else:
        places, prepared = _sampled(linear.matrices), scheme.prepare(operator)
        growth = max(_spectral_radius(scheme.step(max(n, 1)), prepared, n, nodes) for n in places)
    return growth, _power_amplification(operator, scheme, steps, nodes)


def _sampled(steps: int) -> list[int]:
    return sorted({round(place) for place in np.linspace(0, steps - 1, min(steps, SAMPLED_STEPS))})


@torch.no_grad()
def _spectral_radius(step: Step, operator: Operator, n: int, nodes: int) -> float:
    """The largest eigenvalue, in absolute value, of one step as a map of (X(n-1), X(n))."""

    def matvec(vector: Any) -> Any:
        before, now = torch.from_numpy(np.array(vector, dtype=np.float64).reshape(2, nodes, 1)).clone()
        following = operator.advance_(n, step, now, before.clone(), now)
        return torch.cat([now, following]).numpy().ravel()

    if nodes <= SMALL:
        columns = [matvec(unit) for unit in np.eye(2 * nodes)]
        return float(np.abs(np.linalg.eigvals(np.stack(columns, axis=1))).max())
    matrix = LinearOperator((2 * nodes, 2 * nodes), matvec=matvec, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(2 * nodes)
    try:
        found: Any = eigs(matrix, k=1, which="LM", v0=start, return_eigenvectors=False, tol=1e-6, ncv=40)
    except ArpackNoConvergence as error:
        found = error.eigenvalues
    return float(np.abs(found).max()) if len(found) else math.nan


def _power_amplification(operator: Operator, scheme: Scheme, steps: int, nodes: int, iterations: int = 20) -> float:
    """The norm of the map from X(0) to X(steps) without velocity, by power iteration with its adjoint."""
    vector = torch.randn(nodes, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    still = torch.zeros_like(vector)
    norm = 0.0
    for _ in range(iterations):
        vector = (vector / vector.norm()).requires_grad_()
        out = integrate(operator, scheme, vector, still, steps, x0=still)
        norm = float(out.detach().norm())
        if not math.isfinite(norm) or norm == 0.0:
            return norm if norm == 0.0 else math.inf
        (vector,) = torch.autograd.grad(out, vector, out.detach() / norm)
    return norm


class Linear(NamedTuple):
    """An operator with the spectrum of a network's on one graph, attention frozen.

    matrices   how many there are, one for every step; 1 where it stays the same
    itself     the network's own operator, where the other has its spectrum but not its norm
    """

    operator: Operator
    symmetric: bool
    matrices: int
    itself: Operator | None = None


def _linear(model: GWN, graph: Graph) -> Linear:
    like = torch.zeros(graph.num_nodes, 1, dtype=torch.float64)
    with torch.no_grad():
        adjacency = model.adjacency(like, graph.edge_index, graph.edge_weight)
        if model.laplacian.fixed:
            itself = None if model.laplacian.symmetric else model.laplacian.fastest_on(adjacency)
            return Linear(model.laplacian.similar_on(adjacency), not model.directed, 1, itself)
        frozen = _frozen(model, graph.x, adjacency)
        return Linear(frozen, model.laplacian.symmetric and not model.directed, len(frozen.matrices))


def _frozen(model: GWN, x: Tensor, adjacency: Adjacency) -> FrozenOperator:
    """`L_a(n)` at the states that this network computes on this graph."""
    states = model.trajectory(x, adjacency)
    with evaluating(model):
        phi0, phi1 = model.encode(x)
        operator = model.laplacian.on(adjacency)
    return FrozenOperator(
        [operator.frozen(n, model.scheme.step(n), states[n], phi1, phi0) for n in range(model.num_steps)]
    )


class FrozenOperator(Operator):
    """A given matrix for every step."""

    needs_states = False

    def __init__(self, matrices: Sequence[SparseMatrix]) -> None:
        self.matrices = matrices

    def advance_(self, n: int, step: Step, x: Tensor, x_prev: Tensor, x0: Tensor) -> Tensor:
        return addmm_(x_prev.mul_(step.x_prev).add_(x, alpha=step.x), self.matrices[n], x, alpha=step.force)

    def pull_back_(
        self, n: int, step: Step, x: Tensor | None, grad_next: Tensor, grad: Tensor, beta: float, total: Gradients
    ) -> Tensor:
        grad.mul_(beta).add_(grad_next, alpha=step.x)
        return addmm_(grad, self.matrices[n].t, grad_next, alpha=step.force)


def _interval(linear: Linear, nodes: int) -> tuple[float, float]:
    """The extreme eigenvalues of the operator (of its symmetric part), over its sampled steps."""
    operator, ends = linear.operator, []
    still = torch.zeros(nodes, 1, dtype=torch.float64)
    for n in _sampled(linear.matrices):
        total = Gradients(operator.parameters, still, still)

        def product(x: Tensor, n: int = n, total: Gradients = total) -> Tensor:
            forward = apply(operator, x, n)
            if linear.symmetric:
                return forward
            step = Step(x=0.0, x_prev=0.0, force=1.0)
            return (forward + operator.pull_back_(n, step, x, x, torch.zeros_like(x), 0.0, total)) / 2

        with torch.no_grad():
            ends.append(extreme_eigenvalues(product, nodes))
    return min(low for low, _ in ends), max(high for _, high in ends)
