"""What every Laplacian with every scheme must do, or be refused for with a reason.

Run over the two shelves, so a new entry is covered without an edit; its dense equations may be added to `unrolled.py`.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck
from torch.func import functional_call

import unrolled
from dense import close
from graphs import edges, normal
from gwn import GWN, GWNError
from gwn.laplacians import LAPLACIANS
from gwn.laplacians.speed import SPEEDS
from gwn.schemes import SCHEMES
from gwn.schemes.newmark import TOLERANCE
from gwn.schemes.states import KEEP_ALL_STEPS
from seeds import reseed
from tolerance import rounding

N, F, D, C = 7, 3, 2, 2
TAU, SHORT, LONG = 0.2, 3, 17
assert SHORT <= KEEP_ALL_STEPS < LONG

NOT_FIXED = {"fa", "fa-symmetric"}
REFUSED = {
    **{("newmark", name): "depends on the state" for name in NOT_FIXED},
    ("newmark", "random-walk"): "needs a symmetric operator",
    ("newmark", "sym"): "indefinite",
    **{("bessel", name): "depends on the state" for name in NOT_FIXED},
    **{("bessel", name): "exact solution for L_a = S - I" for name in ("sym", "klein-gordon", "polynomial")},
    ("leapfrog-rescaled", "polynomial"): "spectrum is known",
}
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in LAPLACIANS),
    ("klein-gordon", {"learn_mass": True}),
    ("fa-symmetric", {"attention": "every"}),
    ("fa", {"attention_start": "velocity", "epsilon": "free"}),
    ("fa", {"epsilon": "none"}),
    ("polynomial", {"degree": 1}),
]


def graph() -> Tensor:
    """A triangle with a tail and a pair: two components, odd and even cycles, unequal degrees."""
    return edges((0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (5, 6))


def name_of(value: object) -> str:
    return "-".join(map(str, value.values())) if isinstance(value, dict) else str(value)


def network(laplacian: str, scheme: str, speed: str, steps: int, **options: Any) -> GWN:
    reseed(2)
    model = GWN(
        F, D, C, laplacian=laplacian, scheme=scheme, speed=speed, tau=TAU, time=steps * TAU, dropout=0.0, **options
    ).double()
    with torch.no_grad():  # away from where coefficients start, so that none of them is zero
        for parameter in model.laplacian.parameters():
            parameter.add_(0.1 * normal(parameter.numel(), seed=parameter.numel()).reshape(parameter.shape))
    return model


def refusal(laplacian: str, scheme: str) -> str | None:
    """What is said of a pair that is refused: today's written out, that of a new entry by its traits."""
    if (scheme, laplacian) in REFUSED or unrolled.has_equations_of(laplacian, scheme):
        return REFUSED.get((scheme, laplacian))
    time, space = SCHEMES[scheme], LAPLACIANS[laplacian](1, 1)
    reasons = {
        "depends on the state": time.needs_fixed and not space.fixed,
        "needs a symmetric operator": time.needs_symmetric and not space.symmetric,
        "spectrum is known": time.needs_interval and space.interval is None,
        "exact solution for": bool(time.exact) and scheme not in space.exact_with,
        "indefinite": scheme == "newmark" and space.interval is not None and space.interval[1] > 0,
    }
    return next((said for said, holds in reasons.items() if holds), None)


def refused(laplacian: str, scheme: str, speed: str) -> bool:
    return refusal(laplacian, scheme) is not None or (bool(SCHEMES[scheme].exact) and speed != "none")


def turn(laplacian: int, scheme: int, steps: int) -> str:
    """A speed for this place: the three take turns, so every two of Laplacian, scheme, steps and speed meet."""
    return list(SPEEDS)[(laplacian + scheme + steps) % len(SPEEDS)]


PAIRS = [
    (a, b, laplacian, options, scheme)
    for a, (laplacian, options) in enumerate(VARIANTS)
    for b, scheme in enumerate(SCHEMES)
    if not refused(laplacian, scheme, "none")
]
CASES = [
    (laplacian, options, scheme, "none" if SCHEMES[scheme].exact else turn(a, b, c), steps)
    for a, b, laplacian, options, scheme in PAIRS
    for c, steps in enumerate((1, SHORT, LONG))
]
CHECKED = [case for number, case in enumerate(CASES) if number % 3 == 1 + number // 3 % 2]
"""One for each pair, of few steps and of many by turns: what the plain loop checks too is not checked often."""


@pytest.mark.parametrize(("laplacian", "options", "scheme", "speed", "steps"), CHECKED, ids=name_of)
def test_gradients_are_those_of_finite_differences(
    laplacian: str, options: dict[str, Any], scheme: str, speed: str, steps: int
) -> None:
    model, edge_index = network(laplacian, scheme, speed, steps, **options), graph()
    names, values = zip(*model.named_parameters(), strict=True)
    x = normal(N, F).requires_grad_()

    def logits(x: Tensor, *parameters: Tensor) -> Tensor:
        out: Tensor = functional_call(model, dict(zip(names, parameters, strict=True)), (x, edge_index))
        return out

    assert bool(torch.isfinite(logits(x, *values)).all())
    assert gradcheck(logits, (x, *values), fast_mode=True)


@pytest.mark.parametrize(("laplacian", "options", "scheme", "speed", "steps"), CASES, ids=name_of)
def test_states_and_gradients_are_those_of_a_plain_dense_loop(
    laplacian: str, options: dict[str, Any], scheme: str, speed: str, steps: int
) -> None:
    """To n² roundings in float32, as a three-term recurrence carries each of n errors on for up to n steps.

    The networks around it count as a step. The largest entry is the measure, so growth is in it. The error of an
    implicit step is that of its solver. Float64 is there to tell equations apart: 1e-9 is far from rounding.
    """
    if not unrolled.has_equations_of(laplacian, scheme):
        pytest.skip(f"tests/unrolled.py has no equations of {laplacian} and {scheme}")

    def computed(dtype: torch.dtype) -> tuple[list[Tensor | None], list[Tensor | None]]:
        """Trajectory, logits and gradients: ours, and those of the plain loop."""
        model, x = network(laplacian, scheme, speed, steps, **options).to(dtype), 0.3 * normal(N, F, dtype=dtype)
        upstream, parameters = normal(N, C, seed=9, dtype=dtype), tuple(model.parameters())
        states = unrolled.waves(model, laplacian, scheme, graph(), model.phi0(x), model.phi1(x))
        logits, plain = model(x, graph()), model.head(states[-1])
        ours = torch.autograd.grad(logits, parameters, upstream, allow_unused=True)
        right = torch.autograd.grad(plain, parameters, upstream, allow_unused=True)
        return [model.trajectory(x, graph()), logits, *ours], [states, plain, *right]

    ours, plain = computed(torch.float64)
    agree(ours, plain, 1e-9)
    ours, plain = computed(torch.float32)
    solver = TOLERANCE[torch.float32] / torch.finfo(torch.float32).eps if scheme == "newmark" else 1.0
    agree(ours, plain, rounding((steps + 1) ** 2, solver, torch.float32))


def agree(ours: list[Tensor | None], right: list[Tensor | None], tolerance: float) -> None:
    for a, b in zip(ours, right, strict=True):
        if b is None:  # a parameter that plays no part has no gradient, or zero
            assert a is None or not bool(a.any())
        else:
            assert a is not None
            close(a, b, tolerance)


@pytest.mark.parametrize(
    ("laplacian", "scheme", "speed"),
    [
        *((laplacian, scheme, "none") for scheme in SCHEMES for laplacian in LAPLACIANS if refusal(laplacian, scheme)),
        *(("physical", "bessel", speed) for speed in SPEEDS if speed != "none"),
    ],
)
def test_what_is_refused_is_named(laplacian: str, scheme: str, speed: str) -> None:
    reason = refusal(laplacian, scheme) or "speed='none'"
    with pytest.raises(GWNError, match=reason) as error:
        GWN(F, D, C, laplacian=laplacian, scheme=scheme, speed=speed, tau=TAU)
    said = str(error.value)
    assert f"'{scheme}'" in said
    assert f"'{laplacian}'" in said
    assert "use " in said, "says what to do instead"
    assert "\n" not in said


def bounded_by(laplacian: str, scheme: str) -> float | None:
    """The largest step of the pairs that have one: `4 / tau²` or `2 / tau` must reach to the lowest eigenvalue.

    That of a new entry follows from what it says itself.
    """
    if not unrolled.has_equations_of(laplacian, scheme):
        interval = LAPLACIANS[laplacian](1, 1).interval
        if interval is None or interval[1] > 0:
            return None
        largest = SCHEMES[scheme](1.0, interval).largest_stable_tau(*interval)
        return largest if math.isfinite(largest) else None
    lowest = {"physical": 2.0, "random-walk": 2.0, "fa-symmetric": 2.0, "klein-gordon": 2.25}.get(laplacian)
    if lowest is None or scheme not in ("leapfrog", "damped", "heat"):
        return None
    return 2 / lowest if scheme == "heat" else 2 / math.sqrt(lowest)


@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize(
    ("laplacian", "scheme"),
    [(a, b) for a in LAPLACIANS for b in SCHEMES if not refused(a, b, "none") and bounded_by(a, b) is not None],
)
def test_a_step_above_the_bound_is_refused_and_the_bound_is_named(laplacian: str, scheme: str, speed: str) -> None:
    def build(tau: float, **options: Any) -> GWN:
        return GWN(F, D, C, laplacian=laplacian, scheme=scheme, speed=speed, tau=tau, time=4 * tau, **options)

    bound = bounded_by(laplacian, scheme)
    assert bound is not None
    assert build(bound).scheme.tau == bound
    assert build(2 * bound, allow_unstable=True).scheme.tau == 2 * bound
    with pytest.raises(GWNError, match="above the stability bound") as error:
        build(bound * 1.001)
    said = str(error.value)
    for part in (f"{bound:.4g}", f"'{scheme}'", f"'{laplacian}'", "allow_unstable=True"):
        assert part in said


@pytest.mark.parametrize(
    ("laplacian", "scheme"),
    [(a, b) for a in LAPLACIANS for b in SCHEMES if not refused(a, b, "none") and bounded_by(a, b) is None],
)
def test_what_grows_with_any_step_or_is_stable_with_any_takes_any(laplacian: str, scheme: str) -> None:
    assert GWN(F, D, C, laplacian=laplacian, scheme=scheme, tau=7.0, time=28.0).scheme.tau == 7.0


def test_directed_edges_leave_no_bound_to_know() -> None:
    """What is known of the spectra holds for undirected graphs."""
    GWN(F, D, C, laplacian="physical", directed=True, tau=3.0)
    for scheme, said in (("leapfrog-rescaled", "spectrum is known"), ("newmark", "undirected graph")):
        with pytest.raises(GWNError, match=said) as error:
            GWN(F, D, C, laplacian="physical", scheme=scheme, directed=True)
        assert f"'{scheme}'" in str(error.value)
        assert "'physical'" in str(error.value)
