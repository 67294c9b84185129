"""What a person should know about a dataset before believing a figure on it; are its files the originals?"""

from __future__ import annotations

from typing import Any

import torch

from gwn.data import DATASETS
from gwn.data.dataset import Dataset
from gwn.data.download import data_roots
from gwn.data.splits import SPLITS
from gwn.graph import Graph, count_self_loops
from gwn.io import file_sha256
from gwn.registry import lookup


def describe(dataset: Dataset) -> dict[str, Any]:
    """Counts and shares as a plain dictionary; `edges` are pairs where the graph is undirected, arcs otherwise."""
    graph = dataset.graph
    stored = graph.x.values() if graph.is_sparse else graph.x
    return {
        "name": dataset.name,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges if dataset.directed else graph.num_edges // 2,
        "features": graph.num_features,
        "classes": graph.num_classes,
        "labelled": 0 if graph.y is None else int(graph.labelled.sum()),
        "class_counts": class_counts(graph),
        "directed": dataset.directed,
        "weighted": graph.edge_weight is not None,
        "self_loops": count_self_loops(graph.edge_index),
        "isolated_nodes": isolated_nodes(graph),
        "edge_homophily": edge_homophily(graph),
        "feature_density": int(torch.count_nonzero(stored)) / max(1, graph.x.numel()),
        "metric": dataset.metric,
        "default_split": dataset.default_split,
        "splits": [*SPLITS, *dataset.published],
        "files": dict(dataset.files),
        "caveat": dataset.caveat,
    }


def class_counts(graph: Graph) -> dict[str, int]:
    """Labelled nodes of every class."""
    if graph.y is None or graph.task == "regression":
        return {}
    counts = torch.bincount(graph.y[graph.labelled], minlength=graph.num_classes)
    return {graph.label_name(index): int(count) for index, count in enumerate(counts)}


def edge_homophily(graph: Graph) -> float | None:
    """Share of edges that join equal classes, among those whose two ends are labelled and different."""
    if graph.y is None or graph.task == "regression":
        return None
    a, b = graph.y[graph.edge_index[0]], graph.y[graph.edge_index[1]]
    known = graph.labelled
    counted = known[graph.edge_index[0]] & known[graph.edge_index[1]] & (graph.edge_index[0] != graph.edge_index[1])
    return float((a == b)[counted].float().mean()) if bool(counted.any()) else None


def isolated_nodes(graph: Graph) -> int:
    """Nodes that no edge joins to another node."""
    joined = torch.zeros(graph.num_nodes, dtype=torch.bool)
    joined[graph.edge_index[:, graph.edge_index[0] != graph.edge_index[1]].flatten()] = True
    return int((~joined).sum())


def verify(name: str) -> list[tuple[str, str]]:
    """Every file of a dataset with its status.

    ok, missing, changed (it will be refused), or unknown (not a hash we know, but harmless to read)
    """
    spec = lookup("dataset", name, DATASETS)
    roots = data_roots()
    unpacked = any(all((root / path).is_file() for path in spec.unpacked) for root in roots)
    archived = any(all((root / path).is_file() for path in spec.files) for root in roots)
    expected = dict.fromkeys(spec.unpacked, "") if spec.unpacked and unpacked and not archived else spec.files
    report = []
    for path, digest in expected.items():
        found = next((root / path for root in roots if (root / path).is_file()), None)
        if found is None:
            status = "missing"
        elif file_sha256(found) == digest:
            status = "ok"
        else:
            status = "changed" if spec.pinned else "unknown"
        report.append((path, status))
    return report
