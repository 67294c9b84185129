"""A graph in several processes is the graph: the same waves and the same gradients, whatever the operator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from graphs import AWKWARD_NODES, AWKWARD_WEIGHTS, awkward, normal, random_edges
from gwn.distributed.parts import Part, cut, rows_of_message
from gwn.distributed.process_group import ProcessGroup
from gwn.graph import Graph
from gwn.laplacians import LAPLACIANS
from gwn.networks import GWN
from gwn.training.partitions import assign_rows
from process_groups import run_group
from seeds import reseed

NODES = 60
SETTINGS: dict[str, dict[str, Any]] = {
    **{name: {"laplacian": name} for name in LAPLACIANS},
    "directed": {"laplacian": "fa", "directed": True, "self_loops": "add", "attention_start": "velocity"},
    "directed walk": {"laplacian": "random-walk", "directed": True},
    "speed": {"laplacian": "physical", "speed": "channel"},
    "mass": {"laplacian": "klein-gordon", "learn_mass": True},
    "bessel": {"laplacian": "random-walk", "scheme": "bessel", "readout": "trajectory"},
    "deep": {"laplacian": "fa-symmetric", "time": 9.0, "readout": "with-encoder"},
}


def some_graph(dtype: torch.dtype) -> Graph:
    """A random graph and beside it the awkward one: isolated nodes, self-loops, one-way edges, weights."""
    edges = torch.cat([random_edges(NODES, 150), awkward() + NODES], dim=1)
    weights = torch.cat([normal(150).abs(), AWKWARD_WEIGHTS]).to(dtype)
    nodes = NODES + AWKWARD_NODES
    return Graph(x=normal(nodes, 5, dtype=dtype), edge_index=edges, edge_weight=weights, y=torch.arange(nodes) % 3)


def logits_and_gradients(model: GWN, seen: Graph | Part, total: int) -> tuple[Tensor, list[Tensor]]:
    model.zero_grad()
    logits = model(seen.x, seen.edge_index, seen.edge_weight)
    assert seen.y is not None
    (F.cross_entropy(logits, seen.y, reduction="sum") / total).backward()
    return logits.detach(), [p.grad.clone() for p in model.parameters() if p.grad is not None]


def compare(group: ProcessGroup) -> dict[str, float]:
    """The largest difference from one process, relative to the largest value, for all settings."""
    found = {}
    for dtype, names in ((torch.float32, ("sym", "fa", "directed")), (torch.float64, SETTINGS)):
        if group.size > 2 and dtype == torch.float64:  # more processes than cores wait for each other
            continue
        graph = some_graph(dtype)
        for name in names:
            given = SETTINGS[name]
            reseed(0)
            model = GWN(5, 8, 3, dropout=0.0, **{"time": 2.0, "tau": 0.5, **given}).to(dtype)
            whole, gradients = logits_and_gradients(model, graph, graph.num_nodes)
            adjacency = model.adjacency(graph.x, graph.edge_index, graph.edge_weight)
            for method in ("metis", "contiguous") if dtype == torch.float32 else ("contiguous",):
                owner = assign_rows(adjacency, group.size, method)
                messages = [rows.to_message() for rows in cut(graph, adjacency, owner)] if group.leads else None
                part = Part.build(group, rows_of_message(group.scatter(messages)))
                logits, shares = logits_and_gradients(model, part, graph.num_nodes)
                pairs = [
                    (logits, whole[part.nodes]),
                    *((group.sum_(a), b) for a, b in zip(shares, gradients, strict=True)),
                ]
                errors = [float((a - b).abs().max() / b.abs().max().clamp_min(1e-6)) for a, b in pairs]
                found[f"{dtype} {name} {method}"] = max(errors)
    return found


@pytest.mark.parametrize("size", [2, 4])
def test_same_as_one_process(size: int, tmp_path: Path) -> None:
    pytest.importorskip("pymetis")
    for errors in run_group(size, tmp_path, compare):
        assert isinstance(errors, dict), errors
        for what, error in errors.items():
            assert error < (1e-5 if "float32" in what else 1e-12), what
