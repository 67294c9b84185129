"""Tables and options that do not go together, or are not what they seem: refused or said, and never passed over."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from commands import Command

Tables = tuple[Path, Path]
SHORT = ("--runs", "1", "--set", "epochs=2", "--model", "gcn", "-q")
TABLES = ("--edges", "edges.csv", "--nodes", "nodes.csv")


def refused(command: Command, *given: str) -> str:
    """What the command says in its one line."""
    done = command(*given)
    assert done.returncode == 2, done.stdout + done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.endswith("starting ...")]
    assert len(lines) == 1, done.stderr
    return lines[0]


def trained(command: Command, *given: str) -> str:
    done = command("train", *given, *SHORT, "--json")
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["folder"])


def graph_file(folder: Path) -> str:
    edges = np.array([[node, (node + 1) % 12] for node in range(12)]).T
    np.savez(folder / "g.npz", x=np.ones((12, 1)), edge_index=edges, y=np.arange(12) % 2)
    return "g.npz"


def test_options_for_tables_are_refused_beside_other_graphs(tables: Tables, command: Command, tmp_path: Path) -> None:
    """They were passed over: the class was that of the folder, whatever column was named."""
    folder = ("data", "convert", "edges.csv", "--nodes", "nodes.csv", "--label-column", "topic", "--out", "gf", "-q")
    assert command(*folder).returncode == 0
    said = refused(command, "train", "gf", "--label-column", "city", "--skip-unknown", *SHORT)
    assert "gf is a graph folder, and --label-column and --skip-unknown say how tables are read; leave that out" in said
    on_disk = ("--model", "gwn-sym", "--precompute", "--memory", "4GB", "--runs", "1", "-q")
    assert "--label-column says how" in refused(command, "train", "gf", "--label-column", "city", *on_disk)
    assert "digits is a dataset, and --nodes says" in refused(command, "train", "digits", "--nodes", "nodes.csv")
    graph = ("--graph", graph_file(tmp_path))
    said = refused(command, "data", "describe", *graph, "--features", "spectral", "--drop-column", "x")
    assert "g.npz is a graph file, and --drop-column and --features say" in said
    assert "give tables with --edges and --nodes, and try --features" in command("data", "describe", *graph).stdout
    assert command("train", "gf", *SHORT).returncode == 0, "doing what was said works"


def test_tables_in_the_place_of_a_dataset_are_told_where_they_go(
    tables: Tables, command: Command, tmp_path: Path
) -> None:
    assert "nodes.csv is a table and no dataset; give edges with --edges" in refused(
        command, "train", "nodes.csv", "--label-column", "topic"
    )
    (tmp_path / "my data").mkdir()
    for table in tables:
        table.rename(tmp_path / "my data" / table.name)
    said = refused(command, "train", "my data")
    assert said.endswith("name its tables (edges.csv, nodes.csv) with --edges and --nodes")
    assert "g.npz is a graph file and no dataset; give it with --graph" in refused(
        command, "train", graph_file(tmp_path)
    )
    assert "did you mean 'digits'" in refused(command, "train", "digitz", "--label-column", "topic")


def test_what_is_read_is_not_written_over(tables: Tables, command: Command, tmp_path: Path) -> None:
    """Predictions took the place of the table that they were asked for, or that the model was trained on."""
    run = trained(command, *TABLES, "--label-column", "topic")
    (tmp_path / "new.csv").write_text(tables[1].read_text())
    (tmp_path / "same.csv").symlink_to("nodes.csv")
    before = [table.read_bytes() for table in tables]
    new = ("--edges", "edges.csv", "--nodes", "new.csv")
    for given in (
        ("predict", run, *new, "--out", "new.csv"),
        ("predict", run, *new, "--out", "nodes.csv"),
        ("predict", run, "--out", "same.csv"),
        ("explain", run, "--node", "u7", "--out", "./edges.csv"),
        ("export", run, "--out", f"{run}/config.pt2"),
    ):
        said = refused(command, *given)
        assert "is read for this, and would be replaced; choose another place with --out" in said
    assert [table.read_bytes() for table in tables] == before
    for _ in range(2):
        assert command("predict", run, *new, "--out", "answers.csv").returncode == 0, "an old answer may be replaced"


def test_the_ending_of_a_file_says_what_is_in_it(tables: Tables, command: Command, tmp_path: Path) -> None:
    run = trained(command, *TABLES, "--label-column", "topic")
    assert "p.parquet would be written as CSV; let the name" in refused(command, "predict", run, "--out", "p.parquet")
    assert "would be written as CSV" in refused(command, "explain", run, "--node", "u7", "--out", "why.xlsx")
    said = refused(command, "export", run, "--out", "x.json")
    assert said.endswith("let the name that --out gives end in .pt2 (torch-export) or .onnx (onnx)")
    said = refused(command, "export", run, "--out", "x.onnx", "--format", "torch-export")
    assert said.endswith("end in .pt2 (torch-export)")
    assert not list(tmp_path.glob("[px].*"))


def test_the_ending_chooses_the_format(tables: Tables, command: Command) -> None:
    """A network for PyTorch was written under the name of one in ONNX."""
    run = trained(command, *TABLES, "--label-column", "topic")
    done = command("export", run, "--out", "x.onnx")
    assert "(onnx, any number of" in done.stdout or "--format onnx needs onnx" in done.stderr


def test_predict_advises_what_it_has(tables: Tables, command: Command, tmp_path: Path) -> None:
    """--skip-unknown, --id-column and --source-column were advised and refused."""
    run = trained(command, *TABLES, "--label-column", "topic")
    edges = tables[0].read_text()
    (tmp_path / "more.csv").write_text(edges + "u1,nobody,1\n")
    given = ("predict", run, "--edges", "more.csv", "--nodes", "nodes.csv")
    said = refused(command, *given)
    assert "or leave these edges out with --skip-unknown; node ids are column 'id' of nodes.csv; edges" in said
    assert "-column" not in said
    done = command(*given, "--skip-unknown")
    assert done.returncode == 0
    assert "left out: 1 edge of unknown nodes" in done.stderr
    assert "says how --edges is read" in refused(command, "predict", run, "--skip-unknown")
    names = [f"{line},{'via' if row == 0 else f'u{row % 60}'}" for row, line in enumerate(edges.splitlines())]
    (tmp_path / "more.csv").write_text("\n".join(names).replace("from,to", "buyer,seller"))
    said = refused(command, *given)
    assert said.endswith("all hold ids of nodes; rename those of the ends to 'from' and 'to', as in the training")
    (tmp_path / "more.csv").write_text("\n".join(names))
    assert command(*given).returncode == 0


def test_an_unknown_option_is_taken_for_a_setting_where_it_is_one(command: Command) -> None:
    assert refused(command, "train", "digits", "--tau", "1").endswith("; a setting is given as --set tau=VALUE")
    assert refused(command, "train", "digits", "--lr", "1").endswith("; a setting is given as --set lr=VALUE")
    assert "--set" not in refused(command, "compare", "digits", "--nodes-table", "x.csv")
    assert "--set" not in refused(command, "train", "digits", "--colour", "red")


def test_ids_that_are_long_or_missing_leave_room_for_advice(tables: Tables, command: Command) -> None:
    nodes, edges = tables[1].read_text(), tables[0].read_text()
    tables[0].write_text(f"{edges}u1,{'x' * 2000},1\n")
    said = refused(command, "data", "describe", *TABLES)
    assert f"does not have: '{'x' * 37}...' (first in row 181); add them, or leave these edges out with" in said
    assert said.endswith("choose others with --source-column and --target-column")
    tables[0].write_text(edges)
    tables[1].write_text(f"{nodes},,,\n,,,\n")
    said = refused(command, "data", "describe", *TABLES)
    assert said.endswith("has no id in row 61 and 1 more; write one there, or delete the row where it is empty")


def test_a_folder_in_the_place_of_a_file_is_told_what_to_name(tables: Tables, command: Command, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    given = ("data", "describe", "--edges", "more", "--nodes", "nodes.csv")
    assert "more is a folder, and a table is a file; name one that ends in .csv" in refused(command, *given)
    tables[0].rename(tmp_path / "more" / "edges.csv")
    assert refused(command, *given).endswith("name one in it, such as more/edges.csv")
    assert "or give a graph folder without --graph" in refused(command, "data", "describe", "--graph", "more")
