"""What the paper's stability theorems say, what holds of them, and `gwn.stability` against dense eigenvalues.

Named after the paper's statements; `docs/stability.md` refers to the tests here by name.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import eval_chebyt, eval_chebyu
from torch import Tensor

import dense
import modes
from dense import close
from graphs import complete, cycle, edge_lists, edges, normal, path, random_edges, toy_graph
from gwn import GWN, Graph, GWNError
from gwn.adjacency import normalised_adjacency
from gwn.laplacians import FixedOperator
from gwn.laplacians.speed import LearnedSpeed
from gwn.schemes import Bessel, Damped, Heat, Leapfrog, Newmark, integrate
from gwn.schemes.rescaled import LeapfrogRescaled
from gwn.stability import SMALL, analyse, apply, extreme_eigenvalues, mode_amplification
from modes import Matrix, companion, spectral_radius
from seeds import reseed
from tolerance import double_root

TAUS = (0.2, 0.5, 1.0, 2.0, 5.0)


def rho(tau: float, mu: float = 1.0) -> float:
    """The larger root of `r² - (2 + tau² mu) r + 1` for mu > 0; with mu = 1 the formula of mathematics.md."""
    return 1 + tau**2 * mu / 2 + tau * math.sqrt(mu) * math.sqrt(1 + tau**2 * mu / 4)


def S_of(edge_index: Tensor, nodes: int) -> Matrix:
    return dense.normalise(dense.adjacency(edge_index, nodes))


def has_edge(edge_index: Tensor) -> bool:
    return bool((edge_index[0] != edge_index[1]).any())


# Proposition 1


def test_proposition_1_sign() -> None:
    """As printed, `(D - A) X` is `sum_j (x_i - x_j)`: the algebra holds. It is minus the Laplace operator, though.

    The derivation of the scheme in the appendix sums weights times `(x_j - x_i)`: with the weights of the edges that is
    `-(D - A) X`, the opposite sign, and on a path the second difference that `u_tt = u_xx` has. Only if its `L_ij` are
    read as entries of `D - A`, which are negative off the diagonal, is it the printed sign again.
    """
    edge_index, nodes, x = random_edges(12, 40), 12, normal(12, 3).numpy()
    A = dense.adjacency(edge_index, nodes)
    L = np.diag(A.sum(1)) - A
    printed = np.array([sum(A[i, j] * (x[i] - x[j]) for j in range(nodes)) for i in range(nodes)])

    def appendix(weights: Matrix) -> Matrix:
        return np.array([sum(A[i, j] * weights[i, j] * (x[j] - x[i]) for j in range(nodes)) for i in range(nodes)])

    close(L @ x, printed, 1e-13)
    close(appendix(A), -printed, 1e-13)
    close(appendix(L), printed, 1e-13)

    A = dense.adjacency(path(7), 7)
    second_difference = (A - np.diag(A.sum(1))) @ x[:7]
    close(second_difference[1:6], x[:5] - 2 * x[1:6] + x[2:7], 1e-13)


def test_proposition_1_as_printed_is_anti_diffusive() -> None:
    """`u_tt = +L u` has no eigenvalue below zero: no mode swings, and all but the constant ones grow like a cosh."""
    L = np.diag(dense.adjacency(cycle(9), 9).sum(1)) - dense.adjacency(cycle(9), 9)
    values = np.linalg.eigvalsh(L)
    assert values.min() > -1e-12
    assert (values > 0.1).sum() == 8
    for tau in (0.01, 0.1, 1.0):
        assert spectral_radius(companion(L, tau)) == pytest.approx(rho(tau, values.max()), rel=1e-9)
        assert spectral_radius(companion(-L / values.max(), tau)) == pytest.approx(1.0, abs=1e-6)


def test_proposition_1_is_not_the_operator_of_the_models() -> None:
    """`L_a = S` is neither `D - A` nor its normalised form `I - S`, but `I` minus that: the sign of the neighbours is
    the physical one, and the term `-x_i` that would make it a restoring force is missing."""
    S, x = S_of(random_edges(12, 40), 12), normal(12, 2).numpy()
    operator = GWN(2, 2, 2, laplacian="sym").laplacian.on(
        normalised_adjacency(random_edges(12, 40), None, 12, dtype=torch.float64)
    )
    close(apply(operator, torch.from_numpy(x)), S @ x, 1e-14)
    assert np.linalg.eigvalsh(S).min() < 0 < np.linalg.eigvalsh(S).max()


# Theorem 1


@pytest.mark.parametrize("tau", [0.3, 1.0, 1.3])
def test_theorem_1_holds_where_the_eigenvalues_on_the_circle_are_simple(tau: float) -> None:
    """rho(C) = 1 and no double root: the powers of C stay below one constant."""
    L = S_of(random_edges(12, 40), 12) - 1.1 * np.eye(12)
    C = companion(L, tau)
    assert spectral_radius(C) == pytest.approx(1.0, abs=1e-12)
    V = np.linalg.cond(np.linalg.eig(C)[1])
    power = np.eye(24)
    for _ in range(2000):
        power = C @ power
        assert np.linalg.norm(power, 2) <= V * (1 + 1e-6)


def test_theorem_1_fails_at_a_double_root() -> None:
    """mu = 0 and mu = -4 / tau²: rho(C) = 1, and the powers of C grow like their exponent. That is the drift."""
    for mu in (0.0, -4.0):
        C = companion(np.array([[mu]]), 1.0)
        assert spectral_radius(C) == pytest.approx(1.0, abs=double_root())
        norms = [np.linalg.norm(np.linalg.matrix_power(C, k), 2) for k in (100, 1000, 10000)]
        assert norms[1] / norms[0] == pytest.approx(10, rel=0.02)
        assert norms[2] / norms[1] == pytest.approx(10, rel=0.02)


def test_theorem_1_is_sharp() -> None:
    """Above 1 the powers grow geometrically, whatever else is true of C."""
    C = companion(S_of(cycle(7), 7), 0.5)
    norms = [np.linalg.norm(np.linalg.matrix_power(C, k), 2) for k in (40, 41)]
    assert norms[1] / norms[0] == pytest.approx(spectral_radius(C), rel=1e-6)


# Theorem 2


@given(edge_lists(), st.floats(0.01, 20.0))
def test_theorem_2_fails_for_every_tau_on_every_graph_with_an_edge(graph: tuple[int, Tensor], tau: float) -> None:
    """S has the eigenvalue +1, so C has rho(tau) > 1; and nothing grows faster."""
    nodes, edge_index = graph
    assume(has_edge(edge_index))
    assert spectral_radius(companion(S_of(edge_index, nodes), tau)) == pytest.approx(rho(tau), rel=1e-6)
    assert rho(tau) > 1 + tau


@given(st.floats(-8.0, 8.0))
def test_theorem_2_the_two_roots_multiply_to_one(middle: float) -> None:
    """`r² - middle r + 1 = 0`: the paper's proof looks at lambda_1 where it is small and at lambda_2 where that is."""
    first, second = np.roots([1.0, -middle, 1.0])
    assert abs(first * second - 1) < 1e-9
    largest = max(abs(first), abs(second))
    assert (largest <= 1 + 1e-6) == (abs(middle) <= 2 + 1e-12)


@pytest.mark.parametrize("low", [-4.0, -2.0, -0.5])
@pytest.mark.parametrize("tau", [0.5, 1.0, 2.0])
def test_theorem_2_bounded_if_and_only_if_the_spectrum_lies_below_zero_and_above_the_bound(
    low: float, tau: float
) -> None:
    for high in (-0.1, 0.0, 0.2):
        growth = max(spectral_radius(companion(np.array([[mu]]), tau)) for mu in (low, high))
        assert (growth <= 1 + double_root()) == (high <= 0 and low >= -4 / tau**2)


@pytest.mark.parametrize("tau", [0.01, 0.2, 1.0, 3.0, 10.0])
def test_theorem_2_what_holds_a_bound_that_grows_with_time_only(tau: float) -> None:
    """`||X(n)|| <= cosh(T) ||phi0|| + sinh(T) ||phi1||`, T = n tau, for every tau.

    Because |T_n| and |U_{n-1}| on [1 - tau²/2, 1 + tau²/2] are largest at the right end, where they are hyperbolic
    functions of n eta, and eta = 2 arsinh(tau/2) <= tau. So the growth belongs to the equation, not to large steps.
    """
    x = 1 + tau**2 / 2 * np.linspace(-1, 1, 401)
    assert 2 * math.asinh(tau / 2) <= tau
    assert rho(tau) == pytest.approx(math.exp(2 * math.asinh(tau / 2)), rel=1e-12)
    for n in (1, 2, 5, 12):
        time = n * tau
        assert np.abs(eval_chebyt(n, x)).max() <= math.cosh(time) * (1 + 1e-9)
        assert tau * np.abs(eval_chebyu(n - 1, x)).max() <= math.sinh(time) * (1 + 1e-9)


def test_theorem_2_what_holds_convergence_to_the_hyperbolic_cosine() -> None:
    """For a fixed T and tau -> 0 the scheme finds the solution of its equation, `cosh(t sqrt(S))`, to second order."""
    a = normalised_adjacency(complete(5), None, 5, dtype=torch.float64)
    values, V = np.linalg.eigh(modes.matrix(a))
    exact = V @ np.diag(np.where(values > 0, np.cosh(3 * np.sqrt(abs(values))), np.cos(3 * np.sqrt(abs(values))))) @ V.T
    unit, errors = torch.eye(5, dtype=torch.float64), []
    for steps in (30, 60, 120):
        found = integrate(FixedOperator(a), Leapfrog(3.0 / steps), unit, torch.zeros_like(unit), steps)
        errors.append(np.abs(found.numpy() - exact).max())
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.02)
    assert errors[1] / errors[2] == pytest.approx(4, rel=0.02)


@pytest.mark.parametrize(
    ("tau", "paper", "physical"),
    [(0.2, 1.2210, 1.0), (0.5, 1.6404, 1.0), (1.0, 2.6180, 1.0), (2.0, 5.8284, 5.459), (5.0, 26.963, 45.74)],
)
def test_the_table_of_the_mathematics_note(tau: float, paper: float, physical: float) -> None:
    """Section 2: measured = formula; the second row has the lowest eigenvalue of Wisconsin, -1.91057."""
    L = S_of(random_edges(20, 50), 20)
    assert spectral_radius(companion(L, tau)) == pytest.approx(rho(tau), rel=1e-6)
    assert rho(tau) == pytest.approx(paper, rel=5e-5)
    lowest = np.array([[-1.9105724]])
    assert spectral_radius(companion(lowest, tau)) == pytest.approx(physical, rel=2e-4)


# Theorem 3


@given(edge_lists(), st.floats(0.01, 10.0), st.floats(0.01, 0.99), st.sampled_from([1, -1]))
def test_theorem_3_fails_for_every_tau_and_both_signs(
    graph: tuple[int, Tensor], tau: float, eps: float, sign: int
) -> None:
    """`eps I + S` has the eigenvalue 1 + eps; `eps I - S` has one above eps, because the trace of S is zero."""
    nodes, edge_index = graph
    assume(has_edge(edge_index))
    L = eps * np.eye(nodes) + sign * S_of(edge_index, nodes)
    growth = spectral_radius(companion(L, tau))
    assert growth > rho(tau, eps) * (1 - 1e-9)
    assert growth > 1
    if sign == 1:
        assert growth == pytest.approx(rho(tau, 1 + eps), rel=1e-6)
        assert growth > rho(tau)


@given(edge_lists(), st.integers(0, 1000), st.floats(0.05, 5.0))
def test_theorem_3_says_nothing_of_gwn_fa_whose_attention_grows_too(
    graph: tuple[int, Tensor], seed: int, tau: float
) -> None:
    """The operator of GWN-fa is `alpha ⊙ S`, not `eps I ± S`. Its trace is zero, so unless all of its eigenvalues are
    zero, one is positive or not real: it lies outside [-4/tau², 0]."""
    nodes, edge_index = graph
    W = dense.attention(2 * normal(6, seed=seed).numpy(), normal(nodes, 3, seed=seed + 1).numpy()) * S_of(
        edge_index, nodes
    )
    assert abs(np.trace(W)) < 1e-12
    if np.abs(np.linalg.eigvals(W)).max() > 1e-3:
        assert spectral_radius(companion(W, tau)) > 1 + 1e-5


# gwn.stability


def graph_of(edge_index: Tensor, nodes: int, features: int = 5) -> Graph:
    return Graph(x=normal(nodes, features, dtype=torch.float32), edge_index=edge_index)


def network(laplacian: str = "sym", scheme: str = "leapfrog", tau: float = 1.0, steps: int = 6, **more: Any) -> GWN:
    reseed(1)
    settings = {"laplacian": laplacian, "scheme": scheme, "allow_unstable": True, "dropout": 0.0, **more}
    return GWN(5, 3, 2, tau=tau, time=steps * tau, **settings)


OPERATORS = {
    "sym": lambda S, P: S,
    "physical": lambda S, P: S - np.eye(len(S)),
    "klein-gordon": lambda S, P: S - 1.25 * np.eye(len(S)),
    "random-walk": lambda S, P: P - np.eye(len(S)),
    "polynomial": lambda S, P: S - np.eye(len(S)),
}
SMALL_GRAPHS = {**modes.graphs(), "random": (random_edges(20, 50), 20), "larger": (random_edges(70, 160), 70)}


@pytest.mark.parametrize("laplacian", OPERATORS)
@pytest.mark.parametrize("graph", SMALL_GRAPHS)
def test_numbers_are_those_of_dense_matrices(graph: str, laplacian: str) -> None:
    """Extremes, growth and amplification; the larger graph goes through Lanczos, the others do not."""
    edge_index, nodes = SMALL_GRAPHS[graph]
    assert (nodes > SMALL) == (graph == "larger")
    S, P = S_of(edge_index, nodes), np.nan_to_num(_random_walk(edge_index, nodes))
    L = OPERATORS[laplacian](S, P)
    values = np.linalg.eigvals(L).real
    for tau in (0.5, 1.7):
        found = analyse(network(laplacian, tau=tau), graph_of(edge_index, nodes))
        assert (found.low, found.high) == pytest.approx((values.min(), values.max()), abs=1e-7)
        assert found.growth == pytest.approx(spectral_radius(companion(L, tau)), abs=1e-5)
        assert (found.tau, found.steps) == (tau, 6)
        if laplacian != "random-walk":  # of a symmetric operator: the norm of T_6(I + tau²/2 L)
            norm = np.abs(eval_chebyt(6, 1 + tau**2 / 2 * values)).max()
            assert norm * (1 - 1e-6) <= found.amplification
            if found.growth > 1.01:
                assert found.amplification == pytest.approx(norm, rel=1e-6)
            else:
                assert found.amplification <= 1 + 1e-6


@pytest.mark.parametrize("speed", ["none", "scalar", "channel"])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_random_walk_amplifies_beyond_its_modes(steps: int, speed: str) -> None:
    """On a star its eigenvectors are far from orthogonal: no mode grows, and a pulse at the hub does."""
    edge_index = torch.stack([torch.zeros(100, dtype=torch.long), torch.arange(1, 101)])
    model = GWN(3, 4, 2, laplacian="random-walk", time=float(steps), tau=1.0, speed=speed)
    P = _random_walk(edge_index, 101) - np.eye(101)
    before, now = np.eye(101), np.eye(101) + P / 2
    for _ in range(steps - 1):
        before, now = now, 2 * now + P @ now - before
    found = analyse(model, graph_of(edge_index, 101))
    assert found.amplification == pytest.approx(np.linalg.norm(now, 2), rel=1e-4)
    assert found.amplification > 5
    assert found.growth == pytest.approx(1.0)


def _random_walk(edge_index: Tensor, nodes: int) -> Matrix:
    A = dense.adjacency(edge_index, nodes)
    with np.errstate(invalid="ignore"):
        return A / A.sum(1, keepdims=True)


@pytest.mark.parametrize("scheme", ["leapfrog", "damped", "newmark", "heat", "bessel"])
@pytest.mark.parametrize("tau", [0.4, 1.0, 3.0])
def test_amplification_is_that_of_matrix_powers(scheme: str, tau: float) -> None:
    """The whole run as a matrix, from unit vectors; a mode at a time in `gwn.stability`."""
    steps, operator = 7, FixedOperator(modes.adjacency(), shift=-1.0)
    model = network("physical", scheme, tau, steps)
    values, V = np.linalg.eigh(modes.matrix(modes.adjacency()) - np.eye(modes.NODES))
    unit = torch.eye(modes.NODES, dtype=torch.float64)
    run = integrate(operator, model.scheme, unit, torch.zeros_like(unit), steps).numpy()
    by_mode = [mode_amplification(model.scheme, float(mu), steps) for mu in values]
    close(by_mode, np.abs(np.diag(V.T @ run @ V)), 1e-9)
    assert max(by_mode) == pytest.approx(np.linalg.norm(run, 2), rel=1e-9)


def test_the_growth_of_every_scheme_is_that_of_its_own_step() -> None:
    """The larger root against the spectral radius of the two-step map."""
    for scheme in (Leapfrog(0.9), Damped(0.9, damping=0.4), Newmark(2.5), Bessel(3.0), Heat(0.9)):
        for mu in (-2.0, -0.7, -0.01):
            step = scheme.step(3)
            C = np.array([[step.x + step.force * scheme.symbol(mu), step.x_prev], [1.0, 0.0]])
            assert scheme.growth(mu) == pytest.approx(spectral_radius(C), abs=1e-9)


@pytest.mark.parametrize(
    ("scheme", "low", "high", "largest"),
    [
        (Leapfrog(0.3), -2.0, 0.0, math.sqrt(2)),
        (Leapfrog(5.0), -2.0, 0.0, math.sqrt(2)),
        (Leapfrog(1.0), -1.9105724, 0.0, 2 / math.sqrt(1.9105724)),
        (Damped(0.3), -1.5, -0.2, 2 / math.sqrt(1.5)),
        (Heat(0.3), -2.0, 0.0, 1.0),
        (Heat(7.0), -1.25, 0.0, 1.6),
        (Newmark(3.0), -2.0, 0.0, math.inf),
        (Bessel(3.0), -2.0, 0.0, math.inf),
        (Leapfrog(0.3), -1.0, 1.0, 0.0),
        (Heat(0.3), -1.0, 1.0, 0.0),
        (Newmark(0.3), -1.0, 1.0, 0.0),
        (LeapfrogRescaled(0.3, (-1.0, 1.0)), -1.0, 1.0, math.inf),
        (Leapfrog(0.3), 0.0, 0.0, math.inf),
    ],
)
def test_the_largest_stable_step_is_exact(scheme: Any, low: float, high: float, largest: float) -> None:
    assert scheme.largest_stable_tau(low, high) == pytest.approx(largest, rel=1e-12)


@pytest.mark.parametrize(("scheme", "kind"), [("leapfrog", Leapfrog), ("heat", Heat), ("damped", Damped)])
def test_just_below_the_largest_step_nothing_grows_and_just_above_it_does(scheme: str, kind: Any) -> None:
    edge_index, nodes = random_edges(20, 50), 20
    largest = analyse(network("physical", scheme, 0.5), graph_of(edge_index, nodes)).largest_tau
    low = np.linalg.eigvalsh(S_of(edge_index, nodes) - np.eye(nodes)).min()
    assert kind(largest * 0.9999).growth(low) <= 1 + 1e-12
    assert kind(largest * 1.0001).growth(low) > 1 + 1e-5
    assert analyse(network("physical", scheme, largest * 0.999), graph_of(edge_index, nodes)).stable
    assert not analyse(network("physical", scheme, largest * 1.001), graph_of(edge_index, nodes)).stable


def test_any_step_is_stable_where_it_should_be() -> None:
    """Rounding in the zero eigenvalue must not pass for growth, even with a step of a thousand."""
    for scheme in ("newmark", "bessel"):
        for tau in (5.0, 100.0, 1000.0):
            found = analyse(network("physical", scheme, tau, steps=3), graph_of(random_edges(90, 200), 90))
            assert found.stable
            assert found.high == 0.0
            assert found.largest_tau == math.inf
    for laplacian in ("sym", "fa"):
        found = analyse(network(laplacian, "leapfrog-rescaled", 3.0), graph_of(random_edges(90, 200), 90))
        assert found.stable
        assert found.largest_tau == math.inf


def test_eigenvalues_near_zero_are_not_skipped() -> None:
    """ARPACK's tolerance is relative: unshifted, it takes the second eigenvalue for the zero one on such a graph."""
    parts = [cycle(400), *(edges((400 + 2 * i, 401 + 2 * i)) for i in range(60))]
    nodes, edge_index = 520, torch.cat(parts, dim=1)
    operator = FixedOperator(normalised_adjacency(edge_index, None, nodes, dtype=torch.float64), shift=-1.0)
    assert extreme_eigenvalues(lambda x: apply(operator, x), nodes) == pytest.approx((-2.0, 0.0), abs=1e-9)
    nothing = FixedOperator(normalised_adjacency(edges(), None, 100, dtype=torch.float64))
    assert extreme_eigenvalues(lambda x: apply(nothing, x), 100) == (0.0, 0.0)


@pytest.mark.parametrize("nodes", [20, 70])
def test_asymmetric_attention_is_examined_as_it_is(nodes: int) -> None:
    """GWN-fa: the growth is that of the alpha this network computes, step by step."""
    graph, model = graph_of(random_edges(nodes, 3 * nodes), nodes), network("fa", tau=0.8, steps=4)
    with torch.no_grad():
        model.laplacian.g.mul_(3.0)
    edge_index, alpha = model.attention(graph.x, graph.edge_index)
    S, found = S_of(graph.edge_index, nodes), analyse(model, graph)
    growth, ends, run, before = [], [], np.eye(nodes), np.zeros((nodes, nodes))
    for n in range(4):
        W = np.zeros((nodes, nodes))
        W[edge_index[1], edge_index[0]] = alpha[n].numpy()
        W *= S
        growth.append(spectral_radius(companion(W, 0.8)))
        ends.append(np.linalg.eigvalsh((W + W.T) / 2)[[0, -1]])
        step = (np.eye(nodes) + 0.32 * W) if n == 0 else (2 * np.eye(nodes) + 0.64 * W)
        before, run = run, step @ run - (0 if n == 0 else before)
    assert found.growth == pytest.approx(max(growth), rel=1e-4)
    assert (found.low, found.high) == pytest.approx((min(e[0] for e in ends), max(e[1] for e in ends)), abs=1e-5)
    assert found.amplification == pytest.approx(np.linalg.norm(run, 2), rel=2e-2)
    assert found.largest_tau == 0.0
    assert next(model.parameters()).dtype == torch.float32, "the network is left as it was"


def test_the_network_is_not_moved_to_be_examined() -> None:
    """Neither to another type nor to another device: what an optimiser holds is still what it computes with."""
    model = network("fa", steps=2)
    before = [parameter.detach() for parameter in model.parameters()]
    analyse(model, graph_of(random_edges(20, 50), 20))
    after = list(model.parameters())
    assert [tensor.data_ptr() for tensor in before] == [parameter.data_ptr() for parameter in after]


@pytest.mark.parametrize("attention", ["first", "every"])
def test_symmetric_attention_is_bounded_in_every_step(attention: str) -> None:
    model = network("fa-symmetric", tau=1.4, steps=5, attention=attention)
    with torch.no_grad():
        model.laplacian.g.mul_(5.0)
    found = analyse(model, graph_of(random_edges(90, 200), 90))
    lanczos = 1e-8  # ten times its tolerance: attention of almost one comes close to the bounds
    assert -2 - lanczos <= found.low < found.high <= lanczos
    assert found.growth == pytest.approx(1.0, abs=1e-9)
    assert found.largest_tau >= math.sqrt(2) - lanczos
    assert found.stable


@pytest.mark.parametrize("speed", ["scalar", "channel"])
@pytest.mark.parametrize("laplacian", ["physical", "random-walk", "sym", "fa", "fa-symmetric"])
def test_a_learned_speed_counts(laplacian: str, speed: str) -> None:
    """The fastest channel decides: `a²` times the spectrum."""
    graph = graph_of(random_edges(20, 50), 20)
    plain, fast = network(laplacian, tau=0.5, steps=1), network(laplacian, tau=0.5, steps=1, speed=speed)
    assert isinstance(fast.laplacian, LearnedSpeed)
    with torch.no_grad():
        fast.laplacian.raw.fill_(-3.0)
        fast.laplacian.raw[-1] = 0.7
        squared = float(fast.laplacian.squared.max())
    state = {name: value for name, value in fast.state_dict().items() if name != "laplacian.raw"}
    plain.load_state_dict({name.replace("laplacian.inner.", "laplacian."): value for name, value in state.items()})
    slow, found = analyse(plain, graph), analyse(fast, graph)
    assert squared > 1.5
    assert (found.low, found.high) == pytest.approx((squared * slow.low, squared * slow.high), abs=1e-5)
    if laplacian in ("sym", "fa"):
        assert found.growth > slow.growth + 0.01
    else:
        assert found.largest_tau == pytest.approx(slow.largest_tau / math.sqrt(squared), rel=1e-5)


@pytest.mark.parametrize(
    ("laplacian", "speed"), [("sym", "none"), ("physical", "none"), ("polynomial", "none"), ("physical", "scalar")]
)
@pytest.mark.parametrize("nodes", [20, 70])
def test_directed_edges_have_complex_eigenvalues(laplacian: str, speed: str, nodes: int) -> None:
    """The bounds for symmetric operators do not hold there, and no largest step is claimed."""
    edge_index = random_edges(nodes, 3 * nodes)
    S = dense.normalise(dense.adjacency(edge_index, nodes, directed=True))
    L = S if laplacian == "sym" else S - np.eye(nodes)
    found = analyse(network(laplacian, tau=0.8, directed=True, speed=speed), graph_of(edge_index, nodes))
    assert found.growth == pytest.approx(spectral_radius(companion(L, 0.8)), rel=1e-4)
    assert found.growth > 1.05
    assert math.isnan(found.largest_tau)
    assert found.to_json()["largest_tau"] is None


def test_as_json() -> None:
    found = analyse(network("physical", "newmark", 3.0), graph_of(cycle(7), 7)).to_json()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["largest_tau"] == "inf"
    assert found["stable"] is True
    deep = analyse(network("sym", tau=5.0, steps=1000), graph_of(cycle(7), 7)).to_json()
    assert deep["amplification"] == "inf"
    assert deep["largest_tau"] == 0.0
    assert deep["stable"] is False


def test_a_graph_without_edges_and_a_single_node() -> None:
    for nodes in (1, 100):
        found = analyse(network("sym"), graph_of(edges(), nodes))
        assert (found.low, found.high, found.growth, found.stable) == (0.0, 0.0, 1.0, True)
        found = analyse(network("physical"), graph_of(edges(), nodes))
        assert (found.low, found.high) == pytest.approx((-1.0, -1.0))
        assert found.largest_tau == pytest.approx(2.0)


def test_a_toy_graph_in_a_moment_and_the_same_twice() -> None:
    graph = toy_graph(300)
    reseed(0)
    model = GWN(8, 4, 2, laplacian="fa", time=3.0)
    assert analyse(model, graph) == analyse(model, graph)


def test_a_learned_mass_is_seen() -> None:
    """It may grow out of the range in which the step was checked."""
    model, graph = network("klein-gordon", tau=1.0, learn_mass=True), graph_of(cycle(7), 7)
    assert analyse(model, graph).stable
    with torch.no_grad():
        model.laplacian.mass.fill_(1.8)
    found = analyse(model, graph)
    assert not found.stable
    assert found.high == pytest.approx(-3.24, abs=1e-5)


def test_polynomial_newmark_may_turn_indefinite_and_says_so() -> None:
    model = network("polynomial", "newmark", 3.0)
    with torch.no_grad():
        model.laplacian.theta[0] = 1.0
    graph = graph_of(cycle(7), 7)
    with pytest.raises(GWNError, match="not positive definite"):
        model(graph.x, graph.edge_index)
    assert not analyse(model, graph).stable
