"""Graph folders: generated ones, converted ones, and everything that is not a finished one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

import gwn.data.folders.generate
from gwn.cli.main import main
from gwn.data.describe import describe
from gwn.data.folders.arrays import ArrayReader
from gwn.data.folders.convert import convert
from gwn.data.folders.csr_builder import CSRBuilder
from gwn.data.folders.folder import FolderWriter, GraphFolder, new_folder
from gwn.data.folders.generate import BlockModel, generate_folder, model_like
from gwn.distributed.parts import FolderRows
from gwn.errors import GWNError
from gwn.networks import GWN
from gwn.outofcore.propagate import propagate

SMALL = BlockModel(nodes=600, edges=3000, features=7, classes=4, homophily=0.7)


@pytest.fixture
def folder(tmp_path: Path) -> GraphFolder:
    return generate_folder(SMALL, tmp_path / "small")


def test_generated_graph_is_what_was_asked_for(folder: GraphFolder) -> None:
    facts = describe(folder.dataset())
    assert (facts["nodes"], facts["edges"], facts["features"], facts["classes"]) == (600, 3000, 7, 4)
    assert abs(facts["edge_homophily"] - 0.7) < 0.05
    assert facts["self_loops"] == 0
    degree = np.diff(folder.indptr)
    assert degree.max() > 4 * degree.mean()
    split = folder.dataset().published["time"][0]
    assert 0.5 < split.train.numel() / 600 < 0.58
    assert len(split.train) + len(split.val) + len(split.test) == 600


def test_rows_are_sorted_symmetric_and_without_repeats(folder: GraphFolder) -> None:
    rows = np.repeat(np.arange(600), np.diff(folder.indptr))
    arcs = set(zip(rows.tolist(), folder.indices.tolist(), strict=True))
    assert len(arcs) == folder.num_arcs
    assert all((b, a) in arcs for a, b in arcs)
    assert all(np.all(np.diff(folder.indices[a:b]) > 0) for a, b in zip(folder.indptr, folder.indptr[1:], strict=False))


@pytest.mark.parametrize("memory", [16_000, 1000], ids=["in memory", "in the file"])
def test_same_seed_same_bytes_whatever_the_memory(
    folder: GraphFolder, tmp_path: Path, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gwn.data.folders.generate, "sorting_memory", lambda stated: memory)
    assert generate_folder(SMALL, tmp_path / "again").hashes == folder.hashes


def test_another_seed_is_another_graph(folder: GraphFolder, tmp_path: Path) -> None:
    other = generate_folder(
        BlockModel(nodes=600, edges=3000, features=7, classes=4, homophily=0.7, seed=1), tmp_path / "other"
    )
    assert all(other.hashes[name] != folder.hashes[name] for name in ("indices", "x", "y"))


def test_communities_are_stretches_of_numbers_that_most_edges_stay_in(tmp_path: Path) -> None:
    """Of 1003 nodes in four communities three have 251 and one 250; all have every class."""
    model = BlockModel(nodes=1003, edges=8000, features=2, classes=4, homophily=0.7, communities=4, mixing=0.2)
    folder = generate_folder(model, tmp_path / "local")
    community = np.repeat(np.arange(4), [251, 251, 251, 250])
    row = np.repeat(np.arange(1003), np.diff(folder.indptr))
    between = np.mean(community[row] != community[folder.indices])
    assert 0.18 < between < 0.26  # repeats within the small communities are drawn again
    assert len(set(zip(community.tolist(), folder.y.tolist(), strict=True))) == 4 * 4
    assert abs(np.mean(folder.y[row] == folder.y[folder.indices]) - 0.7) < 0.05
    apart = generate_folder(replace(model, mixing=0.0), tmp_path / "apart")
    row = np.repeat(np.arange(1003), np.diff(apart.indptr))
    assert np.all(community[row] == community[apart.indices])


def test_sizes_of_a_known_dataset() -> None:
    model = model_like("ogbn-arxiv", seed=3)
    assert (model.nodes, model.edges, model.features, model.classes, model.seed) == (169343, 1166243, 128, 40, 3)


@pytest.mark.parametrize("nodes", [50, 90])
def test_builder_with_many_tiny_buckets(tmp_path: Path, nodes: int) -> None:
    """Beyond the first fifty no node has an edge, so that some buckets stay empty."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(50, size=(2, 4000))
    builder = CSRBuilder(tmp_path / "scratch", nodes, 8000, memory=1000)
    assert builder.buckets > 10
    for part in np.array_split(np.arange(4000), 7):
        builder.add(a[part], b[part])
    writer = FolderWriter(tmp_path)
    indptr, indices = writer.array("indptr"), writer.array("indices")
    builder.write(indptr, indices)
    indptr.finish()
    indices.finish()
    dense = np.zeros((nodes, nodes), dtype=bool)
    dense[a, b] = dense[b, a] = True
    np.fill_diagonal(dense, False)
    assert np.array_equal(np.load(tmp_path / "indptr.npy")[1:], np.cumsum(dense.sum(1)))
    assert np.array_equal(np.load(tmp_path / "indices.npy"), np.nonzero(dense)[1])


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    def half() -> None:
        with new_folder(tmp_path / "half") as writer:
            writer.array("y").append(np.zeros(3))
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        half()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("harm", ["no meta", "unfinished", "cut", "wrong shape", "not json", "missing"])
def test_a_folder_that_is_not_whole_is_refused(folder: GraphFolder, harm: str) -> None:
    meta = folder.path / "meta.json"
    if harm == "no meta":
        meta.unlink()
    elif harm == "not json":
        meta.write_text("{")
    elif harm == "cut":
        whole = (folder.path / "x.npy").read_bytes()
        (folder.path / "x.npy").write_bytes(whole[:-100])
    elif harm == "missing":
        (folder.path / "y.npy").unlink()
    else:
        facts = json.loads(meta.read_text())
        facts["finished"] = harm != "unfinished"
        if harm == "wrong shape":
            facts["arrays"]["y"]["shape"] = [599]
        meta.write_text(json.dumps(facts))
    with pytest.raises(GWNError, match=r"make (it|the folder) again"):
        GraphFolder.open(folder.path)


def test_changed_bytes_are_found(folder: GraphFolder) -> None:
    folder.verify()
    values = np.load(folder.path / "x.npy")
    values[3, 2] += 1
    np.save(folder.path / "x.npy", values)
    with pytest.raises(GWNError, match="SHA-256 differs"):
        GraphFolder.open(folder.path).verify()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"indices": [1, 0, 3, 900_000_000]}, r"indices\.npy is not .*: it has 900000000, and 0 \.\.\. 3 are allowed"),
        ({"indices": [1, 0, -4, 2]}, r"indices\.npy is not .*: it has -4"),
        ({"indptr": [0, 3, 2, 3, 4]}, r"indptr\.npy is not .*: its numbers must not fall"),
        ({"indptr": [0, 9, 2, 3, 4]}, r"indptr\.npy is not .*: it has 9, and 0 \.\.\. 4"),
    ],
)
def test_node_numbers_outside_of_the_graph_are_refused(
    change: dict[str, list[int]], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hashes and seals are right: somebody wrote it so. Chunks of two numbers, so that some faults lie between two."""
    chunks = ArrayReader.chunks
    monkeypatch.setattr(ArrayReader, "chunks", lambda reader: chunks(reader, 2 * reader.dtype.itemsize))
    arrays = {"indptr": [0, 1, 2, 3, 4], "indices": [1, 0, 3, 2], "x": np.ones((4, 2)), "y": [0, 1, 0, 1]}
    with new_folder(tmp_path / "graph") as writer:
        for name, values in {**arrays, **change}.items():
            array = writer.array(name, (2,) if name == "x" else ())
            array.append(np.asarray(values))
            writer.finish(name, array)
        writer.facts.update(name="graph", classes=2)
    folder = GraphFolder.open(tmp_path / "graph")
    with pytest.raises(GWNError, match=said) as caught:
        folder.verify()
    assert "\n" not in str(caught.value)
    model = GWN(2, 4, 2, laplacian="physical", precompute=True)
    with pytest.raises(GWNError, match=said):
        propagate(folder, model, tmp_path / "out", memory=4 * 10**9)
    rows = FolderRows(
        path=str(folder.path),
        bounds=torch.tensor([0, 4]),
        nodes=torch.arange(4),
        number=None,
        directed=False,
        self_loops="none",
        dtype=torch.float32,
    )
    with pytest.raises(GWNError, match=said):
        rows.load()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"nodes": 10}, "at least four a class"),
        ({"edges": 10**6}, "at most a quarter of all pairs"),
        ({"homophily": 1.5}, "between 0 and 1"),
        ({"classes": 1}, "classes must be at least 2"),
        ({"communities": 0}, "communities must be at least 1"),
        ({"communities": 60}, "in each of 60 communities"),
        ({"communities": 30, "mixing": 0.0}, "fewer communities, more mixing, or fewer edges"),
        ({"mixing": 2.0}, "mixing must be between 0 and 1"),
    ],
)
def test_sizes_that_make_no_sense(change: dict[str, float], said: str) -> None:
    with pytest.raises(GWNError, match=said):
        BlockModel(**{"nodes": 600, "edges": 3000, "features": 7, "classes": 4, **change})  # type: ignore[arg-type]


NODES = "id,age,topic\na,1.5,x\nb,2,y\nc,3,\nd,4,x\n"


def tables(tmp_path: Path, edges: str, nodes: str = NODES) -> tuple[Path, Path, Path]:
    (tmp_path / "e.csv").write_text(edges)
    (tmp_path / "n.csv").write_text(nodes)
    return tmp_path / "e.csv", tmp_path / "n.csv", tmp_path / "out"


def test_text_ids_from_csv(tmp_path: Path) -> None:
    edges, nodes, out = tables(tmp_path, "from,to\na,b\nb,a\nc,d\n d ,a\na,a\n")
    data = convert(edges, nodes, out, label_column="topic").dataset()
    assert data.graph.edge_index.t().tolist() == [[1, 0], [3, 0], [0, 1], [3, 2], [0, 3], [2, 3]]
    assert data.graph.labels.tolist() == [0, 1, -1, 0]
    assert data.graph.node_ids == ("a", "b", "c", "d")
    assert data.graph.class_names == ("x", "y")
    assert torch.allclose(data.graph.x.mean(0), torch.zeros(1), atol=1e-6)


def test_row_numbers_from_parquet_give_the_same_graph(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(40, size=(2, 300))
    pq.write_table(pa.table({"source": a, "target": b}), tmp_path / "e.parquet")
    lines = "".join(f"{i},{j}\n" for i, j in zip(a, b, strict=True))
    rows = "v,topic\n" + "".join(f"{i * 0.1},{'xy'[i % 2]}\n" for i in range(40))
    edges, nodes, out = tables(tmp_path, "source,target\n" + lines, rows)
    from_csv = convert(edges, nodes, out, label_column="topic")
    from_parquet = convert(tmp_path / "e.parquet", nodes, tmp_path / "two", label_column="topic")
    assert from_csv.hashes == from_parquet.hashes


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ("from,to\na,b\na,zz\n", "e.csv, line 3: the node 'zz', which n.csv does not have"),
        ("from,to\na,b\nb,\n", "e.csv, line 3: an empty id"),
        ("from,to\na,b\nb,c,d\n", "e.csv, line 3: 3 columns where 2 are expected"),
        ("from\na\n", "edges need two"),
        ("", "is empty"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, edges: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    paths = tables(tmp_path, edges)
    with pytest.raises(GWNError, match=said):
        convert(*paths, label_column="topic")
    with pytest.raises(SystemExit) as stop:
        main(
            [
                "data",
                "convert",
                str(paths[0]),
                "--nodes",
                str(paths[1]),
                "--out",
                str(paths[2]),
                "--label-column",
                "topic",
            ]
        )
    printed = capsys.readouterr().err.strip()
    assert stop.value.code == 2
    assert said in printed
    assert len(printed.splitlines()) == 1
    assert not paths[2].exists()


def test_generate_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["data", "generate", "--nodes", "200", "--edges", "900", "--features", "4", "--classes", "3"]
    for extra, code in (((), 0), ((), 2), (("--force",), 0)):
        with pytest.raises(SystemExit) as stop:
            main([*command, "--out", str(tmp_path / "g"), *extra])
        assert stop.value.code == code
    assert "200 nodes and 900 edges" in capsys.readouterr().out
    for number in ("2", ""):
        given = ["--communities", number] if number else []
        with pytest.raises(SystemExit) as stop:
            main([*command, "--out", str(tmp_path / "g"), "--force", *given, "--mixing", "0.3"])
        assert stop.value.code == (0 if number else 2)
    assert "give --communities too" in capsys.readouterr().err
