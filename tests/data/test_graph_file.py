"""One-file graphs: .npz and .pt go in, pickles stay out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from gwn.data import contextual_sbm, make_splits
from gwn.data.files import load_graph_file
from gwn.errors import GWNError
from gwn.graph import undirected

GRAPH = contextual_sbm(nodes=30, degree=4, seed=2)
ARRAYS: dict[str, Any] = {"x": GRAPH.x.numpy(), "edge_index": GRAPH.edge_index.numpy(), "y": GRAPH.labels.numpy()}


def csr(crow: torch.Tensor, col: torch.Tensor, shape: tuple[int, int]) -> torch.Tensor:
    """A sparse matrix of ones, valid or not."""
    return torch.sparse_csr_tensor(crow, col, torch.ones(len(col)), shape, check_invariants=False)


class Trap:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


def test_npz(tmp_path: Path) -> None:
    names: dict[str, Any] = {"node_ids": [f"n{i}" for i in range(30)], "class_names": ["a", "b", "c", "d"]}
    np.savez(tmp_path / "g.npz", **ARRAYS, **names, edge_weight=np.full(GRAPH.num_edges, 2.0))
    loaded = load_graph_file(tmp_path / "g.npz")
    assert loaded.graph.edge_weight is not None
    assert loaded.graph.edge_weight.unique().tolist() == [2.0]
    assert loaded.graph.node_ids == tuple(names["node_ids"])
    assert loaded.graph.class_names == ("a", "b", "c", "d")
    assert torch.equal(loaded.graph.edge_index, GRAPH.edge_index)
    assert loaded.default_split == "stratified"
    assert list(loaded.files) == ["g.npz"]


def test_pt_is_the_same_graph(tmp_path: Path) -> None:
    torch.save(Data(x=GRAPH.x, edge_index=GRAPH.edge_index, y=GRAPH.y), tmp_path / "g.pt")
    assert load_graph_file(tmp_path / "g.pt").graph.content_hash() == undirected(GRAPH).content_hash()
    torch.save({"x": GRAPH.x, "edge_index": GRAPH.edge_index}, tmp_path / "d.pt")
    assert load_graph_file(tmp_path / "d.pt").graph.y is None


def test_direction_and_self_loops_are_kept_when_asked(tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", x=np.ones((2, 1)), edge_index=[[0, 1], [1, 1]])
    assert load_graph_file(tmp_path / "g.npz", directed=True).graph.edge_index.tolist() == [[0, 1], [1, 1]]
    assert load_graph_file(tmp_path / "g.npz").graph.edge_index.tolist() == [[0, 1], [1, 0]]


def test_masks_in_the_file_are_its_published_splits(tmp_path: Path) -> None:
    part = torch.arange(30) % 3
    masks = {f"{name}_mask": part == number for number, name in enumerate(("train", "val", "test"))}
    torch.save(Data(x=GRAPH.x, edge_index=GRAPH.edge_index, y=GRAPH.y, **masks), tmp_path / "g.pt")
    loaded = load_graph_file(tmp_path / "g.pt")
    (split,) = make_splits(loaded, None, 1)
    assert (split.kind, split.train.tolist()) == ("published", list(range(0, 30, 3)))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"x": None}, "has no 'x'; it holds edge_index, y"),
        ({"edge_index": None}, "has no 'edge_index'"),
        ({"edge_index": np.array([[0], [99]])}, r"g\.npz: an edge names node 99"),
        ({"x": np.full((30, 2), np.nan)}, "NaN"),
        ({"y": np.zeros(7, dtype=int)}, r"labels must be int64 classes or floating-point numbers of shape \[30\]"),
        ({"edge_weight": np.ones(3)}, "one weight per edge"),
        ({"node_ids": ["a"]}, "1 node ids"),
    ],
)
def test_npz_with_a_mistake(change: dict[str, Any], says: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", **{k: v for k, v in {**ARRAYS, **change}.items() if v is not None})
    with pytest.raises(GWNError, match=says) as caught:
        load_graph_file(tmp_path / "g.npz")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"x": csr(torch.arange(31), torch.arange(30) * 10**7, (30, 2))},
            r"g\.pt: the sparse features have an entry in column 290000000",
        ),
        ({"x": torch.ones(1).expand(30, 10**12)}, r"x says that it has 120,000,000,000,000 bytes, and 4 are stored"),
        ({"y": torch.zeros(1, dtype=torch.long).expand(30)}, r"y says .* write it with y\.contiguous\(\)"),
        (
            {"x": csr(torch.zeros(1).long().expand(10**12), torch.zeros(0).long(), (10**12 - 1, 2))},
            "x says that it has 8,000,000,000,000 bytes",
        ),
    ],
    ids=["a column outside", "one number a row", "labels", "rows of one pointer"],
)
def test_pt_with_tensors_that_are_not_what_they_say(change: dict[str, Any], says: str, tmp_path: Path) -> None:
    """Kilobytes that would be read as terabytes, or outside of their memory."""
    torch.save({"x": GRAPH.x, "edge_index": GRAPH.edge_index, "y": GRAPH.y, **change}, tmp_path / "g.pt")
    assert (tmp_path / "g.pt").stat().st_size < 10_000
    with pytest.raises(GWNError, match=says) as caught:
        load_graph_file(tmp_path / "g.pt")
    assert "\n" not in str(caught.value)


def test_pickles_are_refused_and_not_run(tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    np.savez(tmp_path / "g.npz", **{**ARRAYS, "x": np.array([Trap(sprung)], dtype=object)})
    torch.save(Data(x=GRAPH.x, edge_index=GRAPH.edge_index, note=Trap(sprung)), tmp_path / "g.pt")
    for name in ("g.npz", "g.pt"):
        with pytest.raises(GWNError) as caught:
            load_graph_file(tmp_path / name)
        assert "\n" not in str(caught.value)
    assert not sprung.exists()
    torch.load(tmp_path / "g.pt", weights_only=False)
    assert sprung.exists()  # the trap works: this test can fail


@pytest.mark.parametrize("name", ["g.npz", "g.pt"])
@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04 cut"])
def test_files_that_are_no_graphs(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(GWNError, match=name.replace(".", r"\.")) as caught:
        load_graph_file(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_truncated_file_another_suffix_and_another_content(tmp_path: Path) -> None:
    torch.save(Data(x=GRAPH.x, edge_index=GRAPH.edge_index), tmp_path / "g.pt")
    (tmp_path / "g.pt").write_bytes((tmp_path / "g.pt").read_bytes()[:900])
    with pytest.raises(GWNError, match="opened safely"):
        load_graph_file(tmp_path / "g.pt")
    with pytest.raises(GWNError, match=r"must end in \.npz or \.pt"):
        load_graph_file(tmp_path / "g.pkl")
    torch.save(torch.ones(3), tmp_path / "t.pt")
    with pytest.raises(GWNError, match="holds a Tensor"):
        load_graph_file(tmp_path / "t.pt")
    np.save(tmp_path / "one.npy", np.ones(3))
    (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    with pytest.raises(GWNError, match="single array"):
        load_graph_file(tmp_path / "one.npz")
