"""The numbers in the figures against what they claim to be."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphs import cycle, toy_dataset
from gwn.adjacency import adjacency_of
from gwn.graph import Graph
from gwn.laplacians import FixedOperator
from gwn.models import model_spec
from gwn.paper.exhibits.attention import lead, sign_of
from gwn.paper.exhibits.depth import MODELS, last_features, relative_energy
from gwn.paper.exhibits.roots import CAPTION, roots
from gwn.paper.exhibits.spectrum import FILTERS, TAU, TIME, decomposition, response
from gwn.paper.exhibits.stability import measured_growth
from gwn.paper.exhibits.waves import (
    degrees,
    neighbourhood,
    neighbours_of,
    stands_still,
    telling_nodes,
    typical_of_classes,
)
from gwn.schemes import Leapfrog, count_steps, integrate
from gwn.stability import analyse

GRAPH = toy_dataset().graph


def test_the_roots_multiply_to_one_and_solve_the_equation() -> None:
    middle = np.linspace(-5, 5, 101)
    first, second = roots(middle)
    assert np.allclose(first * second, 1)
    assert np.allclose(first**2 - middle * first + 1, 0)


def test_the_roots_grow_where_their_caption_says() -> None:
    assert CAPTION.startswith(
        "The paper's wave grows at every step length, the physical one is bounded up to tau = sqrt 2"
    )
    assert all(Leapfrog(tau).growth(1.0) > 1 for tau in (0.01, 0.2, 1.0, 5.0))
    assert Leapfrog(1.414).growth(-2.0) == pytest.approx(1.0)
    assert Leapfrog(1.415).growth(-2.0) > 1.01


@pytest.mark.parametrize("key", FILTERS)
def test_a_filter_is_what_the_scheme_does_to_a_mode(key: str) -> None:
    _, kind, top = FILTERS[key]
    values, vectors = decomposition(GRAPH)
    adjacency = adjacency_of(GRAPH.edge_index, None, GRAPH.num_nodes, dtype=torch.float64)
    operator = FixedOperator(adjacency, shift=top - 1.0)
    modes = torch.from_numpy(vectors.copy())
    end = integrate(operator, kind(TAU), modes, torch.zeros_like(modes), count_steps(TIME, TAU))
    assert np.allclose(end.norm(dim=0).numpy(), response(key, values), atol=1e-6)


def test_smooth_features_have_no_energy_and_rough_ones_have_much() -> None:
    degree = degrees(GRAPH) + 1
    smooth = torch.from_numpy(np.sqrt(degree))[:, None] * torch.tensor([[1.0, -3.0]])
    assert relative_energy(smooth, GRAPH) == pytest.approx(0, abs=1e-12)
    assert relative_energy(smooth * 1e200, GRAPH) == pytest.approx(0, abs=1e-12)
    assert relative_energy(torch.zeros(GRAPH.num_nodes, 2), GRAPH) == 0
    even = Graph(x=torch.ones(6, 1), edge_index=cycle(6))
    alternating = torch.tensor([1.0, -1.0] * 3)[:, None]
    assert relative_energy(alternating, even) == pytest.approx(4 / 3)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.key)
def test_the_last_features_are_found_in_every_model(model: object) -> None:
    deep = next(m for m in MODELS if m is model)
    wanted = deep.wanted("toy", 4)
    network = model_spec(wanted.model).build(GRAPH.num_features, 2, **wanted.settings)
    features = last_features(network, GRAPH)
    assert features.shape[0] == GRAPH.num_nodes
    width = 2 if deep.key == "sgc" else 4 * 64 if deep.key == "jk-net" else 64
    assert features.shape[1] == width


def test_measured_growth_of_a_mode_is_the_predicted_one() -> None:
    network = model_spec("gwn-sym").build(GRAPH.num_features, 2, time=40.0, tau=0.5).double()
    states = network.trajectory(GRAPH.x.double(), GRAPH.edge_index)  # type: ignore[operator]
    assert measured_growth(states) == pytest.approx(analyse(network, GRAPH).growth, rel=1e-2)  # type: ignore[arg-type]


def test_nodes_that_are_shown() -> None:
    rows, far = neighbourhood(GRAPH)
    assert len(rows) == len(set(rows)) == len(far)
    assert far == sorted(far)
    assert far[:2] == [0, 1]
    assert {*rows[1 : far.count(1) + 1]} <= {*neighbours_of(GRAPH, rows[0])}
    hub, inside, between = telling_nodes(GRAPH).values()
    assert degrees(GRAPH)[hub] == degrees(GRAPH).max()
    same = [
        (GRAPH.labels[neighbours_of(GRAPH, node)] == GRAPH.labels[node]).double().mean() for node in (inside, between)
    ]
    assert same[0] > same[1]
    chosen = typical_of_classes(GRAPH, 2, 4)
    assert [int(GRAPH.labels[node]) for node in chosen] == [0, 1]


def test_views_say_first_which_waves_stand_still() -> None:
    said = stands_still({"GWN-sym": 16.0, "GWN-fa": 57.0, "physical wave": 34.4})
    assert said == (
        "In the second half of the run GWN-sym almost stands still, GWN-fa and physical wave move on: the pattern "
        "changes by GWN-sym 16 %, GWN-fa 57 %, physical wave 34 %."
    )
    assert "run a and b almost stand still: " in stands_still({"a": 1.0, "b": 2.0})
    assert "run a moves on: " in stands_still({"a": 90.0})


def test_the_sign_of_the_attention_is_claimed_of_nearly_all_arcs_alone() -> None:
    ninety = np.array([0.5] * 9 + [-0.1])
    assert [sign_of(ninety), sign_of(-ninety), sign_of(np.array([1.0, -1.0])), sign_of(np.array([]))] == [
        "positive",
        "negative",
        "",
        "",
    ]
    (said,) = lead({"Cora": "positive", "Texas": "negative"})
    assert said.startswith("Nearly all arcs ")
    assert said.endswith(": positive on Cora, negative on Texas.")
    assert lead({"Cora": "positive", "Texas": ""}) == lead({}) == []
