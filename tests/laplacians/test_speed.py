"""The paper's velocity a, learned: a² L in every channel, and never faster than the scheme can bear."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from dense import close
from graphs import AWKWARD_NODES, awkward, normal, toy_graph
from gwn import GWN, GWNError
from gwn.laplacians import FixedOperator, KleinGordon, Physical, RandomWalk, Step
from gwn.laplacians.attention import AttentionOperator
from gwn.laplacians.speed import FREE_LIMIT, LearnedSpeed, SpeedOperator
from gwn.schemes import Leapfrog, integrate
from gwn.stability import apply
from modes import NODES, adjacency, matrix
from seeds import reseed


@pytest.mark.parametrize(("kind", "numbers"), [("scalar", 1), ("channel", 4)])
def test_it_starts_at_one(kind: str, numbers: int) -> None:
    laplacian = LearnedSpeed(Physical(4, 3), kind, limit=2.0)
    close(laplacian.squared, np.ones(numbers), 1e-6)
    assert [p.numel() for p in laplacian.parameters()] == [numbers]
    assert (laplacian.fixed, laplacian.symmetric) == (True, True)
    with torch.no_grad():
        laplacian.raw.fill_(3.0)
    laplacian.reset_parameters()
    close(laplacian.squared, np.ones(numbers), 1e-6)


def test_where_one_is_the_limit_it_starts_just_below() -> None:
    close(LearnedSpeed(Physical(4, 3), "scalar", limit=1.0).squared, [0.99], 1e-6)


def test_every_channel_has_its_own_equation() -> None:
    squared = torch.tensor([0.25, 1.0, 2.0], dtype=torch.float64)
    phi0, phi1 = normal(NODES, 3), normal(NODES, 3, seed=1)
    together = integrate(SpeedOperator(FixedOperator(adjacency(), -1.0), squared), Leapfrog(0.7), phi0, phi1, 9)
    for c in range(3):
        a2 = float(squared[c])
        alone = integrate(FixedOperator(adjacency(), -a2, a2), Leapfrog(0.7), phi0[:, c : c + 1], phi1[:, c : c + 1], 9)
        close(together[:, c : c + 1], alone, 1e-12)


def test_a_speed_is_a_step_of_another_length() -> None:
    """`a² tau²` is all that enters: twice the speed is twice the step, with half the push."""
    phi0, phi1 = normal(NODES, 2), normal(NODES, 2, seed=1)
    fast = SpeedOperator(FixedOperator(adjacency(), -1.0), torch.tensor([4.0], dtype=torch.float64))
    close(
        integrate(fast, Leapfrog(0.3), phi0, 2 * phi1, 8),
        integrate(FixedOperator(adjacency(), -1.0), Leapfrog(0.6), phi0, phi1, 8),
        1e-12,
    )


def test_the_source_is_not_multiplied() -> None:
    """eps(n) X(0) of GWN-fa stands outside `a² L`."""
    g, eps = normal(3, 2, 2, seed=3), torch.tensor([0.5, 0.25], dtype=torch.float64)
    a2 = torch.tensor([2.0], dtype=torch.float64)
    x, before, x0 = normal(NODES, 2), normal(NODES, 2, seed=1), normal(NODES, 2, seed=2)
    inner = AttentionOperator(adjacency(), g, eps)
    force = apply(AttentionOperator(adjacency(), g), x, n=1)
    step = Step(x=2.0, x_prev=-1.0, force=0.3, source=1.0)
    close(
        SpeedOperator(inner, a2).advance_(1, step, x, before.clone(), x0),
        2 * x - before + 0.6 * force + 0.5 * x0,
        1e-13,
    )


@pytest.mark.parametrize("laplacian", ["physical", "klein-gordon", "random-walk", "fa-symmetric"])
@pytest.mark.parametrize("scheme", ["leapfrog", "damped", "heat"])
def test_no_speed_that_can_be_learned_leaves_the_stable_range(laplacian: str, scheme: str) -> None:
    for tau in (0.2, 0.8):
        model = GWN(8, 3, 2, laplacian=laplacian, scheme=scheme, speed="channel", tau=tau)
        assert isinstance(model.laplacian, LearnedSpeed)
        assert model.scheme.keeps_bounded()
        with torch.no_grad():
            model.laplacian.raw.fill_(1e4)
        low, high = model.laplacian.interval  # type: ignore[misc]
        fastest = float(model.laplacian.squared.detach().max())
        assert fastest <= FREE_LIMIT + 1e-9
        inner_low = model.laplacian.inner.interval[0]
        assert -fastest * inner_low <= model.scheme.stable_limit() * (1 + 1e-6)
        assert all(model.scheme.growth(float(mu)) <= 1 + 1e-6 for mu in np.linspace(low, high, 50))


def test_where_everything_grows_the_speed_is_limited_to_two() -> None:
    model = GWN(8, 3, 2, laplacian="sym", speed="scalar", tau=1.0)
    assert isinstance(model.laplacian, LearnedSpeed)
    assert model.laplacian.limit == FREE_LIMIT == 4.0
    assert model.laplacian.interval == (-4.0, 4.0)


def test_interval_of_what_is_unknown_is_unknown() -> None:
    model = GWN(8, 3, 2, laplacian="polynomial", speed="scalar")
    assert model.laplacian.interval is None
    assert model.scheme.interval is None


def test_the_symmetric_stand_in_is_that_of_the_fastest_channel() -> None:
    laplacian = LearnedSpeed(RandomWalk(3, 2), "channel", limit=4.0).double()
    with torch.no_grad():
        laplacian.raw.copy_(torch.tensor([-1.0, 0.5, 0.0]))
    fastest = 4 / (1 + math.exp(-0.5))
    unit = torch.eye(NODES, dtype=torch.float64)
    found = apply(laplacian.similar_on(adjacency()), unit).detach()
    close(found, fastest * (matrix(adjacency()) - np.eye(NODES)), 1e-12)


def test_it_gets_a_gradient_and_learns() -> None:
    graph = toy_graph(40)
    reseed(0)
    model = GWN(8, 4, 2, laplacian="physical", speed="channel", tau=0.5, time=3.0, dropout=0.0)
    assert isinstance(model.laplacian, LearnedSpeed)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(5):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(graph.x, graph.edge_index), graph.labels).backward()
        optimizer.step()
    assert float((model.laplacian.squared.detach() - 1).abs().min()) > 1e-3
    assert model.laplacian.squared.unique().numel() == 4


def test_attention_and_epsilon_are_still_shown() -> None:
    model = GWN(5, 4, 3, laplacian="fa", speed="channel").double()
    plain = GWN(5, 4, 3, laplacian="fa").double()
    state = {name.replace("laplacian.", "laplacian.inner."): p for name, p in plain.state_dict().items()}
    model.load_state_dict({**state, "laplacian.raw": model.state_dict()["laplacian.raw"]})
    x = normal(AWKWARD_NODES, 5)
    close(model.epsilon, plain.epsilon, 1e-14)
    close(model.attention(x, awkward())[1], plain.attention(x, awkward())[1], 1e-6)  # a starts at one


def test_mistakes_are_named() -> None:
    with pytest.raises(GWNError, match="unknown speed 'chanel'; did you mean 'channel'"):
        GWN(5, 4, 3, speed="chanel")
    assert KleinGordon(2, 2).interval == (-2.25, -0.25)
