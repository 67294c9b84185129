"""Contributions add up, agree with the closed form of a linear network, and stay within the receptive field."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

import gwn.explain
from dense import close
from graphs import toy_graph
from gwn import GWNError
from gwn.explain import baseline_row, explain, hops_to
from gwn.graph import Graph
from gwn.models import model_spec
from gwn.sparse import dense_to_csr
from gwn.training.label_input import KnownLabels, fingerprint
from seeds import reseed

GRAPH = toy_graph(nodes=40).to(dtype=torch.float64)
TRAIN = torch.arange(0, 40, 2)
MEAN = baseline_row("mean", GRAPH.x, TRAIN)


def network(name: str, **settings: object) -> nn.Module:
    reseed(1)
    spec = model_spec(name)
    made = spec.build(GRAPH.num_features, GRAPH.num_classes, **{"hidden_channels": 8, **settings})
    return made.double().eval().requires_grad_(False)


@pytest.mark.parametrize("name", ["gwn-fa", "gwn-plus", "gcn", "gat", "appnp"])
def test_contributions_add_up_to_the_difference(name: str) -> None:
    model = network(name)
    found = explain(model, GRAPH, 3, MEAN)
    logits = model(GRAPH.x, GRAPH.edge_index)[3]
    top = logits.sort(descending=True)
    assert (found.target, found.rival) == (int(top.indices[0]), int(top.indices[1]))
    assert found.margin == pytest.approx(float(top.values[0] - top.values[1]))
    moved = float(found.by_node.abs().sum())
    assert moved > 0
    assert abs(float(found.contributions.sum()) - (found.margin - found.start)) <= gwn.explain.TOLERANCE * moved


def test_the_answer_is_named_as_it_is_smoothed() -> None:
    """Explained is the network's own margin, of the class that the run predicts."""
    own, classes = network("gcn"), GRAPH.num_classes
    known = KnownLabels(own, TRAIN, GRAPH.labels[TRAIN], classes, shown=False, graph=fingerprint(GRAPH)).eval()
    known.strength.fill_(0.9)
    before = own(GRAPH.x, GRAPH.edge_index)
    said = known(GRAPH.x, GRAPH.edge_index).softmax(1)
    node = int((before.argmax(1) != said.argmax(1)).nonzero()[0])
    found = explain(known, GRAPH, node, MEAN)
    assert found.predicted == int(said[node].argmax())
    assert found.probability == pytest.approx(float(said[node].max()))
    assert found.target == found.predicted
    assert found.margin == pytest.approx(float(before[node, found.target] - before[node, found.rival]))


def test_a_linear_wave_has_the_gradient_times_the_difference() -> None:
    model = network("gwn-sym")
    found = explain(model, GRAPH, 3, MEAN, target=1, rival=0)
    x = GRAPH.x.clone().requires_grad_()
    logits = model(x, GRAPH.edge_index)[3]
    (gradient,) = torch.autograd.grad(logits[1] - logits[0], x)
    close(found.contributions, gradient * (GRAPH.x - MEAN), 1e-9)
    shortcut = network("gwn-sym", precompute=True)
    close(explain(shortcut, GRAPH, 3, MEAN, target=1, rival=0).contributions, found.contributions, 1e-9)


def test_only_what_a_model_sees_contributes() -> None:
    hops = hops_to(GRAPH, 3)
    alone = explain(network("mlp"), GRAPH, 3, MEAN).by_node
    assert (alone.nonzero().flatten().tolist(), int(hops[3])) == ([3], 0)
    two = explain(network("gcn", num_layers=2), GRAPH, 3, MEAN).by_node
    assert set(hops[two != 0].tolist()) == {0, 1, 2}
    blind = model_spec("majority").build(GRAPH.num_features, GRAPH.num_classes)
    with pytest.raises(GWNError, match="does not look at the features"):
        explain(blind, GRAPH, 3, MEAN)


def test_a_part_of_a_large_graph_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long cycle: two layers of GCN see five nodes, and the degrees of their neighbours."""
    count = 50
    ring = torch.arange(count)
    edges = torch.stack([torch.cat([ring, (ring + 1) % count]), torch.cat([(ring + 1) % count, ring])])
    reseed(2)
    graph = Graph(x=torch.randn(count, GRAPH.num_features, dtype=torch.float64), edge_index=edges)
    model = network("gcn", num_layers=2)
    whole = explain(model, graph, 7, MEAN)
    monkeypatch.setattr(gwn.explain, "WHOLE_GRAPH", 10)
    sparse = replace(graph, x=dense_to_csr(graph.x))
    part = explain(model, sparse, 7, MEAN)
    assert part.nodes.numel() < count
    assert [part.margin, part.start] == pytest.approx([whole.margin, whole.start])
    close(part.by_node, whole.by_node[part.nodes], 1e-9)
    monkeypatch.setattr(gwn.explain, "MOST_VALUES", 10)
    with pytest.raises(GWNError, match="too much to explain"):
        explain(model, sparse, 7, MEAN)


def test_columns_gather_their_features_and_edges_their_loss() -> None:
    model = network("gcn")
    names = ["age", *["city"] * (GRAPH.num_features - 1)]
    found = explain(model, GRAPH, 3, MEAN, with_edges=True)
    columns, own, others = found.by_column(names)
    assert columns == ["age", "city"]
    close(own, torch.stack([found.contributions[3, 0], found.contributions[3, 1:].sum()]), 1e-12)
    assert float(own.sum() + others.sum()) == pytest.approx(float(found.contributions.sum()))
    neighbour, lost = found.edges[0]
    kept = ~((GRAPH.edge_index == 3).any(0) & (GRAPH.edge_index == neighbour).any(0))
    without = model(GRAPH.x, GRAPH.edge_index[:, kept])[3]
    assert lost == pytest.approx(found.margin - float(without[found.target] - without[found.rival]))
    assert hops_to(GRAPH, 3)[neighbour] == 1


def test_the_baseline_of_sparse_features_is_that_of_dense_ones() -> None:
    sparse = dense_to_csr(GRAPH.x)
    close(baseline_row("mean", sparse, TRAIN), GRAPH.x[TRAIN].mean(0), 1e-12)
    assert not bool(baseline_row("zero", sparse, TRAIN).any())
    with pytest.raises(GWNError, match="unknown baseline 'men'; did you mean 'mean'"):
        baseline_row("men", sparse, TRAIN)
