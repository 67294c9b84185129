"""What is precomputed: the network's own wave, other dynamics from the same start, an impulse, and their measures."""

from __future__ import annotations

import base64
import math

import numpy as np
import pytest
import torch

from graphs import NO_EDGES, cycle, normal, toy_graph
from gwn.errors import GWNError
from gwn.explore.layout import MOST_EDGES, choose_nodes
from gwn.explore.page import encode_scenario
from gwn.explore.signals import network_signals
from gwn.explore.waves import count_dynamics, scenarios
from gwn.graph import Graph, find_node
from gwn.networks import GWN
from gwn.training.loop import predict_logits
from seeds import reseed

GRAPH = toy_graph(nodes=40)


def network(**settings: object) -> GWN:
    reseed(0)
    return GWN(GRAPH.num_features, 6, 2, time=3.0, **settings)  # type: ignore[arg-type]


def test_signals_of_the_papers_networks_end_in_their_scores() -> None:
    for laplacian in ("sym", "fa"):
        model = network(laplacian=laplacian)
        signals = network_signals(model, GRAPH)
        logits = predict_logits(model, GRAPH.to(dtype=torch.float64))
        scores = logits - logits.mean(1, keepdim=True)
        assert signals.own is not None
        for column, name in enumerate(signals.names):
            score = scores[:, int(name.split()[-1])]
            offset = score - signals.own[-1, :, column]
            torch.testing.assert_close(offset, offset[:1].expand_as(offset), atol=1e-8, rtol=0)
        torch.testing.assert_close(signals.own[0], signals.displacement)


def test_all_combinations_with_their_stability() -> None:
    told: list[tuple[int, int]] = []
    drawn = torch.arange(40)
    found = list(
        scenarios(GRAPH, drawn, 3, network(laplacian="fa"), ("fa", "leapfrog"), lambda *done: told.append(done))
    )
    assert told[-1] == (count_dynamics(True), count_dynamics(True))
    assert [each.label.own for each in found[:3]] == [True, True, False]
    labels = [(each.label.signal, each.label.laplacian, each.label.scheme, each.label.tau) for each in found]
    assert len(set(labels)) == len(labels)
    impulses = [each for each in found if each.label.signal.startswith("impulse")]
    for each in impulses:
        assert each.amplitudes[0, 3] == 1.0
        assert np.abs(each.amplitudes[0]).sum() == 1.0
        assert each.amplitudes.shape == (len(each.times), 40)
        np.testing.assert_allclose(each.spectrum.sum(1), 1.0, atol=1e-6)
        bounded = each.bounds.stable
        assert (
            bounded == (each.label.laplacian != "sym" or each.label.scheme == "leapfrog-rescaled")
            or each.label.tau == 2
        )
    by = {(each.label.laplacian, each.label.scheme, each.label.tau): each for each in impulses}
    assert by["physical", "leapfrog", 2.0].bounds.growth > 1.5
    assert by["physical", "bessel", 2.0].bounds.largest_tau == math.inf
    rho = 1 + 0.5 + math.sqrt(1.25)
    assert by["sym", "leapfrog", 1.0].bounds.growth == pytest.approx(rho)
    energy = by["physical", "leapfrog", 0.25]
    np.testing.assert_allclose(energy.kinetic + energy.dirichlet, 1.0, atol=0.1)


def test_amplitudes_survive_their_encoding() -> None:
    each = next(scenarios(GRAPH, torch.arange(0, 40, 2), 4))
    record = encode_scenario(each)
    whole = np.frombuffer(base64.b64decode(record["amplitudes"]), dtype="<i2").reshape(len(each.times), 20)
    scales = np.array(record["scales"])[:, None]
    np.testing.assert_allclose(whole * scales / 32767, each.amplitudes, atol=float(scales.max()) * 3e-5)
    assert len(record["growth"]) == len(record["kinetic"]) == len(each.times) - 1


def test_a_sample_is_a_neighbourhood() -> None:
    ring = Graph(x=normal(50, 2, dtype=torch.float32), edge_index=cycle(50))
    drawn = choose_nodes(ring, 7, centre=0)
    assert sorted(drawn.nodes.tolist()) == [0, 1, 2, 3, 47, 48, 49]
    assert drawn.pairs.shape[1] == 6
    assert choose_nodes(ring, 60).nodes.numel() == 50
    dense = Graph(x=normal(200, 1, dtype=torch.float32), edge_index=torch.combinations(torch.arange(200)).t())
    assert choose_nodes(dense, 200).shown.shape[1] == MOST_EDGES < choose_nodes(dense, 200).pairs.shape[1]


def test_what_cannot_be_drawn_is_refused() -> None:
    bare = Graph(x=normal(5, 2, dtype=torch.float32), edge_index=NO_EDGES, name="bare")
    with pytest.raises(GWNError, match="'bare' has no edges"):
        choose_nodes(bare, 100)
    with pytest.raises(GWNError, match="--limit must be from 2 to"):
        choose_nodes(GRAPH, 100_000)
    with pytest.raises(GWNError, match="its nodes are 0 to 39"):
        find_node(GRAPH, "40", "--centre")
    assert find_node(GRAPH, "39", "--centre") == 39
