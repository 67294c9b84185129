"""Turns, bounds and minima of the clock, with a clock of our own; the floor on a graph the size of Texas."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from benchmarks.competitors import COMPETITORS
from benchmarks.floor import breakdown, floor_kernels, run
from benchmarks.problem import Problem, uniform_graph
from benchmarks.speed import MODELS, graph_facts, time_all
from benchmarks.timing import measure
from gwn.errors import GWNError
from gwn.training import fixed_threads


class FakeTime:
    """Time passes only when someone works."""

    def __init__(self) -> None:
        self.now = 0.0
        self.log: list[str] = []

    def work(self, name: str, *durations: float) -> Callable[[], None]:
        def step() -> None:
            self.now += durations[min(self.log.count(name), len(durations) - 1)]
            self.log.append(name)

        return step


def test_competitors_take_turns_until_each_has_used_its_time() -> None:
    time = FakeTime()
    steps = {"slow": time.work("slow", 0.9), "fast": time.work("fast", 0.1, 0.1, 0.03, 0.07, 0.05)}
    found = measure(steps, seconds=1.0, turn=0.2, least=3, warmup=1, clock=lambda: time.now)
    assert time.log[:4] == ["slow", "fast", "slow", "slow"]  # warm-up first, then turns of at least two
    assert time.log[4] == "fast"
    assert found["slow"].repeats == 3  # 1.8 seconds are enough, one turn is not
    assert found["slow"].best == pytest.approx(900)
    assert found["fast"].best == pytest.approx(50)  # the mean of a turn, not its luckiest step
    assert found["fast"].repeats > found["slow"].repeats
    assert found["fast"].best <= found["fast"].median
    assert gc.isenabled()


def test_a_long_step_is_a_turn() -> None:
    time = FakeTime()
    assert measure({"long": time.work("long", 3.0)}, seconds=4.0, least=3, warmup=0, clock=lambda: time.now)
    assert len(time.log) == 3


def test_a_clock_that_stands_still_for_a_while_measures_all_the_same() -> None:
    time = FakeTime()
    steps = {"short": time.work("short", 0.01)}
    found = measure(steps, seconds=4.0, turn=1.0, clock=lambda: math.floor(2 * time.now) / 2)
    assert found["short"].best == pytest.approx(10, rel=0.6)


def test_a_failing_step_leaves_the_collector_on() -> None:
    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        measure({"fail": fail}, warmup=0)
    assert gc.isenabled()


def test_threads_are_fixed_and_restored() -> None:
    before = torch.get_num_threads()
    with fixed_threads(before + 1):
        assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before
    with pytest.raises(GWNError, match="at least 1"), fixed_threads(0):
        pass


def small_problem(*, sparse: bool = False) -> Problem:
    graph = uniform_graph(183, 280, features=20, classes=5)
    if sparse:
        graph = replace(graph, x=graph.x.clamp(min=1.5) - 1.5).compact()
        assert graph.is_sparse
    return Problem(graph=graph, rows=torch.arange(87), width=16)


@pytest.mark.parametrize("sparse", [False, True])
def test_floor_counts_every_product_of_a_step(sparse: bool) -> None:
    problem = small_problem(sparse=sparse)
    sym, fa = (floor_kernels(problem, kind) for kind in ("sym", "fa"))
    assert sym["wave"].count == 10  # five steps, there and back
    assert fa["alpha gradient"].count == 5
    assert set(sym) < set(fa)
    run(sym)
    run(fa)
    parts = breakdown(fa, seconds=1e-3)
    assert parts.keys() == fa.keys()
    assert all(value > 0 for value in parts.values())


def test_floor_stays_bounded_however_often_it_runs() -> None:
    kernels = floor_kernels(small_problem(), "fa")
    for _ in range(200):
        run(kernels)
    assert torch.isfinite(kernels["wave"].call()).all()  # type: ignore[arg-type]


@pytest.mark.parametrize("sparse", [False, True])
def test_every_competitor_is_timed(sparse: bool) -> None:
    problem = small_problem(sparse=sparse)
    timings = time_all(problem, seconds=1e-3)
    assert timings.keys() == {*MODELS, "floor-sym", "floor-fa"}
    assert all(timing.repeats >= 5 for timing in timings.values())
    assert graph_facts(problem)["sparse_features"] is sparse


@pytest.mark.parametrize("name", COMPETITORS)
def test_every_competitor_takes_a_step(name: str) -> None:
    loss, trained = COMPETITORS[name](small_problem())()
    assert trained
    assert loss > 0
