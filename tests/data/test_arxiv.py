"""ogbn-arxiv's reader on a small archive of the official layout."""

from __future__ import annotations

import gzip
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from gwn.data import DATASETS, load_dataset, make_splits
from gwn.data.describe import verify
from gwn.data.sources.arxiv import ogbn_arxiv
from gwn.errors import GWNError

NODES, EDGES = 20, 50

ARXIV = DATASETS["ogbn-arxiv"]
(ARCHIVE,) = ARXIV.files


def lines(array: np.ndarray) -> bytes:
    return gzip.compress("\n".join(",".join(str(cell) for cell in row) for row in array).encode() + b"\n")


@pytest.fixture
def members() -> dict[str, bytes]:
    rng = np.random.default_rng(0)
    order = rng.permutation(NODES)[:, None]
    tables = {
        "raw/edge": rng.integers(NODES, size=(EDGES, 2)),
        "raw/node-feat": rng.standard_normal((NODES, 4)).round(6),
        "raw/node-label": np.arange(NODES)[:, None] % 3,
        "raw/num-node-list": np.array([[NODES]]),
        "raw/num-edge-list": np.array([[EDGES]]),
        "split/time/train": order[:12],
        "split/time/valid": order[12:16],
        "split/time/test": order[16:],
    }
    return {f"arxiv/{name}.csv.gz": lines(table) for name, table in tables.items()}


def write_zip(path: Path, members: dict[str, bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as zipped:
        for name, content in members.items():
            zipped.writestr(name, content)
    return path


def test_archive_and_folder_give_the_same_graph(tmp_path: Path, members: dict[str, bytes]) -> None:
    write_zip(tmp_path / "zipped" / ARCHIVE, members)
    for name, content in members.items():
        (tmp_path / "folder" / ARXIV.name / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "folder" / ARXIV.name / name).write_bytes(content)
    graph, published = ogbn_arxiv(tmp_path / "zipped", ARXIV)
    unpacked, _ = ogbn_arxiv(tmp_path / "folder", ARXIV)
    assert {f"{ARXIV.name}/{name}" for name in members} == set(ARXIV.unpacked)
    assert graph.content_hash() == unpacked.content_hash()
    assert (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes) == (NODES, EDGES, 4, 3)
    assert graph.x.dtype == torch.float32
    (split,) = published["time"]
    assert [part.numel() for part in (split.train, split.val, split.test)] == [12, 4, 4]


def test_by_name_with_the_real_counts_refused_and_the_small_ones_accepted(
    tmp_path: Path, members: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GWN_DATA", str(tmp_path))
    write_zip(tmp_path / ARCHIVE, members)
    with pytest.raises(GWNError, match="20 nodes; it should have 169343"):
        load_dataset("ogbn-arxiv")
    small = replace(DATASETS["ogbn-arxiv"], nodes=NODES, edges=EDGES, features=4, classes=3)
    monkeypatch.setitem(DATASETS, "ogbn-arxiv", small)
    loaded = load_dataset("ogbn-arxiv", directed=True)
    assert loaded.directed
    assert loaded.graph.num_edges == EDGES
    assert make_splits(loaded, None, 2)[1].kind == "time"
    assert len(loaded.files[ARCHIVE]) == 64
    assert verify("ogbn-arxiv") == [(ARCHIVE, "unknown")]


def test_the_unpacked_folder_is_found_by_name(
    tmp_path: Path, members: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GWN_DATA", str(tmp_path))
    for name, content in members.items():
        (tmp_path / "ogbn-arxiv" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "ogbn-arxiv" / name).write_bytes(content)
    small = replace(DATASETS["ogbn-arxiv"], nodes=NODES, edges=EDGES, features=4, classes=3)
    monkeypatch.setitem(DATASETS, "ogbn-arxiv", small)
    assert len(load_dataset("ogbn-arxiv").files) == len(ARXIV.unpacked)
    assert len(verify("ogbn-arxiv")) == len(ARXIV.unpacked)


def test_a_damaged_archive_is_one_line(tmp_path: Path, members: dict[str, bytes]) -> None:
    path = write_zip(tmp_path / ARCHIVE, members)
    whole = path.read_bytes()
    damaged = [
        whole[: len(whole) // 2],
        b"not a zip",
        write_zip(path, {k: v for k, v in members.items() if "edge.csv" not in k}).read_bytes(),
        write_zip(path, {**members, "arxiv/raw/node-label.csv.gz": b"no gzip"}).read_bytes(),
        write_zip(path, {**members, "arxiv/raw/edge.csv.gz": gzip.compress(b"a,b\n")}).read_bytes(),
        write_zip(path, {**members, "arxiv/raw/num-node-list.csv.gz": lines(np.array([[19]]))}).read_bytes(),
    ]
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(GWNError, match="ogbn-arxiv") as caught:
            ogbn_arxiv(tmp_path, ARXIV)
        assert "\n" not in str(caught.value)
