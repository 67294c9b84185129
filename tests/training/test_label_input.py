"""Known labels as input: no answer depends on the node's own label, and without masking it would."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from dense import adjacency, normalise
from graphs import awkward, normal, random_edges
from gwn import Graph, GWNError
from gwn.data import Dataset, Split
from gwn.models import model_spec
from gwn.training import Experiment, TrainConfig, build_network, load_trained, predict, run_experiment
from gwn.training.config import effective_settings
from gwn.training.label_input import KnownLabels, label_features
from gwn.training.loop import GraphTask, logits_of, predict_logits
from seeds import generator, reseed

NODES, CLASSES = 60, 3
MASKED = TrainConfig(labels="masked", epochs=5, device="cpu")


def random_graph(features: int = 2, sparse: bool = False, nodes: int = NODES) -> Graph:
    """Labels, features and edges that know nothing of each other."""
    x = normal(nodes, features, dtype=torch.float32)
    y = torch.randint(CLASSES, (nodes,), generator=generator(1))
    return Graph(
        x=x.relu().to_sparse_csr() if sparse else x,
        edge_index=random_edges(nodes, 4 * nodes),
        y=y,
        class_names=("a", "b", "c"),
    )


def split_of(nodes: int = NODES) -> Split:
    order = torch.randperm(nodes, generator=generator(2))
    half, rest = nodes // 2, nodes // 4
    return Split(train=order[:half], val=order[half : half + rest], test=order[half + rest :], kind="any", seed=0)


def network_of(model: str, graph: Graph, config: TrainConfig = MASKED, **settings: object) -> KnownLabels:
    reseed(0)
    built = build_network(model_spec(model), settings, config, graph, split_of(graph.num_nodes))
    assert isinstance(built, KnownLabels)
    return built.eval()


def test_features_are_the_labels_one_and_two_edges_away() -> None:
    y = normal(8, 3)
    s = torch.from_numpy(normalise(adjacency(awkward(), 8)))
    squared = s @ s
    expected = torch.cat([s @ y, (squared - torch.diag(squared.diagonal())) @ y], dim=1)
    torch.testing.assert_close(label_features(y, awkward(), None), expected)


@pytest.mark.parametrize(("model", "sparse"), [("gwn-sym", False), ("gwn-sym", True), ("gwn-fa", False), ("gcn", True)])
def test_own_label_never_reaches_a_node(model: str, sparse: bool) -> None:
    graph = random_graph(5, sparse)
    network = network_of(model, graph)
    before = predict_logits(network, graph)  # makes what is built in the first pass
    changed = 0
    for place, node in enumerate(network.nodes[:8].tolist()):
        own = int(network.classes[place])
        network.classes[place] = (own + 1) % CLASSES
        after = predict_logits(network, graph)
        assert torch.equal(after[node], before[node])
        assert torch.equal(logits_of(network, graph, torch.tensor([node]))[0], after[node])
        changed += not torch.equal(after, before)
        network.classes[place] = own
    assert changed > 4  # while the others do see it


def accuracy_on_training_nodes(network: KnownLabels, logits: Tensor) -> float:
    return float((logits.argmax(1)[network.nodes] == network.classes).float().mean())


def test_without_masking_the_network_reads_its_own_label() -> None:
    """Labels are pure chance here, so whoever is right about a training node was told."""
    graph, told = random_graph(nodes=300), []
    for masked in (True, False):
        network = network_of("gwn-sym", graph, time=2.0, dropout=0.0, hidden_channels=16)
        everything = network.widened(graph)
        optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
        for _ in range(80):
            seen, scored = network.draw(graph) if masked else (everything, network.nodes)
            optimizer.zero_grad()
            loss = F.cross_entropy(logits_of(network.network, seen, scored), graph.labels[scored])
            loss.backward()
            optimizer.step()
        # Other labels by chance: an honest network cannot know them, one that reads follows.
        network.classes.copy_(torch.randint(CLASSES, network.classes.shape, generator=generator(5)))
        reading = predict_logits(network.network, network.widened(graph))
        told.append(accuracy_on_training_nodes(network, reading))
        assert accuracy_on_training_nodes(network, predict_logits(network, graph)) < 0.5
    assert told[0] < 0.5 < 0.8 < told[1]


def test_each_step_scores_what_it_does_not_show() -> None:
    graph = random_graph()
    network = network_of("gwn-sym", graph)
    reseed(1)
    drawn = [network.draw(graph) for _ in range(40)]
    assert {rows.numel() for _, rows in drawn} == {network.nodes.numel() - network.nodes.numel() // 2}
    assert torch.equal(torch.cat([rows for _, rows in drawn]).unique(), network.nodes)
    seen, scored = drawn[0]
    shown = network.nodes[~torch.isin(network.nodes, scored)]
    y = torch.zeros(NODES, CLASSES).index_put_((shown, graph.labels[shown]), torch.tensor(2.0))
    torch.testing.assert_close(seen.x, torch.cat([graph.x, label_features(y, graph.edge_index, None)], dim=1))


def test_sparse_and_dense_features_are_widened_alike() -> None:
    sparse = random_graph(5, sparse=True)
    network = network_of("gwn-sym", sparse)
    dense = replace(sparse, x=sparse.x.to_dense())
    assert torch.equal(network.widened(sparse).x.to_dense(), network.widened(dense).x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_run_shows_the_same_labels_when_it_predicts(dtype: str, tmp_path: Path) -> None:
    graph, model = random_graph(5), model_spec("gwn-sym")
    data = Dataset(
        name="random", graph=graph, metric="accuracy", default_split="any", directed=False, published={}, files={}
    )
    config = replace(MASKED, dtype=dtype, smooth="correct")
    experiment = Experiment(
        dataset=data, model=model, settings=effective_settings(model, {}), config=config, splits=[split_of()]
    )
    result, folder = run_experiment(experiment, tmp_path)
    trained = load_trained(folder)
    table = predict(trained, graph, "cpu")
    names = torch.tensor([("a", "b", "c").index(name) for name in table["predicted"]])
    test = split_of().test
    assert float((names[test] == graph.labels[test]).float().mean()) == pytest.approx(result["runs"][0]["test"])
    assert trained.shown_labels(graph) == "the labels of the 30 training nodes are shown"

    unlabelled = replace(graph, y=None, edge_index=graph.edge_index[:, :-1])
    assert "no labels to show" in trained.shown_labels(unlabelled)
    predict(trained, unlabelled, "cpu")
    other = replace(graph, y=graph.labels.where(graph.labels > 0, -1), edge_index=graph.edge_index[:, :-1])
    assert f"the {int((graph.labels > 0).sum())} labels that it has" in trained.shown_labels(other)
    predict(trained, other, "cpu")


def test_what_does_not_fit_is_refused() -> None:
    graph = random_graph()
    one = Split(train=torch.tensor([0]), val=torch.tensor([1]), test=torch.tensor([2]), kind="any", seed=0)
    with pytest.raises(GWNError, match="two training nodes"):
        build_network(model_spec("gwn-sym"), {}, MASKED, graph, one)
    with pytest.raises(GWNError, match="batch_size"):
        GraphTask(network_of("gwn-sym", graph), graph, split_of(), replace(MASKED, batch_size=4))
