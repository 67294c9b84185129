"""What commands say about a graph and about mistakes: nothing is guessed in silence, and following the advice works."""

from __future__ import annotations

import gzip
import io
import json
import re
import shlex
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from commands import Command
from gwn.cli.compare import _one_line, _standings
from gwn.compare import Snapshot
from gwn.compare.course import Standing
from gwn.data.folders.folder import GraphFolder

Tables = tuple[Path, Path]


def of(tables: Tables, *more: str) -> tuple[str, ...]:
    return ("--edges", str(tables[0]), "--nodes", str(tables[1]), *more)


def test_describe_and_convert_say_which_columns_were_taken(tables: Tables, command: Command) -> None:
    described = command("data", "describe", *of(tables, "--label-column", "topic"))
    words = "nodes.csv: the id is column 'id', the class is in 'topic', features are 1 number column, 1 category column"
    assert described.stdout.startswith(f"{words}; edges.csv: edges go from 'from' to 'to'")
    edges, nodes = map(str, tables)
    converted = command("data", "convert", edges, "--nodes", nodes, "--label-column", "topic", "--out", "folder")
    line = described.stdout.splitlines()[0]
    assert line.endswith(", not used: 'w' (name weights with --weight-column)")
    assert converted.stderr.splitlines()[0] == line.removesuffix(" (name weights with --weight-column)")


def test_edges_of_convert_stand_alone(tables: Tables, command: Command) -> None:
    edges, nodes = map(str, tables)
    done = command("data", "convert", "--edges", edges, "--nodes", nodes, "--out", "folder")
    assert done.returncode == 2
    assert done.stderr == "gwn: --edges is no option of convert; give EDGES alone, without --edges\n"


def test_runs_beyond_the_published_splits_are_told(command: Command, data_root: Path) -> None:
    train = ("train", "texas", "--split", "geom", "--model", "gcn", "--set", "epochs=1", "--no-tuned", "--out", "runs")
    said = "geom has 10 splits, so 11 runs repeat them with other seeds: the interval is not that of 11 splits"
    done = command(*train, "--runs", "11", "--json")
    assert f"gwn: warning: {said}\n" in done.stderr
    assert said in json.loads(done.stdout)["warnings"], "whoever reads the record knows it, too"
    assert "repeat" not in command(*train, "--runs", "2").stderr


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_convert_finds_the_ends_of_edges_as_describe_does(kind: str, tables: Tables, command: Command) -> None:
    """It took the first two columns, whatever they held."""
    edges = pd.read_csv(tables[0], dtype=str)
    edges.columns = pd.Index([" buyer", "seller ", "sum"])
    edges.insert(0, "day", [f"{i % 28}" for i in range(len(edges))])
    write = {"csv": partial(edges.to_csv, index=False), "parquet": partial(edges.to_parquet, index=False)}[kind]
    write(path := tables[0].with_name(f"bought.{kind}"))
    read = ("--nodes", "nodes.csv", "--label-column", "topic")
    convert = ("data", "convert", path.name, *read, "--force", "--out", "found")
    described = command("data", "describe", "--edges", path.name, *read).stdout.partition(" (name weights")[0]
    assert "edges go from 'buyer' to 'seller', not used: 'day', 'sum'" in described
    assert command(*convert).stderr.splitlines()[0] == described
    named = command("data", "convert", str(tables[0]), *read, "--out", "named")
    assert named.returncode == 0, named.stderr
    found, named_folder = (GraphFolder.open(tables[0].with_name(name)) for name in ("found", "named"))
    assert found.hashes == named_folder.hashes
    edges["agent"] = edges[" buyer"].to_numpy()[::-1]
    write(path)
    refused = command(*convert)
    assert refused.returncode == 2
    (line,) = refused.stderr.splitlines()
    assert "columns 'buyer', 'seller' and 'agent' all hold ids of nodes; say which two are the ends" in line
    assert command(*convert, *shlex.split(line.partition("for example ")[2])).returncode == 0
    wrong = command(*convert, "--source-column", "day", "--target-column", "buyer")
    assert wrong.returncode == 2
    assert "edges go from column 'day' to 'buyer', choose others with --source-column" in wrong.stderr


def test_what_convert_advises_works(tables: Tables, command: Command) -> None:
    lines = tables[1].read_text().splitlines()
    prose = [f"{line},{'about' if row == 0 else f'word{row} and word{row % 7}'}" for row, line in enumerate(lines)]
    tables[1].write_text("\n".join(prose))
    convert = ("data", "convert", "edges.csv", "--nodes", "nodes.csv", "--label-column", "topic", "--out", "folder")
    said = command(*convert).stderr
    assert "column 'about': it has 60 different texts: left out; --text-column about uses its words" in said
    assert command(*convert, "--force", "--text-column", "about").returncode == 0
    assert GraphFolder.open(tables[1].with_name("folder")).num_features == 3 + 512
    bare = command(
        *convert, "--force", *(word for name in ("age", "city", "about") for word in ("--drop-column", name))
    )
    assert bare.returncode == 2
    assert "train on the tables with `gwn train` and --features spectral" in bare.stderr
    read = of(tables, "--label-column", "topic", "--features", "spectral")
    assert command("train", *read, "--runs", "1", "--set", "epochs=2", "-q").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (("train", "--nodes", "nodes.csv", "--label-column", "topic"), "--nodes needs --edges"),
        (("train", "csbm", "--epochs", "3"), "--set epochs=VALUE"),
        (("predict", "runs/a", "runs/b"), "where a * stands for several folders, write more of the name"),
    ],
)
def test_a_mistake_is_told_with_what_to_do(
    arguments: tuple[str, ...], advice: str, tables: Tables, command: Command
) -> None:
    said = command(*arguments)
    assert said.returncode == 2
    assert advice in said.stderr
    assert len(said.stderr.splitlines()) == 1


def test_edges_in_other_columns_are_found_as_the_message_says(tables: Tables, command: Command) -> None:
    lines = tables[0].read_text().splitlines()
    tables[0].write_text("\n".join(f"{'day' if row == 0 else row},{line}" for row, line in enumerate(lines)))
    tables[0].write_text(tables[0].read_text().replace("from,to", "buyer,seller"))
    describe = ("data", "describe", *of(tables, "--label-column", "topic"))
    assert "edges go from 'buyer' to 'seller', not used: 'day', 'w'" in command(*describe).stdout
    refused = command(*describe, "--source-column", "day", "--target-column", "buyer")
    assert refused.returncode == 2
    assert "edges go from column 'day' to 'buyer', choose others with --source-column" in refused.stderr
    assert command(*describe, "--source-column", "buyer", "--target-column", "seller").returncode == 0


def test_r_squared_is_no_percentage_while_a_comparison_runs() -> None:
    standing = Standing(title="MLP", trials=2, val=-0.25, seconds=1.0, runs=0, note="")
    now = Snapshot(phase="searching", left=61.0, standings=(standing,), metric="r2")
    assert _one_line(now) == "searching: 1:01 left, 2 trials, 0 final runs; MLP leads with -0.250 on validation"
    screen = Console(width=80, file=io.StringIO())
    with screen.capture() as drawn:
        screen.print(_standings(now, 80))
    assert "-0.250" in drawn.get().split()


def test_convert_reads_compressed_tables_without_headers_as_the_others(tables: Tables, command: Command) -> None:
    edges, nodes = tables
    where = ("--nodes", "nodes.csv")
    assert command("data", "convert", "edges.csv", *where, "--label-column", "topic", "--out", "plain").returncode == 0
    nodes.write_text(nodes.read_text().split("\n", 1)[1])
    bare = gzip.compress(edges.read_bytes().split(b"\n", 1)[1])
    (edges.parent / "bare.csv.gz").write_bytes(bare)
    said = command("data", "convert", "bare.csv.gz", *where, "--label-column", "column-4", "--out", "bare")
    assert "is a node and not column names; say --no-header nodes" in said.stderr
    without = ("--label-column", "column-4", "--no-header", "nodes")
    said = command("data", "convert", "bare.csv.gz", *where, *without, "--out", "bare")
    assert "is an edge and not column names; say --no-header edges" in said.stderr
    said = command("data", "convert", "bare.csv.gz", *where, *without, "--no-header", "edges", "--out", "bare")
    assert said.returncode == 0, said.stderr
    plain, found = (GraphFolder.open(edges.parent / name) for name in ("plain", "bare"))
    for name in ("indptr", "indices", "y"):
        assert (np.load(plain.path / f"{name}.npy") == np.load(found.path / f"{name}.npy")).all()
    (edges.parent / "bare.csv.gz").write_bytes(bare[:-40])
    cut = command("data", "convert", "bare.csv.gz", *where, *without, "--no-header", "edges", "--out", "cut")
    assert cut.returncode == 2
    assert len(cut.stderr.splitlines()) == 1


def test_a_run_on_tables_without_headers_is_explained(tables: Tables, command: Command) -> None:
    for table in tables:
        table.write_text(table.read_text().split("\n", 1)[1])
    without = ("--no-header", "edges", "--no-header", "nodes", "--label-column", "column-4")
    assert command("train", *of(tables, *without), "--runs", "1", "--set", "epochs=2", "-q").returncode == 0
    (run,) = (tables[0].parent / "runs").iterdir()
    said = command("explain", str(run), "--node", "u7")
    assert said.returncode == 0, said.stderr
    assert "column-3" in said.stdout


def test_ids_as_labels_are_refused_with_columns_that_may_be_meant(tables: Tables, command: Command) -> None:
    said = command("data", "describe", *of(tables, "--label-column", "id"))
    assert said.returncode == 2
    assert "holds the ids that the edges name" in said.stderr
    assert "name the column of the classes with --label-column, for example 'city' or 'topic'" in said.stderr
    said = command("data", "convert", str(tables[0]), "--nodes", str(tables[1]), "--label-column", "age", "--out", "f")
    assert "train on the tables with `gwn train --task regression` to predict a number" in said.stderr
    read = of(tables, "--label-column", "age", "--task", "regression")
    assert command("train", *read, "--runs", "1", "--set", "epochs=2", "-q").returncode == 0


def test_other_tables_need_the_id_column_of_the_model(tables: Tables, command: Command) -> None:
    train = ("train", *of(tables, "--label-column", "topic"), "--runs", "1", "--set", "epochs=2", "-q", "--out", "own")
    assert command(*train).returncode == 0
    (run,) = map(str, (tables[0].parent / "own").iterdir())
    text = tables[1].read_text()
    tables[1].write_text(text.replace("id,", "person,", 1))
    said = command("predict", run, *of(tables))
    assert said.returncode == 2
    assert "has no column 'id', which held the ids where the model was trained; rename" in said.stderr
    tables[1].write_text(text)
    assert command("predict", run, *of(tables)).returncode == 0
    wrong = command("predict", run, "--run-number", "7")
    assert "has no finished run number 7; it has 0" in wrong.stderr


def test_numbers_of_nodes_may_have_a_decimal_comma(tmp_path: Path, command: Command) -> None:
    (tmp_path / "n.csv").write_text("key;size;kind\n" + "".join(f"{n};{n},5;{n % 2}\n" for n in range(1, 30)))
    (tmp_path / "e.csv").write_text("a;b\n" + "".join(f"{n},0;{n + 1},0\n" for n in range(1, 29)))
    said = command("data", "describe", "--edges", "e.csv", "--nodes", "n.csv", "--label-column", "kind")
    assert said.returncode == 0, said.stderr
    assert "the id is column 'key'" in said.stdout


@pytest.mark.parametrize("option", ["--drop-column", "--text-column"])
def test_a_column_has_one_role(option: str, tables: Tables, command: Command) -> None:
    said = command("data", "describe", *of(tables, "--label-column", "topic", option, "topic"))
    assert said.returncode == 2
    assert f"--label-column and {option} both name 'topic'; leave one of them out" in said.stderr
    weighted = command("data", "describe", *of(tables, "--label-column", "topic", "--weight-column", "w"))
    assert "edges go from 'from' to 'to', weighted by 'w'" in weighted.stdout


def test_edges_are_counted_alike_and_a_table_that_is_gone_is_told(tables: Tables, command: Command) -> None:
    read = of(tables, "--label-column", "topic")
    described = json.loads(command("data", "describe", *read, "--json").stdout)
    assert command("train", *read, "--runs", "1", "--set", "epochs=2", "-q", "--out", "own").returncode == 0
    (run,) = (tables[0].parent / "own").iterdir()
    assert f"60 nodes, {described['edges']} edges" in (run / "MODEL_CARD.md").read_text()
    with tables[1].open("a") as table:
        table.write("u60,30,Rome,art\n")
    warned = command("predict", str(run), "--out", "p.csv")
    assert f"60 nodes and {described['edges']} edges then, 61 and {described['edges']} now" in warned.stderr
    aside = tables[0].rename(tables[0].with_name("aside.csv"))
    gone = command("predict", str(run))
    assert gone.returncode == 2
    assert "does not exist any more; put it back, or name tables for `gwn predict` with --edges" in gone.stderr
    assert command("predict", str(run), "--edges", str(aside), "--nodes", str(tables[1])).returncode == 0


def test_the_commands_are_listed_in_the_order_of_use(command: Command) -> None:
    listed = command("--help").stdout.split("Commands:")[1].split("\n")
    names = [line.split()[0] for line in listed if line.startswith("  ") and line[2] != " "]
    assert names[:7] == ["demo", "data", "models", "compare", "train", "tune", "predict"]


def test_lines_above_the_names_and_blanks_between_columns_are_refused_with_what_to_do(
    tables: Tables, command: Command
) -> None:
    nodes, edges = tables[1].read_text(), tables[0].read_text()
    describe = ("data", "describe", *of(tables, "--label-column", "topic"))
    for above, cells in (("sep=,", 2), ("# made by hand", 1)):
        tables[1].write_text(f"{above}\n{nodes}")
        refused = command(*describe)
        assert refused.returncode == 2
        said = f"has 4 cells and the first line {cells}: id,age,city,topic; delete lines above the column names"
        assert said in refused.stderr
        assert refused.stderr.count("\n") == 1
    tables[1].write_text(nodes)
    tables[0].write_text(edges.replace(",", " "))
    refused = command(*describe)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "edges need two, for example source and target, with a comma, a semicolon, a tab or a pipe" in refused.stderr
    tables[0].write_text(edges)
    assert command(*describe).returncode == 0


@pytest.mark.parametrize("nothing", ["?", "-", "n/a", "#DIV/0!", "Unknown"])
def test_words_for_nothing_among_numbers_and_dates_are_missing_and_that_is_said(
    nothing: str, tables: Tables, command: Command
) -> None:
    """A third of the cells, one of few different ones: the column was taken for numbers and then refused."""
    table = pd.read_csv(tables[1], dtype=str).fillna("")
    table["grade"] = [nothing if row % 3 == 0 else str(row % 4) for row in range(len(table))]
    table["code"] = [nothing if row % 3 == 0 else ("01583", "99084", "SW1A")[row % 5 % 3] for row in range(len(table))]
    table["seen"] = [nothing if row % 3 == 0 else f"2024-03-0{1 + row % 4}" for row in range(len(table))]
    table.to_csv(tables[1], index=False)
    done = command("data", "describe", *of(tables, "--label-column", "topic", "--json"))
    assert done.returncode == 0, done.stderr
    columns = {column["column"]: column for column in json.loads(done.stdout)["columns"]}
    assert [columns[name]["role"] for name in ("grade", "code", "seen")] == ["number", "category", "date"]
    assert f"{nothing!r} in row 1 and 19 more are no number and missing therefore" in columns["grade"]["note"]
    trained = command(
        *("train", *of(tables, "--label-column", "topic"), "--model", "mlp", "--runs", "1", "--set", "epochs=2", "-q")
    )
    assert trained.returncode == 0, trained.stderr
    table.loc[table.index < 4, ["id", "age", "city", "topic", "grade", "code", "seen"]].to_csv("few.csv", index=False)
    Path("none.csv").write_text("from,to\nu0,u1\n")
    predict = ("predict", str(next(Path("runs").iterdir())), "--edges", "none.csv", "--nodes", "few.csv")
    assert command(*predict).returncode == 0


def test_edges_that_count_rows_from_one_are_not_moved_by_one(tables: Tables, command: Command) -> None:
    nodes, edges = pd.read_csv(tables[1], dtype=str), pd.read_csv(tables[0], dtype=str)[["from", "to"]]
    nodes.drop(columns="id").to_csv(tables[1], index=False)
    counted = edges.map(lambda name: int(name[1:]) + 1)
    counted.to_csv(tables[0], index=False)
    describe = ("data", "describe", *of(tables, "--label-column", "topic"))
    for more in ((), ("--skip-unknown",)):
        refused = command(*describe, *more)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert "edges.csv counts the rows of nodes.csv from 1 to 60, and they are counted from 0; add" in refused.stderr
    (counted - 1).to_csv(tables[0], index=False)
    from_zero = command(*describe, "--json").stdout
    counted.to_csv(tables[0], index=False)
    nodes.assign(id=range(1, 61)).to_csv(tables[1], index=False)
    assert json.loads(command(*describe, "--json").stdout)["edge_homophily"] == json.loads(from_zero)["edge_homophily"]
    nodes.drop(columns="id").to_csv(tables[1], index=False)
    counted[(counted < 60).all(axis=1)].to_csv(tables[0], index=False)
    assert "none names row 0: if they count from 1, every edge is one row off" in command(*describe).stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("data", "convert"), "Missing argument 'edges': a CSV or Parquet table of edges, of any length"),
        (("data", "convert", "e.csv"), "Missing option '--nodes': a CSV or Parquet table of nodes"),
        (("predict",), "Missing argument 'run': the folder that `gwn train` or `gwn compare` named"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else "",
)
def test_what_is_missing_is_explained(arguments: tuple[str, ...], said: str, command: Command) -> None:
    """Only its name was said, which tells nobody what to give."""
    done = command(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    (further,) = re.findall(r"examples are in `gwn ([\w ]+) --help`\n", done.stderr)
    assert "Examples:" in command(*further.split(), "--help").stdout
