"""A graph with what is needed to train on it fairly: loaded by name, and split as asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch

from gwn.data.catalogue import DATASETS, DatasetSpec
from gwn.data.download import locate
from gwn.data.splits import PUBLISHED, SPLITS, WITHOUT_TEST, Split, without_test
from gwn.errors import GWNError
from gwn.graph import Graph, is_known, undirected
from gwn.registry import lookup, require_known

if TYPE_CHECKING:
    from gwn.data.schema import NodeTable


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset:
    """A graph, how it is scored and split, and what exactly was read.

    directed   whether the edges of `graph` still have a direction
    published  split kind -> its splits
    files      file name -> SHA-256 of what was read
    dropped    what was left out of a user's edges -> how many
    tables     the node table that `graph` was encoded from, where it was: each run then learns its own encoding
    class_names   what pictures call the classes, where the graph has numbers alone
    """

    name: str
    graph: Graph
    metric: str
    default_split: str
    directed: bool
    published: Mapping[str, tuple[Split, ...]]
    files: Mapping[str, str]
    caveat: str = ""
    dropped: Mapping[str, int] = field(default_factory=dict)
    tables: NodeTable | None = None
    class_names: tuple[str, ...] = ()

    @property
    def pictured(self) -> Graph:
        """The graph as pictures show it: with names of the classes that its files do not have.

        Runs and predictions keep the numbers of the files, so that they can be compared with anybody's.
        """
        unnamed = self.graph.class_names is None and self.task == "classification"
        if not unnamed or len(self.class_names) != self.graph.num_classes:
            return self.graph
        return replace(self.graph, class_names=self.class_names)

    def on(self, split: Split) -> Graph:
        """The graph as a run on this split sees it: what encodes a table is learnt on the training nodes alone.

        The nodes, edges, labels and the number of features are those of `graph` in every run.
        """
        return self.graph if self.tables is None else self.tables.encode(self.graph, self.tables.learn(split.train))

    def schema_on(self, split: Split) -> dict[str, Any] | None:
        """What `on` learnt, from which another table is read as this run's was; None where nothing is learnt."""
        return None if self.tables is None else self.tables.learn(split.train).to_json()

    @property
    def task(self) -> str:
        """What is to be predicted: "classification", or "regression" for numbers."""
        return self.graph.task


def usual_metric(graph: Graph) -> str:
    """How anyone's own graph is scored."""
    return "r2" if graph.task == "regression" else "accuracy"


def load_dataset(name: str, *, directed: bool = False) -> Dataset:
    """A dataset by name, its files and counts checked.

    The paper says "simple undirected graph", so by default edges get both directions and lose self-loops and
    duplicates; `directed=True` keeps them exactly as stored, as the reference implementation does.
    """
    spec = lookup("dataset", name, DATASETS)
    found = locate(spec)
    graph, published = spec.load(found.root)
    check_counts(spec, graph)
    return Dataset(
        name=spec.name,
        graph=graph if directed else undirected(graph),
        metric=spec.metric,
        default_split=spec.default_split,
        directed=directed and spec.directed,
        published=published,
        files=found.files,
        caveat=spec.caveat,
        class_names=spec.class_names,
    )


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


def make_splits(dataset: Dataset, kind: str | None, runs: int, seed: int = 0) -> list[Split]:
    """One split for each run: drawn with `seed + run`, or the published ones in turn."""
    if runs < 1:
        raise GWNError(f"{runs} runs asked for; at least one is needed")
    kind = dataset.default_split if kind is None else kind
    if (found := WITHOUT_TEST.fullmatch(kind)) is not None:
        return [without_test(dataset.graph.labels, seed + run, int(found[1])) for run in range(runs)]
    require_known("split", kind, (*SPLITS, *PUBLISHED))
    if kind in SPLITS:
        return [SPLITS[kind](dataset.graph.labels, seed + run) for run in range(runs)]
    if kind not in dataset.published:
        has = ", ".join([*SPLITS, *dataset.published])
        raise GWNError(f"{dataset.name} has no published split {kind!r}; it has {has}")
    published = dataset.published[kind]
    for split in published:
        _require_labels(dataset, split)
    return [published[run % len(published)] for run in range(runs)]


def repeated_splits(dataset: Dataset, kind: str, runs: int) -> str:
    """What more runs than published splits are worth, in words; "" where each has a split of its own."""
    count = len(dataset.published.get(kind, ()))
    if not 0 < count < runs:
        return ""
    few, them = ("one split", "it") if count == 1 else (f"{count} splits", "them")
    return f"{kind} has {few}, so {runs} runs repeat {them} with other seeds: the interval is not that of {runs} splits"


def _require_labels(dataset: Dataset, split: Split) -> None:
    """Refuse a published split with nodes that nobody labelled: each would count as a wrong answer."""
    nodes = torch.cat([split.train, split.val, split.test])
    unknown = nodes[~is_known(dataset.graph.labels[nodes])]
    if unknown.numel():
        raise GWNError(
            f"{dataset.name}: split {split.kind!r} number {split.seed} has nodes whose y is not known, "
            f"{unknown.numel()} of {nodes.numel()}, node {int(unknown.min())} for example; take them "
            "out of its masks, or label them"
        )
