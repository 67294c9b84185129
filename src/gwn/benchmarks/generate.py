"""Graphs of any size, the same ones every time: undirected edges drawn uniformly."""

from __future__ import annotations

import torch

from gwn.errors import GWNError
from gwn.graph import Graph


def uniform_graph(nodes: int, edges: int, features: int = 32, classes: int = 4, seed: int = 0) -> Graph:
    """Exactly `edges` different undirected edges, stored in both directions; dense normal features, random labels."""
    possible = nodes * (nodes - 1) // 2
    if edges > possible // 2:
        raise GWNError(f"{edges} edges asked for between {nodes} nodes, where {possible} exist; ask for fewer")
    draw = torch.Generator().manual_seed(seed)
    keys = torch.empty(0, dtype=torch.int64)
    while keys.numel() < edges:
        pairs = torch.randint(nodes, (2, edges + edges // 8 + 16), generator=draw)
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
