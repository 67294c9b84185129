"""Mini-batches of partitions: every part once, the right edges, the whole graph where nothing is cut."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
import torch

from apple import MPS, Machine
from gwn.cli.main import main
from gwn.data import contextual_sbm
from gwn.data.splits import stratified
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.io import content_key
from gwn.networks import GWN
from gwn.sparse import dense_to_csr
from gwn.training import TrainConfig, fit
from gwn.training.loop import node_loss, train_step
from gwn.training.partitions import Clusters
from seeds import reseed

pytest.importorskip("pymetis")


@pytest.fixture(scope="module")
def graph() -> Graph:
    return contextual_sbm(nodes=200, degree=6, homophily=0.9, signal=3.0)


@pytest.mark.parametrize("sparse", [False, True])
def test_every_node_once_and_the_edges_between_them(graph: Graph, sparse: bool) -> None:
    given = replace(graph, x=dense_to_csr(graph.x)) if sparse else graph
    train = torch.arange(0, 200, 2)
    clusters = Clusters.of(given, train, 6, 2)
    assert 0 < clusters.cut_share() < 0.9
    batches = list(clusters.epoch())
    assert sum(batch.num_nodes for batch, _ in batches) == 200
    assert sum(rows.numel() for _, rows in batches) == 100
    for parts in torch.arange(6).split(2):
        batch, rows = clusters.batch(parts)
        nodes = torch.isin(clusters.owner, parts).nonzero().flatten()
        x = batch.x.to_dense() if sparse else batch.x
        assert torch.equal(x, graph.x[nodes])
        assert torch.equal(batch.labels, graph.labels[nodes])
        found = set(map(tuple, nodes[batch.edge_index].t().tolist()))
        inside = set(nodes.tolist())
        assert found == {(a, b) for a, b in graph.edge_index.t().tolist() if a in inside and b in inside}
        assert torch.equal(nodes[rows], train[torch.isin(train, nodes)])


def test_weights_go_with_their_edges(graph: Graph) -> None:
    weighted = replace(graph, edge_weight=(graph.edge_index[0] * 1000 + graph.edge_index[1]).float())
    clusters = Clusters.of(weighted, torch.arange(200), 4, 1)
    for batch, _ in clusters.epoch():
        assert batch.edge_weight is not None
        part = clusters.owner[int(batch.edge_weight[0]) // 1000]
        nodes = (clusters.owner == part).nonzero().flatten()
        ends = nodes[batch.edge_index]
        assert torch.equal(ends[0] * 1000 + ends[1], batch.edge_weight.long())


def test_parts_are_cut_on_the_cpu_and_used_on_the_device(graph: Graph) -> None:
    weighted = replace(graph, edge_weight=torch.ones(graph.num_edges))
    train = torch.arange(0, 200, 2)
    here = Clusters.of(weighted, train, 4, 2)
    with Machine():
        there = Clusters.of(weighted.to(MPS), train.to(MPS), 4, 2)
        batch, rows = there.batch(torch.tensor([1, 3]))
        assert batch.edge_weight is not None
        for tensor in (batch.x, batch.edge_index, batch.edge_weight, batch.labels, rows):
            assert tensor.device == MPS
        assert there.cut_share() == here.cut_share()
    expected, its_rows = here.batch(torch.tensor([1, 3]))
    assert batch.to("cpu").content_hash() == expected.content_hash()
    assert torch.equal(rows.cpu(), its_rows)
    assert here.graph.x is weighted.x  # nothing is copied where it is already


def test_all_parts_together_are_the_whole_graph(graph: Graph) -> None:
    split = stratified(graph.labels, 0)
    losses = []
    for config in (TrainConfig(), TrainConfig(partitions=4, partitions_per_step=4)):
        reseed(0)
        model = GWN(16, 8, 4, laplacian="fa", dropout=0.0)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        seen = graph, split.train
        if config.partitions:
            (seen,) = Clusters.of(graph, split.train, 4, 4).epoch()
        losses.append([train_step(model, partial(node_loss, model, *seen), optimizer)[0] for _ in range(3)])
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_training_on_parts_learns(graph: Graph) -> None:
    reseed(0)
    config = TrainConfig(epochs=25, partitions=4, partitions_per_step=2, stopping="none")
    found = fit(GWN(16, 16, 4, laplacian="fa"), graph, stratified(graph.labels, 0), config)
    assert found.test > 0.8


def test_names_of_other_runs_stay() -> None:
    assert "partitions" not in TrainConfig().to_json()
    assert content_key(TrainConfig().to_json()) != content_key(TrainConfig(partitions=4).to_json())


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (("partitions=4", "partitions_per_step=5"), "between 1 and partitions=4"),
        (("partitions=4", "partitions_per_step=0"), "between 1 and partitions=4"),
        (("partitions=5000",), "use fewer"),
        (("partitions=-1",), "partitions must not be negative"),
    ],
)
def test_mistakes(settings: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str], tmp_path: object) -> None:
    given = [part for setting in settings for part in ("--set", setting)]
    with pytest.raises(SystemExit) as stop:
        main(["train", "csbm", "--model", "gwn-fa", "--runs", "1", *given, "--out", str(tmp_path), "--quiet"])
    printed = capsys.readouterr().err.strip()
    assert stop.value.code == 2
    assert said in printed
    assert len(printed.splitlines()) == 1


def test_two_ways_to_cut_an_epoch(graph: Graph) -> None:
    model = GWN(16, 8, 4, laplacian="sym", precompute=True)
    with pytest.raises(GWNError, match="use one of them"):
        fit(model, graph, stratified(graph.labels, 0), TrainConfig(partitions=2, batch_size=10))
