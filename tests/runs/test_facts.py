"""What the page and the card say of a run, on answers whose figures are known."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphs import toy_graph
from gwn.graph import Graph
from gwn.models import model_spec
from gwn.networks import GWN
from gwn.pages.charts import ticks
from gwn.runs.facts import Answers, wave_around
from gwn.training.loss import Scaling
from seeds import reseed

ANSWERS = Answers(
    nodes=torch.tensor([5, 6, 7, 8]),
    known=np.array([0, 0, 1, 2]),
    predicted=np.array([0, 1, 1, 1]),
    confidence=np.array([0.95, 0.65, 0.92, 0.99]),
    classes=("a", "b", "c"),
)


def test_confusion_classes_and_mistakes() -> None:
    assert ANSWERS.confusion.tolist() == [[1, 1, 0], [0, 1, 0], [0, 1, 0]]
    a, b, c = ANSWERS.by_class
    assert (a.precision, a.recall, a.count) == (1.0, 0.5, 2)
    assert b.precision == pytest.approx(1 / 3)
    assert (c.precision, c.recall, c.f1, c.predicted) == (None, 0.0, 0.0, 0)
    assert ANSWERS.mistakes(9) == [3, 1]
    assert ANSWERS.mistakes(1) == [3]


def test_calibration() -> None:
    (low, wrong, one), (high, right, three) = ANSWERS.calibration
    assert (low, wrong, one) == (0.65, 0.0, 1)
    assert [high, right, three] == pytest.approx([2.86 / 3, 2 / 3, 3])
    assert ANSWERS.calibration_error == pytest.approx((0.65 + (2.86 - 2)) / 4)


def test_the_wave_around_a_node_ends_in_the_margin() -> None:
    graph = toy_graph(nodes=40)
    reseed(0)
    network = model_spec("gwn-sym").build(graph.num_features, 2, hidden_channels=4, time=3.0).eval()
    assert isinstance(network, GWN)
    wave = wave_around(network, graph, 3, 1, 0)
    assert wave is not None
    assert (wave.nodes[0], wave.times) == (3, [0.0, 1.0, 2.0, 3.0])
    logits = network(graph.x, graph.edge_index)[wave.nodes].detach()
    ends = torch.tensor(wave.values[-1])
    margin = logits[:, 1] - logits[:, 0]
    assert (ends - ends[0]).tolist() == pytest.approx((margin - margin[0]).tolist(), abs=1e-3), "up to the head's bias"
    units = wave_around(network, graph, 3, 1, None, scaling=Scaling(mean=100.0, spread=4.0))
    assert units is not None
    known = [value + units.zero for value in units.values[-1]]
    said = 100 + 4 * network(graph.x, graph.edge_index)[units.nodes, 1].detach()
    assert known == pytest.approx(said.tolist(), abs=1e-2), "zero stands for a number of the table"
    around = {a for a, b in graph.edge_index.t().tolist() if b == 3}
    assert set(wave.nodes[1:]) <= around
    assert wave_around(model_spec("mlp").build(graph.num_features, 2), graph, 3, 1, 0) is None


def test_the_last_step_of_a_wave_is_a_whole_one() -> None:
    """Three steps of 0.4 reach 1.2, though 1.0 was asked for."""
    network = GWN(3, 4, 2, laplacian="physical", time=1.0, tau=0.4).eval()
    graph = Graph(x=torch.ones(4, 3), edge_index=torch.tensor([[0, 1], [1, 0]]))
    wave = wave_around(network, graph, 0, 1, 0)
    assert wave is not None
    assert wave.times == [0.0, 0.4, 0.8, 1.2]


def test_a_node_alone_has_a_wave_of_its_own() -> None:
    graph = Graph(x=torch.ones(4, 3), edge_index=torch.tensor([[0, 1], [1, 0]]))
    reseed(0)
    wave = wave_around(model_spec("gwn-fa").build(3, 2, hidden_channels=4).eval(), graph, 2, 1, 0)
    assert wave is not None
    assert (wave.nodes, wave.pairs, wave.total_neighbours) == ([2], [], 0)


def test_round_numbers_on_the_axes() -> None:
    assert ticks(0, 100) == [0, 20, 40, 60, 80, 100]
    assert ticks(0.03, 0.31) == [0.1, 0.2, 0.3]
    assert ticks(-1.2, 2.4) == [-1, 0, 1, 2]
    assert ticks(3, 3) == [3]
