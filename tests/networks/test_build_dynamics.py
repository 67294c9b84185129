"""A Laplacian and a scheme built by name: settings go where they belong, and nothing is silently ignored."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from gwn import GWN, GWNError
from gwn.laplacians import LAPLACIANS, KleinGordon, Polynomial
from gwn.laplacians.speed import LearnedSpeed
from gwn.networks.dynamics import build_dynamics, dynamics_options
from gwn.schemes import SCHEMES, Damped, Leapfrog


def build(laplacian: str = "physical", scheme: str = "leapfrog", tau: float = 0.5, **more: Any) -> tuple[Any, Any]:
    return build_dynamics(laplacian, scheme, 3, 4, tau, **{"options": {}, **more})


def test_settings_reach_the_laplacian_and_the_scheme() -> None:
    space, time = build("klein-gordon", "damped", options={"mass": 0.25, "damping": 0.75})
    assert isinstance(space, KleinGordon)
    assert isinstance(time, Damped)
    assert (space.start, time.damping, time.tau) == (0.25, 0.75, 0.5)
    assert time.interval == (-2.0625, -0.0625)
    space, _ = build("polynomial", options={"degree": 5})
    assert isinstance(space, Polynomial)
    assert space.theta.numel() == 6


def test_with_a_speed_settings_reach_both_too() -> None:
    space, time = build("klein-gordon", "damped", speed="channel", options={"mass": 1.0, "damping": 0.75})
    assert isinstance(space, LearnedSpeed)
    assert isinstance(space.inner, KleinGordon)
    assert isinstance(time, Damped)
    assert (space.inner.start, time.damping) == (1.0, 0.75)
    assert space.limit == 4.0  # a step of 0.5 could bear 16 / 3, but a speed above two is not asked for
    assert time.interval == (-12.0, -4.0)


def test_the_limit_of_the_speed_is_what_the_step_can_bear() -> None:
    space, time = build("physical", tau=1.0, speed="scalar")
    assert space.limit == pytest.approx(2.0)  # 4 / tau² over 2
    assert time.keeps_bounded()
    space, _ = build("physical", "heat", tau=0.5, speed="scalar")
    assert space.limit == pytest.approx(2.0)  # 2 / tau over 2


@pytest.mark.parametrize(
    ("laplacian", "scheme", "options", "said"),
    [
        ("physical", "leapfrog", {"mass": 1.0}, "unknown setting of laplacian 'physical' and scheme 'leapfrog' 'mass'"),
        ("physical", "leapfrog", {"damping": 0.1}, "'damping'"),
        ("klein-gordon", "damped", {"mas": 1.0}, "did you mean 'mass'"),
        ("fa", "newmark", {}, "'newmark' needs an operator that stays the same, and 'fa' depends"),
        ("nowhere", "leapfrog", {}, "unknown laplacian 'nowhere'"),
        ("physical", "frogleap", {}, "unknown scheme 'frogleap'"),
    ],
)
def test_what_neither_has_is_refused(laplacian: str, scheme: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(GWNError, match=said):
        build(laplacian, scheme, options=options)


def test_directed_edges_have_no_known_interval() -> None:
    _, time = build("physical", directed=True)
    assert time.interval is None
    assert not time.keeps_bounded()
    space, time = build("physical", directed=True, speed="scalar")
    assert time.interval is None
    assert space.limit == 4.0


@pytest.mark.parametrize("laplacian", ["physical", "klein-gordon", "random-walk", "fa-symmetric"])
def test_the_schemes_that_are_advised_can_be_built(laplacian: str) -> None:
    with pytest.raises(GWNError, match="above the stability bound") as refused:
        build(laplacian, tau=2.0)
    _, _, advice = str(refused.value).partition("use a smaller tau")
    assert "allow_unstable" not in advice, "this caller has no such setting"
    for scheme in re.findall(r"'(\w+)'", advice):
        build(laplacian, scheme, tau=2.0)
    assert bool(advice) == (laplacian != "fa-symmetric")


def test_the_bound_is_named_to_four_digits() -> None:
    with pytest.raises(GWNError, match=r"tau=1\.5 is above the stability bound 1\.414 of scheme 'leapfrog'"):
        build(tau=1.5)
    with pytest.raises(GWNError, match=r"tau=1\.5 is above the stability bound 1 of scheme 'heat'"):
        build("physical", "heat", tau=1.5)
    space, time = build(tau=1.5, allow_unstable=True)
    assert isinstance(time, Leapfrog)
    assert not time.keeps_bounded()
    assert space.interval == (-2.0, 0.0)


def test_the_bound_itself_is_allowed() -> None:
    for laplacian, bound in (("physical", math.sqrt(2)), ("klein-gordon", 2 / math.sqrt(2.25))):
        _, time = build(laplacian, tau=bound)
        assert isinstance(time, Leapfrog)
        assert time.tau == bound


def test_every_setting_is_listed() -> None:
    everything = dynamics_options(None)
    assert {"mass", "learn_mass", "degree", "attention", "epsilon", "damping"} <= everything.keys()
    assert "mass" not in dynamics_options("physical")
    assert {"mass", "damping"} <= dynamics_options("klein-gordon").keys()


def test_a_network_names_its_dynamics() -> None:
    for laplacian in LAPLACIANS:
        model = GWN(3, 2, 2, laplacian=laplacian, tau=0.5)
        assert isinstance(model.laplacian, LAPLACIANS[laplacian])
        assert isinstance(model.scheme, SCHEMES["leapfrog"])


@pytest.mark.parametrize("speed", ["scalar", "channel"])
@pytest.mark.parametrize("laplacian", ["sym", "physical", "random-walk"])
def test_a_rescaled_wave_with_a_learned_speed_begins_as_the_wave_without(laplacian: str, speed: str) -> None:
    _, plain = build(laplacian, "leapfrog-rescaled", 1.0)
    space, time = build(laplacian, "leapfrog-rescaled", 1.0, speed=speed)
    assert time.step(3) == plain.step(3)
    assert space.squared.detach().tolist() == pytest.approx([1.0] * space.squared.numel())


@pytest.mark.parametrize("scheme", ["leapfrog", "heat"])
def test_a_step_too_long_for_other_schemes_is_what_the_message_speaks_of(scheme: str) -> None:
    with pytest.raises(GWNError, match=r"tau=25 is above the stability bound .* or scheme 'newmark'"):
        build("physical", scheme, tau=25.0)
