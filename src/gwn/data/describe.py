"""What a person should know about a dataset before believing a figure on it; are its files the originals?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from gwn.data import DATASETS
from gwn.data.cells import NOBODY_KNOWS
from gwn.data.dataset import Dataset
from gwn.data.download import data_roots
from gwn.data.schema import FeatureSchema, NodeTable, column_summary
from gwn.data.splits import NOTICEABLE_SHIFT, SPLITS, Split, shift_by_chance
from gwn.data.tables import MISSING
from gwn.data.telling import suspicious_column, telling_columns
from gwn.graph import Graph, count_self_loops
from gwn.io import file_sha256
from gwn.registry import lookup


def describe(dataset: Dataset, split: Split | None = None) -> dict[str, Any]:
    """Counts and shares as a plain dictionary; `edges` are pairs where the graph is undirected, arcs otherwise.

    split   what of it trains: then `label_shift` says how far its classes are from those of the other labelled nodes
    """
    graph = dataset.graph
    stored = graph.x.values() if graph.is_sparse else graph.x
    tables = dataset.tables
    facts: dict[str, Any] = {
        "name": dataset.name,
        "task": dataset.task,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges if dataset.directed else graph.num_edges // 2,
        "features": graph.num_features,
        "classes": graph.num_classes,
        "labelled": int(graph.labelled.sum()),
        "class_counts": class_counts(graph),
        "directed": dataset.directed,
        "weighted": graph.edge_weight is not None,
        "edges_of_weight_0": _weightless(dataset) or None,
        "self_loops": count_self_loops(graph.edge_index),
        "dropped": dict(dataset.dropped),
        "isolated_nodes": isolated_nodes(graph),
        "components": components(graph),
        "edge_homophily": edge_homophily(graph),
        "adjusted_homophily": adjusted_homophily(graph),
        "label_shift": None if split is None else label_shift(graph, split),
        "feature_density": int(torch.count_nonzero(stored)) / max(1, graph.x.numel()),
        "metric": dataset.metric,
        "default_split": dataset.default_split,
        "splits": [*SPLITS, *dataset.published],
        "files": dict(dataset.files),
        "caveat": dataset.caveat,
        "columns": [] if tables is None else column_summary(tables.schema, tables.table),
        "structural": None if tables is None else tables.schema.structural,
        "read_as_empty": {} if tables is None else read_as_empty(tables),
        "first_row_alone": _first_row_alone(tables, graph) or None,
        "telling_columns": [] if tables is None else telling_columns(tables, graph),
    }
    by_chance = None if split is None else chance_of_shift(graph, split)
    return {**facts, "suggestions": suggestions({**facts, "label_shift_by_chance": by_chance})}


def _weightless(dataset: Dataset) -> int:
    """Edges that weigh nothing, counted as `edges` are."""
    weight = dataset.graph.edge_weight
    count = 0 if weight is None else int((weight == 0).sum())
    return count if dataset.directed else count // 2


def _first_row_alone(tables: NodeTable | None, graph: Graph) -> bool:
    """Whether edges name nodes by row number, and none names row 0; without edges there is nothing to suspect."""
    by_row = tables is not None and tables.schema.id_column is None and graph.num_edges > 0
    return by_row and not bool((graph.edge_index == 0).any())


FEW_OF_A_CLASS = 5
"""Labelled nodes, below which a class can be neither learnt nor measured: a split gives it one or two."""

FEW_LABELS = 20
"""Labelled nodes a class, as in the well-known sparse splits of citation graphs."""

UNLIKE, ALIKE = 0.15, 0.5
"""Adjusted homophily below which neighbours say little, and above which they say a lot, about a node's class."""

UNEVEN = 10
"""Times as many nodes in the largest class as in the smallest."""


def suggestions(facts: Mapping[str, Any]) -> list[str]:
    """What these facts mean for somebody who wants to train, in plain sentences, the most important first."""
    said = []
    counts: Mapping[str, int] = facts["class_counts"]
    columns = facts["columns"]
    # nodes without features have one that is the same for all
    if facts["features"] <= 1 and facts["structural"] is None and not any(row["features"] for row in columns):
        tables = "" if columns else "give tables with --edges and --nodes, and "
        said.append(f"The nodes have no features: {tables}try --features spectral first, or --features structure.")
    said += [suspicious_column(name, facts["task"]) for name in facts["telling_columns"]]
    if facts["first_row_alone"]:
        said.append(
            "The edges name rows of the nodes, counted from 0, and none names row 0: if they count from 1, every edge "
            "is one row off; add a column of ids to the nodes."
        )
    if facts["edges_of_weight_0"]:
        said.append(f"Edges of weight 0: {facts['edges_of_weight_0']:,}; they count as if they were not there.")
    if facts["read_as_empty"]:
        words = _some([f"{word!r} ({count:,})" for word, count in facts["read_as_empty"].items()])
        said.append(f"Read as an empty label, so to be predicted: {words}. Where it is a class, write it differently.")
    said += suspicious_classes(counts)
    if counts:
        smallest, largest = min(counts, key=counts.__getitem__), max(counts, key=counts.__getitem__)
        rare = [f"{name!r} ({count})" for name, count in counts.items() if count < FEW_OF_A_CLASS]
        if rare:
            said.append(
                f"Fewer than {FEW_OF_A_CLASS} labelled nodes in {_some(rare)}: this can be neither learnt nor "
                "measured; label more of them, or join classes."
            )
        elif facts["labelled"] < FEW_LABELS * len(counts):
            said.append(
                f"Few labels ({facts['labelled']} for {len(counts)} classes): scores will vary from split to split; "
                "use --runs 10 and believe the interval."
            )
        if counts[largest] > UNEVEN * max(1, counts[smallest]):
            said.append(
                f"The classes are uneven ({largest!r}: {counts[largest]:,}, {smallest!r}: {counts[smallest]:,}): "
                f"always answering {largest!r} is right in {counts[largest] / max(1, facts['labelled']):.0%} of cases; "
                "look at each class alone, and try --class-weights balanced."
            )
    adjusted = facts["adjusted_homophily"]
    if adjusted is not None and adjusted < UNLIKE:
        differ = "differ in class more often than by chance"
        what = differ if adjusted < -UNLIKE else "say little about each other's class"
        said.append(
            f"Neighbours {what} (adjusted homophily {adjusted:.2f}): try gwn-fa or gwn-plus, which can take a "
            "neighbour's features with the opposite sign, and see whether mlp does as well."
        )
    elif adjusted is not None and adjusted > ALIKE:
        said.append(f"Neighbours mostly share a class (adjusted homophily {adjusted:.2f}): gwn-sym is a good start.")
    if facts["isolated_nodes"]:
        own = "its own features count for it" if facts["isolated_nodes"] == 1 else "their own features count for them"
        said.append(f"{_nodes(facts['isolated_nodes'])} no edge: only {own}.")
    if facts["components"] - facts["isolated_nodes"] > 1:
        parts = facts["components"] - facts["isolated_nodes"]
        said.append(f"The graph has {parts:,} parts of two or more nodes; nothing travels between them.")
    if shifted := shift_in_words(facts["label_shift"], facts["label_shift_by_chance"]):
        said.append(shifted)
    empty = [repr(row["column"]) for row in columns if row["features"] and row["missing"] > facts["nodes"] / 2]
    if empty:
        said.append(f"More than half the cells are empty in {_some(empty)}.")
    return said


def shift_in_words(shift: float | None, by_chance: float | None) -> str:
    """What to do about a label shift; nothing where there is hardly any, or so few nodes that chance explains it."""
    if shift is None or shift <= max(NOTICEABLE_SHIFT, by_chance or 0):
        return ""
    return (
        f"The classes of the training nodes are not those of the others ({shift:.0%} would have to change); `gwn "
        "train` and `gwn compare` say what that costs. `--prior validation`, `calibrated` or `em` answers for the "
        "shares of the others, and scores with and without it do not compare."
    )


def suspicious_classes(counts: Mapping[str, int]) -> list[str]:
    """Classes that may be none, and classes that may be one."""
    said = []
    negative = [name for name in counts if re.fullmatch(r"-\d+", name)]
    unknown = [name for name in counts if name.lower() in NOBODY_KNOWS or [name] == negative == ["-1"]]
    if unknown:
        named = _some([f"{name!r} ({counts[name]:,})" for name in unknown])
        said.append(f"Learnt as a class: {named}. Where this means that nobody knows the class, empty these cells.")
    alike: dict[str, list[str]] = {}
    for name in counts:
        alike.setdefault(" ".join(name.casefold().split()), []).append(name)
    for names in (names for names in alike.values() if len(names) > 1):
        said.append(f"Learnt as {len(names)} classes: {_some([repr(name) for name in names])}. Write them alike.")
    return said


def read_as_empty(tables: NodeTable) -> dict[str, int]:
    """Words such as NA in the label column, which stand for nothing, and how often: one may be somebody's class."""
    name, table = tables.schema.label_column, tables.table
    if name is None or name not in table.columns or pa.types.is_floating(table.columns[name].type):
        return {}
    text = table.text(name, missing=())
    counted = pc.value_counts(text.filter(pc.is_in(text, value_set=pa.array(MISSING[1:]))))
    return {entry["values"]: entry["counts"] for entry in counted.to_pylist()}


COLUMN_KINDS = {
    "number": "number",
    "boolean": "true/false",
    "category": "category",
    "date": "date",
    "text": "text",
}


def reading_in_words(schema: FeatureSchema, nodes: str, edges: str, *, weights: bool = True) -> str:
    """What every special column of two tables was taken for, and how many became features.

    weights   whether a column of weights can be named
    """
    kinds = [column.kind for column in schema.columns]
    counted = [(kinds.count(kind), word) for kind, word in COLUMN_KINDS.items() if kind in kinds]
    counts = [f"{count} {word} column{'s' * (count > 1)}" for count, word in counted]
    ids = "the row number from 0" if schema.id_column is None else f"column {schema.id_column!r}"
    target = "the number to predict" if schema.task == "regression" else "the class"
    label = f"{target} is in {schema.label_column!r}" if schema.label_column else "no label column was named"
    label += f" ({schema.label_note})" if schema.label_column and schema.label_note else ""
    weight = f", weighted by {schema.weight_column!r}" if schema.weight_column else ""
    weight += f" ({schema.weight_note})" if schema.weight_note else ""
    if schema.unused_of_edges:
        weight += f", not used: {', '.join(map(repr, schema.unused_of_edges))}"
        weight += " (name weights with --weight-column)" if weights and not schema.weight_column else ""
    return (
        f"{nodes}: the id is {ids}, {label}, features are {', '.join(counts) or 'from the edges alone'}; "
        f"{edges}: edges go from {schema.source_column!r} to {schema.target_column!r}{weight}"
    )


def in_words(facts: Mapping[str, Any]) -> list[str]:
    """The facts that decide what can be learnt, a sentence a line, and then what they suggest."""
    lines = [
        f"{_counted(facts['nodes'], 'node')}, "
        f"{_counted(facts['edges'], 'directed edge' if facts['directed'] else 'edge')}, "
        f"{_counted(facts['features'], 'feature')}; {_counted(facts['isolated_nodes'], 'node')} without an edge, "
        f"{_counted(facts['components'], 'connected part')}"
    ]
    if lost := left_out(facts["dropped"]):
        lines.append(lost)
    counts = sorted(facts["class_counts"].items(), key=lambda entry: -entry[1])
    if counts:
        shown = ", ".join(f"{name!r} {count:,}" for name, count in counts[:10])
        more = f" and {len(counts) - 10} more" if len(counts) > 10 else ""
        lines.append(f"{facts['labelled']:,} labelled nodes in {len(counts)} classes: {shown}{more}")
    elif facts["task"] == "regression":
        lines.append(f"{facts['labelled']:,} nodes with a known number")
    if facts["edge_homophily"] is not None:
        adjusted = facts["adjusted_homophily"]
        by_chance = "" if adjusted is None else f" (adjusted for chance: {adjusted:.2f})"
        lines.append(f"{facts['edge_homophily']:.0%} of the edges join equal classes{by_chance}")
    return [*lines, *facts["suggestions"]]


def left_out(dropped: Mapping[str, int]) -> str:
    """What of the edges was left out, and how often; nothing where everything was kept."""
    one = {name: name.replace("edges", "edge", 1).replace("loops", "loop") for name in dropped}
    lost = [f"{count:,} {name if count > 1 else one[name]}" for name, count in dropped.items() if count]
    return f"left out: {', '.join(lost)}" if lost else ""


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'s' * (count != 1)}"


def _nodes(count: int) -> str:
    return "1 node has" if count == 1 else f"{count:,} nodes have"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def class_counts(graph: Graph) -> dict[str, int]:
    """Labelled nodes of every class."""
    if graph.y is None or graph.task == "regression":
        return {}
    counts = torch.bincount(graph.y[graph.labelled], minlength=graph.num_classes)
    return {graph.label_name(index): int(count) for index, count in enumerate(counts)}


def edge_homophily(graph: Graph) -> float | None:
    """Share of edges that join equal classes, among those whose two ends are labelled and different."""
    ends = _labelled_ends(graph)
    return None if ends is None else float((ends[0] == ends[1]).double().mean())


def adjusted_homophily(graph: Graph) -> float | None:
    """(h - e) / (1 - e), h the edge homophily and e what it would be by chance: sum over classes of (D_k / D)².

    D_k counts the ends of edges in class k, D all ends; 1: only equal classes are joined, 0: as by chance.
    """
    ends = _labelled_ends(graph)
    if ends is None:
        return None
    shares = torch.bincount(ends.flatten()).double() / ends.numel()
    chance = float((shares**2).sum())
    return None if chance >= 1 else (float((ends[0] == ends[1]).double().mean()) - chance) / (1 - chance)


def _labelled_ends(graph: Graph) -> Tensor | None:
    """Classes [2, e] at the ends of the edges of which both are known; None where there is none."""
    if graph.y is None or graph.task != "classification":
        return None
    counted = graph.labelled[graph.edge_index].all(dim=0) & (graph.edge_index[0] != graph.edge_index[1])
    return graph.y[graph.edge_index[:, counted]] if bool(counted.any()) else None


def components(graph: Graph) -> int:
    """Connected parts, whatever the direction of the edges; a node without an edge is one."""
    row, col = graph.edge_index.numpy()
    joined = sp.csr_array((np.ones(len(row), dtype=np.int8), (row, col)), shape=(graph.num_nodes, graph.num_nodes))
    return int(connected_components(joined, directed=False, return_labels=False))


def label_shift(graph: Graph, split: Split) -> float | None:
    """Half the sum over classes of |share among training nodes - share among the other labelled nodes|; 0 is none."""
    if graph.y is None or graph.task != "classification":
        return None
    others = graph.labelled.clone()
    others[split.train] = False
    if not bool(others.any()):
        return None
    shares = [
        torch.bincount(part, minlength=graph.num_classes).double() / max(1, part.numel())
        for part in (graph.y[split.train], graph.y[others])
    ]
    return float((shares[0] - shares[1]).abs().sum() / 2)


def chance_of_shift(graph: Graph, split: Split) -> float | None:
    """What of `label_shift` is to be expected of a split of so few nodes."""
    if graph.y is None or graph.task != "classification":
        return None
    chosen = split.train.numel()
    return shift_by_chance(graph.num_classes, chosen, int(graph.labelled.sum()) - chosen)


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
