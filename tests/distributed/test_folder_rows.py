"""Rows read from a folder by their owner are the rows of the graph in memory."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from gwn.data.folders.generate import BlockModel, generate_folder
from gwn.distributed.parts import cut, cut_folder
from gwn.networks import GWN
from gwn.training.partitions import assign_rows


@pytest.mark.parametrize("method", ["metis", "contiguous"])
@pytest.mark.parametrize("loops", ["none", "add"])
def test_same_as_from_memory(method: str, loops: str, tmp_path: Path) -> None:
    pytest.importorskip("pymetis")
    model = BlockModel(nodes=300, edges=500, features=4, classes=3)
    folder = generate_folder(model, tmp_path / "graph")
    graph = folder.dataset().graph
    adjacency = GWN(4, 2, 3, self_loops=loops).adjacency(graph.x, graph.edge_index)
    expected = cut(graph, adjacency, assign_rows(adjacency, 3, method))
    found = cut_folder(folder, 3, method, directed=False, self_loops=loops, dtype=torch.float32)
    assert sum(rows.nodes.numel() for rows in found) == 300
    for wanted, there in zip(expected, found, strict=True):
        rows = there.load()
        assert torch.equal(rows.nodes, wanted.nodes)
        assert torch.equal(rows.bounds, wanted.bounds)
        torch.testing.assert_close(
            dense(rows.crow, rows.col, rows.values), dense(wanted.crow, wanted.col, wanted.values)
        )
        torch.testing.assert_close(rows.degree, wanted.degree)
        assert (rows.symmetric, rows.directed, rows.self_loops) == (True, False, loops)
        assert torch.equal(rows.x, wanted.x)
        assert torch.equal(rows.y, wanted.y)


def dense(crow: torch.Tensor, col: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    row = torch.repeat_interleave(torch.arange(crow.numel() - 1), crow.diff())
    return torch.zeros(crow.numel() - 1, 300).index_put_((row, col), values, accumulate=True)
