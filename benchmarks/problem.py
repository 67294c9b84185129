"""One graph to train on, real or generated: everything a competitor needs to know."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.harness import Settings
from gwn.data import Dataset, make_splits
from gwn.data.folders.folder import GraphFolder
from gwn.data.folders.generate import BlockModel, generate_folder, model_like
from gwn.errors import GWNError
from gwn.graph import Graph

MIXING = 0.05
"""The share of edges that leave their community, in graphs that have some."""


def uniform_graph(
    nodes: int, edges: int, features: int = 32, classes: int = 4, seed: int = 0, community: int = 0
) -> Graph:
    """Exactly `edges` different undirected edges, stored in both directions; dense normal features, random labels.

    community   nodes of a community, which are neighbours in number: all but a share `MIXING` of the edges stay in one.
                0: none, so that an edge leads anywhere
    """
    possible = nodes * (nodes - 1) // 2
    if edges > possible // 2:
        raise GWNError(f"{edges} edges asked for between {nodes} nodes, where {possible} exist; ask for fewer")
    draw = torch.Generator().manual_seed(seed)
    keys = torch.empty(0, dtype=torch.int64)
    while keys.numel() < edges:
        pairs = torch.randint(nodes, (2, edges + edges // 8 + 16), generator=draw)
        if community:
            near = pairs[0] - pairs[0] % community + torch.randint(community, (pairs.shape[1],), generator=draw)
            stays = torch.rand(pairs.shape[1], generator=draw) >= MIXING
            pairs[1] = torch.where(stays & (near < nodes), near, pairs[1])
        low, high = torch.aminmax(pairs, dim=0)
        keys = torch.unique(torch.cat([keys, (low * nodes + high)[low != high]]))
    # `unique` sorts, so the first ones would all be edges of low nodes: keep a random choice instead.
    keys = keys[torch.randperm(keys.numel(), generator=draw)[:edges]].sort().values
    low, high = torch.div(keys, nodes, rounding_mode="floor"), keys % nodes
    return Graph(
        x=torch.randn(nodes, features, generator=draw),
        edge_index=torch.stack([torch.cat([low, high]), torch.cat([high, low])]),
        y=torch.randint(classes, (nodes,), generator=draw),
        name=f"uniform-{nodes}-{edges}",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """A graph, its training nodes, and the sizes that all competitors share."""

    graph: Graph
    rows: Tensor
    width: int = 64
    steps: int = 5
    tau: float = 1.0
    dropout: float = 0.5

    @cached_property
    def dense(self) -> Graph:
        """The same graph with dense features, as PyTorch Geometric's datasets come."""
        return replace(self.graph, x=self.graph.x.to_dense()) if self.graph.is_sparse else self.graph

    @property
    def time(self) -> float:
        return self.steps * self.tau


def problem_of(dataset: Dataset, **sizes: Any) -> Problem:
    """The first split of a dataset, in single precision on the CPU."""
    split = make_splits(dataset, None, 1)[0]
    return Problem(graph=dataset.graph.to("cpu", torch.float32), rows=split.train, **sizes)


def problem_in(folder: str | Path, **sizes: Any) -> Problem:
    """The graph of a folder in memory, with its split by time."""
    data = GraphFolder.open(folder).dataset()
    return Problem(graph=data.graph, rows=data.published["time"][0].train, **sizes)


def arxiv_folder(settings: Settings) -> GraphFolder:
    """The graph of the shape of ogbn-arxiv."""
    full = model_like("ogbn-arxiv")
    nodes, edges = max(400, full.nodes // settings.shrink), max(1000, full.edges // settings.shrink)
    return _folder(settings, "arxiv", model_like("ogbn-arxiv", nodes=nodes, edges=edges))


def community_folder(settings: Settings) -> GraphFolder:
    """The same sizes with communities of about a thousand nodes, so that a partition has something to find."""
    full = arxiv_folder(settings)
    shape = model_like("ogbn-arxiv", nodes=full.num_nodes, edges=full.num_arcs // 2)
    communities = max(2, shape.nodes // 1000)
    return _folder(settings, "communities", replace(shape, communities=communities, mixing=MIXING))


def ten_million_folder(settings: Settings) -> GraphFolder:
    """Ten million undirected edges between a million nodes."""
    nodes, edges = 1_000_000 // settings.shrink, 10_000_000 // settings.shrink
    return _folder(settings, "ten-million", BlockModel(nodes=nodes, edges=edges, features=64, classes=16))


def _folder(settings: Settings, name: str, model: BlockModel) -> GraphFolder:
    """The graph below `settings.work`, made where it is not there or not the same."""
    path = settings.work / f"{name}-{model.nodes}-{model.edges}"
    try:
        found = GraphFolder.open(path)
        if found.meta["made"] == {"by": "block model", **asdict(model)}:
            return found
    except GWNError:
        pass
    settings.say(f"generating {model.nodes:,} nodes and {model.edges:,} edges")
    settings.work.mkdir(parents=True, exist_ok=True)
    return generate_folder(model, path, force=(path / "meta.json").is_file())


def sizes_of(graph: GraphFolder) -> dict[str, int]:
    """What a table says about its graph."""
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_arcs // 2,
        "features": graph.num_features,
        "classes": graph.num_classes,
    }
