"""Graphs without features: does a wave on eigenvectors of the adjacency reach logistic regression on eight of them?

Zachary's karate club has its two factions as classes. Les Misérables has none of its own: its classes are the
communities that greedy modularity finds, so they follow from the edges alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import torch
from sklearn.linear_model import LogisticRegression

from benchmarks.harness import Result, Settings, Verdict
from gwn.data import Dataset, make_splits
from gwn.data.in_memory import load_tables
from gwn.models import model_spec
from gwn.training import TrainConfig, build_network, fit, seed_everything
from gwn.training.config import effective_settings

EIGENVECTORS = 8
SPLITS = 20
MODELS = ("logistic", "gwn-sym", "gwn-fa", "gwn-plus")
CONFIG = {"device": "cpu", "threads": 1}


def karate() -> nx.Graph:
    """Zachary's karate club; its classes are the two clubs after the quarrel."""
    graph = nx.karate_club_graph()
    return _labelled(graph, {node: graph.nodes[node]["club"] for node in graph})


def les_miserables() -> nx.Graph:
    """Who meets whom in Les Misérables, with communities as classes."""
    graph = nx.les_miserables_graph()
    found = nx.community.greedy_modularity_communities(graph)
    return _labelled(graph, {node: f"group {number}" for number, group in enumerate(found) for node in group})


GRAPHS: dict[str, Callable[[], nx.Graph]] = {"karate": karate, "les-miserables": les_miserables}


def featureless(settings: Settings) -> Result:
    """One row a graph and model: test accuracy in per cent, the mean over the same splits."""
    splits = max(2, SPLITS // settings.shrink)
    rows: list[dict[str, Any]] = []
    verdicts = []
    for name, build in GRAPHS.items():
        settings.say(f"featureless: {name}")
        graph = build()
        data, _ = load_tables(graph, None, label="class", features="spectral")
        reference = _reference(graph, data, splits)
        rows.append({"graph": name, "model": f"scikit-learn, {EIGENVECTORS} eigenvectors", **_summary(reference)})
        for model in MODELS:
            scores = [_run(data, model, number) for number in range(splits)]
            rows.append({"graph": name, "model": model, **_summary(scores)})
            if model == "gwn-sym":
                what = f"test points of {model} with --features spectral above logistic regression on eigenvectors"
                gain = round(100 * float(np.mean(scores) - np.mean(reference)), 3)
                verdicts.append(Verdict(subject=name, what=what, value=gain, sign=">=", bar=0.0))
    facts = {"splits": splits, "split": "stratified", "settings": "defaults"}
    return Result(rows=rows, facts=facts, verdicts=verdicts, notes=[])


def _labelled(graph: nx.Graph, classes: dict[Any, str]) -> nx.Graph:
    """The edges alone, with one attribute a node: its class."""
    plain = nx.Graph(list(graph.edges()))
    nx.set_node_attributes(plain, classes, "class")
    return plain


def _reference(graph: nx.Graph, data: Dataset, splits: int) -> list[float]:
    """Logistic regression of scikit-learn on the leading eigenvectors of D^-1/2 A D^-1/2, with its usual settings."""
    laplacian = nx.normalized_laplacian_matrix(graph).toarray()
    _, vectors = np.linalg.eigh(np.eye(len(graph)) - laplacian)
    leading = vectors[:, -EIGENVECTORS:] * np.sqrt(len(graph))
    y = data.graph.labels.numpy()
    scores = []
    for split in make_splits(data, "stratified", splits, 0):
        known = torch.cat([split.train, split.val]).numpy()  # it has no epoch to choose, so it may learn from both
        model = LogisticRegression(max_iter=1000).fit(leading[known], y[known])
        scores.append(float(model.score(leading[split.test.numpy()], y[split.test.numpy()])))
    return scores


def _run(data: Dataset, model: str, number: int) -> float:
    """Test accuracy of one run with the defaults of `gwn train`."""
    split = make_splits(data, "stratified", number + 1, 0)[number]
    spec = model_spec(model)
    config = TrainConfig(**{**spec.training, **CONFIG})
    graph = data.on(split)
    seed_everything(number)
    network = build_network(spec, effective_settings(spec, {}), config, graph, split)
    found = fit(network, graph, split, config, data.metric)
    assert found.test is not None
    return found.test


def _summary(scores: list[float]) -> dict[str, Any]:
    return {"accuracy": 100 * float(np.mean(scores)), "sd": 100 * float(np.std(scores, ddof=1)), "splits": len(scores)}
