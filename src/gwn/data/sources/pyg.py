"""PyTorch Geometric's dataset classes, without their folder of processed files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from gwn.graph import Graph
from gwn.sparse import SPARSE_DENSITY, dense_to_csr


def undirected(graph: Graph) -> Graph:
    """The same graph with both directions of every edge once, sorted, and no self-loops."""
    edge_index, edge_weight = undirected_edges(graph.edge_index, graph.edge_weight, graph.num_nodes)
    return replace(graph, edge_index=edge_index, edge_weight=edge_weight)


def undirected_edges(edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int) -> tuple[Tensor, Tensor | None]:
    """Both directions of every edge once, sorted, no self-loops.

    The weight of a pair is the mean of the weights given for it, so that a graph which is already undirected keeps
    its weights.
    """
    keep = edge_index[0] != edge_index[1]
    kept = edge_index[:, keep].long()
    both = torch.cat([kept, kept.flip(0)], dim=1)
    key, slot = torch.unique(both[0] * num_nodes + both[1], return_inverse=True)
    weight = None
    if edge_weight is not None:
        values = edge_weight[keep].repeat(2)
        sums = values.new_zeros(key.numel()).index_add_(0, slot, values)
        weight = sums / torch.bincount(slot, minlength=key.numel()).to(values.dtype)
    return torch.stack([key // num_nodes, key % num_nodes]), weight


def count_self_loops(edge_index: Tensor) -> int:
    """Edges from a node to itself."""
    return int((edge_index[0] == edge_index[1]).sum())


def process(base: Any, *args: Any) -> Any:
    """Run `base`'s own `process` on files that are already there and verified, and keep the result in memory.

    PyG writes what it processed beside the raw files and prints while it does: impossible in a read-only folder,
    a race between two processes, and for CS 500 MB on disk in place of 12. Parsing anew takes about a second.
    """
    kept: list[Any] = []
    in_memory = type(
        base.__name__,
        (base,),
        {
            "_download": lambda self: None,
            "_process": lambda self: self.process(),
            "save": lambda self, data_list, path: kept.extend(data_list),
            "load": lambda self, path, *rest: None,
        },
    )
    in_memory(*args)
    (data,) = kept
    return data


def to_graph(data: Any, name: str) -> Graph:
    """A `Graph` whose features are sparse before it checks them, which spares CS two seconds and 600 MB."""
    if int(torch.count_nonzero(data.x)) < SPARSE_DENSITY * data.x.numel():
        data.x = dense_to_csr(data.x)
    return Graph.from_pyg(data, name=name)
