"""A block model written as a graph folder, chunk by chunk: the same seed gives the same bytes on any machine."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np

from gwn.data import DATASETS
from gwn.data.large.block_model import TIME_SPLIT, BlockModel
from gwn.data.large.builder import CSRBuilder
from gwn.data.large.folder import FolderWriter, GraphFolder, new_folder
from gwn.errors import GWNError
from gwn.registry import lookup

NODES_AT_ONCE = 1 << 16
EDGES_AT_ONCE = 1 << 20
MOST_ROUNDS = 50
HOMOPHILY = {"ogbn-arxiv": 0.655, "cora": 0.81, "citeseer": 0.74, "pubmed": 0.80}
"""Measured on the originals; a dataset not named here gets a half."""

OnPart = Callable[[str, int, int], None]


def model_like(name: str, **changes: float | int | None) -> BlockModel:
    """The sizes of a known dataset, with changes where they are given."""
    spec = lookup("dataset", name, DATASETS)
    sizes = {
        "nodes": spec.nodes,
        "edges": spec.edges,
        "features": spec.features,
        "classes": spec.classes,
        "homophily": HOMOPHILY.get(name, 0.5),
    }
    return BlockModel(**{**sizes, **{key: value for key, value in changes.items() if value is not None}})  # type: ignore[arg-type]


def generate_folder(
    model: BlockModel,
    out: Path,
    *,
    memory: int = 1 << 30,
    force: bool = False,
    on_part: OnPart = lambda what, done, total: None,
) -> GraphFolder:
    """Write the graph; `on_part` hears how far it is."""
    with new_folder(out, force=force) as folder:
        _write_nodes(model, folder, on_part)
        _write_edges(model, folder, memory, on_part)
        folder.facts = {
            "name": out.name,
            "classes": model.classes,
            "time_split": list(TIME_SPLIT),
            "made": {"by": "block model", **asdict(model)},
            "caveat": "Generated: a degree-corrected block model. Accuracies on it say nothing about real graphs.",
        }
    return GraphFolder.open(out)


def _write_nodes(model: BlockModel, folder: FolderWriter, on_part: OnPart) -> None:
    x, y, year = folder.array("x", (model.features,)), folder.array("y"), folder.array("year")
    for number, start in enumerate(range(0, model.nodes, NODES_AT_ONCE)):
        node = np.arange(start, min(start + NODES_AT_ONCE, model.nodes))
        x.append(model.draw_features(node, number))
        y.append(model.labels(node))
        year.append(model.years(node))
        on_part("nodes", int(node[-1]) + 1, model.nodes)
    for name, writer in (("x", x), ("y", y), ("year", year)):
        folder.finish(name, writer)


def _write_edges(model: BlockModel, folder: FolderWriter, memory: int, on_part: OnPart) -> None:
    """Draw what is missing until every edge is there once: repeats and self-loops are few, so rounds shrink fast."""
    scratch = folder.path / "buckets"
    builder = CSRBuilder(scratch, model.nodes, 2 * model.edges, memory)
    try:
        found, number = 0, 0
        for _ in range(MOST_ROUNDS):
            missing = model.edges - found
            for start in range(0, missing, EDGES_AT_ONCE):
                builder.add(*model.draw_edges(min(EDGES_AT_ONCE, missing - start), number))
                number += 1
                on_part("edges", found + start, model.edges)
            found = builder.compact() // 2
            if found == model.edges:
                break
        else:
            raise GWNError(f"only {found:,} of {model.edges:,} different edges were found; ask for fewer edges")
        indptr, indices = folder.array("indptr"), folder.array("indices")
        builder.write(indptr, indices)
    finally:
        builder.close()
    folder.finish("indptr", indptr)
    folder.finish("indices", indices)
    on_part("edges", model.edges, model.edges)
    shutil.rmtree(scratch)
