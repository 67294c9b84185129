"""Tables into graph folders where memory, disk or the tables themselves do not play along."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import gwn.data.folders.edges
import gwn.data.folders.nodes
import gwn.memory
from gwn.cli.main import main
from gwn.data.folders.convert import convert
from gwn.data.folders.edges import WholeIds
from gwn.data.folders.folder import GraphFolder
from gwn.data.folders.nodes import ParquetColumns, open_nodes
from gwn.data.tables import read_table
from gwn.errors import GWNError

NODES, EDGES = 900, 4000


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    """A Parquet file of edges and one of nodes, with ids that are far apart."""
    rng = np.random.default_rng(0)
    ids = 10**6 * rng.permutation(10 * NODES)[:NODES]
    source, target = ids[rng.integers(NODES, size=(2, EDGES))]
    edges, nodes = tmp_path / "edges.parquet", tmp_path / "nodes.parquet"
    pq.write_table(pa.table({"source": source, "target": target}), edges, row_group_size=500)
    columns = {"id": ids, "size": rng.random(NODES), "flag": rng.integers(2, size=NODES)}
    kinds = pa.array(rng.choice(["red", "green", "blue"], NODES))
    pq.write_table(pa.table({**columns, "kind": kinds}), nodes, row_group_size=200)
    return edges, nodes


def test_parquet_read_by_columns_is_the_table_as_a_whole(tables: tuple[Path, Path], tmp_path: Path) -> None:
    edges, nodes = tables
    by_column = convert(edges, nodes, tmp_path / "a", label_column="kind")
    for path in tables:
        pa.csv.write_csv(pq.read_table(path), path.with_suffix(".csv"))
    whole = convert(edges.with_suffix(".csv"), nodes.with_suffix(".csv"), tmp_path / "b", label_column="kind")
    assert {name: by_column.hashes[name] for name in ("indptr", "indices", "y")} == {
        name: whole.hashes[name] for name in ("indptr", "indices", "y")
    }
    assert np.allclose(by_column.x, whole.x, atol=1e-6)
    assert by_column.node_ids() == whole.node_ids()


@pytest.mark.parametrize("name", [None, "user"])
def test_an_index_that_parquet_keeps_as_a_range_is_read(
    name: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gwn.data.folders.nodes, "NODE_ROWS", 3)
    frame = pd.DataFrame({"size": np.arange(10) ** 2 % 7, "topic": ["a", "b"] * 5})
    frame.index = pd.RangeIndex(100, 120, 2, name=name)
    frame.to_parquet(tmp_path / "nodes.parquet")
    (tmp_path / "edges.csv").write_text("source,target\n100,102\n104,118\n")
    made = convert(tmp_path / "edges.csv", tmp_path / "nodes.parquet", tmp_path / "out", label_column="topic")
    assert made.node_ids() == tuple(map(str, range(100, 120, 2)))
    assert made.x.shape[1] == 1
    assert open_nodes(tmp_path / "nodes.parquet", header=True, memory=1 << 30).row_names == (name or "column-1")


@pytest.mark.parametrize(
    "about", [{"stop": 10**30}, {"step": 0}, {"start": "a"}, {"start": 10**30, "stop": 10**30 + 3}, {}]
)
def test_a_range_that_does_not_fit_the_rows_is_passed_over(about: dict[str, object], tmp_path: Path) -> None:
    index = {"kind": "range", "name": None, "start": 5, "stop": 9, "step": 1, **about}
    metadata = {b"pandas": json.dumps({"index_columns": [index], "columns": []}).encode()}
    pq.write_table(pa.table({"size": [1, 2, 3]}).replace_schema_metadata(metadata), tmp_path / "nodes.parquet")
    assert list(open_nodes(tmp_path / "nodes.parquet", header=True, memory=1 << 30).columns) == ["size"]
    assert list(read_table(tmp_path / "nodes.parquet").columns) == ["size"]


@pytest.mark.parametrize("ids", [[5, 2, 9, 7], [10**12, -3, 0, 10**6]], ids=["dense", "far apart"])
def test_whole_ids_are_found(ids: list[int]) -> None:
    asked = np.array([ids[2], ids[0], 1, -10, 10**13, ids[3]])
    assert WholeIds(np.array(ids)).of(asked).tolist() == [2, 0, -1, -1, -1, 3]


@pytest.mark.parametrize("which", [0, 1], ids=["edges", "nodes"])
def test_a_table_that_changes_while_it_is_read(
    tables: tuple[Path, Path], tmp_path: Path, which: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody writes the file anew behind its first batch."""
    monkeypatch.setattr(gwn.data.folders.edges, "ROWS", 500)
    monkeypatch.setattr(gwn.data.folders.nodes, "NODE_ROWS", 200)
    kind: Any = gwn.data.folders.edges.EdgeFile if which == 0 else ParquetColumns
    reader = kind.batches
    calls = []

    def disturbed(self: Any) -> Iterator[Any]:
        calls.append(self)
        for number, batch in enumerate(reader(self)):
            yield batch
            if number == 0 and len(calls) == 1:
                table = pq.read_table(tables[which])
                pq.write_table(table.slice(0, 700), tables[which])

    monkeypatch.setattr(kind, "batches", disturbed)
    with pytest.raises(GWNError, match=rf"{tables[which].name} changed while it was read; convert it again") as said:
        convert(*tables, tmp_path / "out", label_column="kind")
    assert "\n" not in str(said.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.parquet", "nodes.parquet"]


def test_memory_below_one_column(tables: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edges, nodes = tables
    command = ["data", "convert", str(edges), "--nodes", str(nodes), "--label-column", "kind", "--quiet"]
    with pytest.raises(SystemExit) as stop:
        main([*command, "--out", str(tmp_path / "out"), "--memory", "10MB"])
    said = capsys.readouterr().err.strip()
    assert stop.value.code == 2
    assert len(said.splitlines()) == 1
    assert "one column of 900 rows needs about" in said
    advised = said.split("--memory ")[1].split()[0]
    assert int(advised.removesuffix("MB")) * 10**6 > gwn.memory.resident_bytes() / 2


def test_csv_of_nodes_that_is_too_large_is_told_of_parquet(tables: tuple[Path, Path]) -> None:
    nodes = tables[1].with_suffix(".csv")
    pa.csv.write_csv(pq.read_table(tables[1]), nodes)
    with pytest.raises(GWNError, match=r"write it as Parquet, which is read column by column, or use --memory \d+MB"):
        open_nodes(nodes, header=True, memory=gwn.memory.resident_bytes() // 2)


def test_a_disk_that_is_too_small_is_told_first(
    tables: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = type(shutil.disk_usage(tmp_path))(10**9, 10**9 - 50_000, 50_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: full)
    with pytest.raises(GWNError, match=r"out needs about 0\.0001\d* GB and its disk has 5e-05 GB free"):
        convert(*tables, tmp_path / "out", label_column="kind")
    assert not list(tmp_path.glob("*out*"))


KILLED = """
import sys, time
from pathlib import Path
from gwn.data.folders.convert import convert
def slow(what, share):
    if what == "edges":
        print("edges", flush=True)
        time.sleep(3600)
convert(*map(Path, sys.argv[1:]), label_column="kind", on_done=slow)
"""


def test_a_killed_conversion_leaves_nothing_that_counts(tables: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = subprocess.Popen([sys.executable, "-c", KILLED, *map(str, (*tables, out))], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == b"edges"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not out.exists()
    assert len(list(tmp_path.glob(".out.partial-*"))) == 1
    with pytest.raises(GWNError, match="is not a folder"):
        GraphFolder.open(out)
    assert convert(*tables, out, label_column="kind").num_nodes == NODES
    assert not list(tmp_path.glob(".out.*"))


def test_spelling_of_ids_counts(tmp_path: Path) -> None:
    """007 is not 7, whole numbers or not."""
    (tmp_path / "n.csv").write_text("id,size,kind\n7,1,a\n8,2,b\n9,3,a\n10,5,b\n")
    (tmp_path / "e.csv").write_text("from,to\n7,8\n9,007\n")
    with pytest.raises(GWNError, match=r"e\.csv, line 3: the node '007', which n\.csv does not have") as said:
        convert(tmp_path / "e.csv", tmp_path / "n.csv", tmp_path / "out", label_column="kind")
    assert "leading zeros alone, '007' here is '7' there: write them alike in both tables" in str(said.value)


@pytest.mark.parametrize("cell", ["007", "1_0", "+1", "2.5", "40"])
def test_a_row_number_is_written_in_one_way(cell: str, tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("size,kind\n" + "".join(f"{i / 8},{'ab'[i % 2]}\n" for i in range(40)))
    (tmp_path / "e.csv").write_text(f"from,to\n1,2\n3.0, 4\n5,{cell}\n")
    with pytest.raises(GWNError, match=r"e\.csv, line 4: the node .*; ids are the row numbers 0 \.\.\. 39"):
        convert(tmp_path / "e.csv", tmp_path / "n.csv", tmp_path / "out", label_column="kind")
    (tmp_path / "e.csv").write_text("from,to\n1,2\n3.0, 4\n")
    folder = convert(tmp_path / "e.csv", tmp_path / "n.csv", tmp_path / "out", label_column="kind")
    assert folder.indices.tolist() == [2, 1, 4, 3], "3.0 is 3, whatever else the column has"


def test_a_fraction_is_no_id(tmp_path: Path) -> None:
    """It was cut to a whole number, and joined another node, without a word."""
    (tmp_path / "n.csv").write_text("id,size,kind\n1,1,a\n2,2,b\n3,3,a\n4,5,b\n")
    pq.write_table(pa.table({"from": [1.0, 2.5], "to": [2.0, 3.0]}), tmp_path / "e.parquet")
    with pytest.raises(GWNError, match=r"e\.parquet, row 2: the node 2\.5, which n\.csv does not have"):
        convert(tmp_path / "e.parquet", tmp_path / "n.csv", tmp_path / "out", label_column="kind")
