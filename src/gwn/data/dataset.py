"""What a dataset is before it is read (`DatasetSpec`) and after (`Dataset`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from gwn.data.splits import Split
from gwn.errors import GWNError
from gwn.graph import Graph

Metric = Literal["accuracy", "roc-auc"]
Kind = Literal["homophilic", "heterophilic", "large", "synthetic"]
Loaded = tuple[Graph, Mapping[str, tuple[Split, ...]]]
"""A graph exactly as stored, and its published splits by kind."""


@dataclass(frozen=True, kw_only=True)
class DatasetSpec:
    """Everything we claim about a dataset; the claims are checked when it is loaded.

    nodes, edges, features, classes   the paper's table. It counts undirected pairs where both directions are stored
                                      and arcs, with their self-loops, where the graph is stored directed
    directed       whether the graph is stored directed
    default_split  the split that is used when none is named
    metric         what the field reports on it
    files          path below the data root -> SHA-256, or "" where no hash is known
    urls           where each file is downloaded from
    unpacked       the files to read where the archive in `files` is not there but its content is
    pinned         whether a file with another hash is refused; if not, it is never opened as a pickle
    load           reads the files below a root
    """

    name: str
    title: str
    nodes: int
    edges: int
    features: int
    classes: int
    directed: bool
    default_split: str
    kind: Kind
    source: str
    load: Callable[[Path], Loaded]
    metric: Metric = "accuracy"
    files: Mapping[str, str] = field(default_factory=dict)
    urls: Mapping[str, str] = field(default_factory=dict)
    unpacked: tuple[str, ...] = ()
    pinned: bool = True
    caveat: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset:
    """A graph with what is needed to train on it fairly and to say later what exactly was used.

    directed   whether the edges of `graph` still have a direction
    published  split kind -> its splits
    files      file name -> SHA-256 of what was read
    """

    name: str
    graph: Graph
    metric: str
    default_split: str
    directed: bool
    published: Mapping[str, tuple[Split, ...]]
    files: Mapping[str, str]
    caveat: str = ""


def check_counts(spec: DatasetSpec, graph: Graph) -> None:
    """Refuse a stored graph that is not the one of the paper's table."""
    found = {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges if spec.directed else graph.num_edges // 2,
        "features": graph.num_features,
        "classes": graph.num_classes,
    }
    for what, count in found.items():
        if count != getattr(spec, what):
            raise GWNError(f"{spec.name} was read with {count} {what}; it should have {getattr(spec, what)}")
