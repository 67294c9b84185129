"""Tables that are not those of the training, or not what they seem: what was decided about them is said."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from commands import Command
from gwn.data.files import load_files

Tables = tuple[Path, Path]
SHORT = ("--runs", "1", "--set", "epochs=2", "--model", "gcn", "-q")


def of(edges: str = "edges.csv", nodes: str = "nodes.csv") -> tuple[str, ...]:
    return ("--edges", edges, "--nodes", nodes)


def trained(command: Command, *given: str) -> str:
    done = command("train", *given, *SHORT, "--json")
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["folder"])


def test_other_edges_are_read_by_the_columns_of_the_training_and_that_is_said(tables: Tables, command: Command) -> None:
    """A third column of ids made the table ambiguous, and nothing said which columns were taken."""
    text = tables[0].read_text().replace("from,to,w", "buyer,seller,w")
    tables[0].write_text(text)
    run = trained(command, *of(), "--label-column", "topic")
    agents = [f"{line},{'agent' if row == 0 else f'u{row * 7 % 60}'}" for row, line in enumerate(text.splitlines())]
    tables[0].with_name("more.csv").write_text("\n".join([*agents, "u1,nobody,1,u2"]))
    asked = ("predict", run, *of("more.csv"))
    refused = command(*asked)
    assert refused.returncode == 2
    assert "'nobody'" in refused.stderr
    tables[0].with_name("more.csv").write_text("\n".join(agents))
    said = command(*asked)
    assert said.returncode == 0, said.stderr
    assert said.stderr.startswith("nodes.csv: the id is column 'id', the class is in 'topic', ")
    first, left_out = said.stderr.splitlines()
    assert first.endswith("more.csv: edges go from 'buyer' to 'seller', not used: 'w', 'agent'")
    assert re.fullmatch(r"left out: \d+ repeated edges?", left_out)
    assert command(*asked, "-q").stderr == ""


def test_edges_that_are_left_out_again_are_counted(tables: Tables, command: Command) -> None:
    tables[0].write_text(tables[0].read_text() + "u1,nobody,1\n")
    run = trained(command, *of(), "--label-column", "topic", "--skip-unknown")
    assert "\nleft out: 1 edge of unknown nodes, " in command("predict", run, *of()).stderr


def test_columns_that_mean_something_else_are_pointed_out(tables: Tables, command: Command) -> None:
    """In other units or words the model answers all the same."""
    run = trained(command, *of(), "--label-column", "topic")
    text = tables[1].read_text()
    tables[1].with_name("other.csv").write_text(re.sub(r",(\d+)\.(\d\d)", r",\1\2", text).replace("Rome", "ROME"))
    said = command("predict", run, *of(nodes="other.csv"), "-q").stderr
    assert re.search(r"gwn: warning: other\.csv: column 'age': its numbers are about 25\d\d, far from those of", said)
    assert "column 'city'" not in said, "most of them are known"
    tables[1].write_text(text.replace("Oslo", "OSLO").replace("Rome", "ROME"))
    said = command("predict", run, "-q").stderr
    assert "nodes.csv changed since training" in said
    assert "nodes.csv: column 'city': 60 of 60 cells are no category of the training, " in said
    tables[1].write_text(re.sub(r",\d+\.\d\d", ",", text))
    assert "column 'age': every cell is empty" in command("predict", run).stderr
    tables[1].write_text(text)
    assert command("predict", run).stderr == ""


def test_two_files_of_one_name_are_two_files(tables: Tables, command: Command) -> None:
    """The hash of the edges was lost, and so were their changes."""
    for table in tables:
        (folder := table.with_suffix("")).mkdir()
        table.rename(folder / "data.csv")
    run = trained(command, *of("edges/data.csv", "nodes/data.csv"), "--label-column", "topic")
    edges = tables[0].with_suffix("") / "data.csv"
    edges.write_text("\n".join(edges.read_text().splitlines()[:-30]))
    assert "gwn: warning: data.csv of edges changed since training: 60 nodes" in command("predict", run).stderr


def test_a_run_finds_its_graph_folder_from_any_folder(tables: Tables, command: Command, tmp_path: Path) -> None:
    made = command("data", "convert", "edges.csv", "--nodes", "nodes.csv", "--label-column", "topic", "--out", "made")
    assert made.returncode == 0, made.stderr
    run = tmp_path / trained(command, "made")
    (tmp_path / "elsewhere").mkdir()
    said = command("predict", str(run), cwd=tmp_path / "elsewhere")
    assert said.returncode == 0, said.stderr
    like = ("data", "convert", "edges.csv", "--nodes", "nodes.csv", "--like", "made", "--out", "again")
    refused = command(*like, "--label-column", "topic")
    assert refused.returncode == 2
    assert "--like made reads the tables as those of that folder; leave out --label-column" in refused.stderr
    assert "warning" not in command(*like).stderr
    tables[1].write_text(re.sub(r"topic|\w+$", "", re.sub(r",(\d+)\.", r",\1", tables[1].read_text()), flags=re.M))
    said = command(*like, "--force")
    assert (said.returncode, "nodes.csv: the id is column 'id', no label column" in said.stderr) == (0, True), said
    assert "gwn: warning: nodes.csv: column 'age': its numbers are about 25" in said.stderr
    assert command(*like[:5], "--out", "none").returncode == 2
    generated = command("data", "generate", "--nodes", "60", "--edges", "90", "--classes", "3", "--out", "drawn", "-q")
    assert generated.returncode == 0, generated.stderr
    assert "was not made from tables" in command(*like[:6], "drawn", "--out", "none").stderr


def test_explore_says_how_tables_were_read(tables: Tables, command: Command) -> None:
    said = command("explore", *of(), "--label-column", "topic", "--model", "none", "--limit", "20")
    assert said.returncode == 0, said.stderr
    assert said.stderr.startswith("nodes.csv: the id is column 'id', the class is in 'topic'")


@pytest.mark.parametrize("port", ["99999999", "-1"])
def test_a_port_that_is_none_is_told_before_the_work(port: str, tables: Tables, command: Command) -> None:
    said = command("explore", *of(), "--model", "none", "--serve", "--port", port)
    assert (said.returncode, said.stdout) == (2, "")
    assert len(said.stderr.splitlines()) == 1
    assert f"cannot serve on port {port} " in said.stderr
    assert "choose another with --port" in said.stderr
    assert not (tables[0].parent / "explore").exists()


def test_a_class_called_na_is_told(tables: Tables, command: Command) -> None:
    """It is read as an empty cell, so that its nodes would be predicted as something else."""
    tables[1].write_text(tables[1].read_text().replace("sport", "NA"))
    describe = ("data", "describe", *of(), "--label-column", "topic")
    words = "Read as an empty label, so to be predicted: 'NA' (16). Where it is a class, write it differently."
    assert words in command(*describe).stdout
    tables[1].write_text(tables[1].read_text().replace("NA", "North America"))
    said = command(*describe).stdout
    assert "Read as an empty label" not in said
    assert "North America" in said


def test_signs_and_commas_in_numbers_are_told(tmp_path: Path, command: Command) -> None:
    """1,234 between tabs is less than two here and more than a thousand there; a dollar is no euro."""
    rows = [
        f"{i}\t{1 + i % 9},{100 + i}\t${1 + i % 9},{100 + i}\t{'$€'[i % 2]}{i}.50\t{1 + i % 7},5\t{'xy'[i % 2]}"
        for i in range(30)
    ]
    (tmp_path / "n.tsv").write_text("\n".join(["id\tpeople\tdollars\tprice\tshare\ttopic", *rows]))
    (tmp_path / "e.csv").write_text("a,b\n1,2\n3,4\n")
    told = command("data", "describe", *of("e.csv", "n.tsv"), "--label-column", "topic", "--json")
    notes = {row["column"]: row["note"] for row in json.loads(told.stdout)["columns"]}
    guess = "1,100 is read with decimals, as less than a thousand, which no cell proves"
    assert notes["people"] == guess
    assert notes["dollars"] == f"numbers are read as 1.234,5; {guess}; $ left out"
    assert notes["price"] == "numbers are read as 1,234.5; $ and € left out"
    assert notes["share"] == "", "1,5 is no number of thousands"
    read = ("--label-column", "price", "--task", "regression", "--drop-column", "topic")
    said = command("train", *of("e.csv", "n.tsv"), *read, "--runs", "1", "--set", "epochs=1").stderr
    assert "the number to predict is in 'price' (numbers are read as 1,234.5; $ and € left out), " in said


def test_thousands_beside_decimal_commas_are_told_of_columns_and_weights(tmp_path: Path, command: Command) -> None:
    """Read as 1.234 they were a thousand times too small, in silence."""
    prices, weights = ("1.234", "987,5", "2.500", "12,25", "450"), ("1.250", "12,5")
    rows = [f"n{i};{prices[i % 5]};{'xy'[i % 2]}" for i in range(24)]
    (tmp_path / "n.csv").write_text("\n".join(["id;price;label", *rows]))
    ring = [f"n{i};n{(i + 1) % 24};{weights[i % 2]}" for i in range(24)]
    (tmp_path / "e.csv").write_text("\n".join(["source;target;w", *ring]))
    describe = ("data", "describe", *of("e.csv", "n.csv"), "--label-column", "label", "--weight-column", "w")
    said = command(*describe)
    assert "weighted by 'w' (numbers are read as 1.234,5: 1.250 is 1250)" in said.stdout, said.stderr
    (price,) = [row for row in json.loads(command(*describe, "--json").stdout)["columns"] if row["column"] == "price"]
    assert (price["role"], price["note"]) == ("number", "numbers are read as 1.234,5: 1.234 is 1234")
    read, schema = load_files(
        edges=tmp_path / "e.csv", nodes=tmp_path / "n.csv", label_column="label", weight_column="w"
    )
    assert read.graph.edge_weight is not None
    assert set(read.graph.edge_weight.tolist()) == {1250, 12.5}
    (tmp_path / "e.csv").write_text("source;target;w\nn0;n1;1.250\n")
    again, _ = load_files(edges=tmp_path / "e.csv", nodes=tmp_path / "n.csv", label_column=None, schema=schema)
    assert again.graph.edge_weight is not None
    assert again.graph.edge_weight.tolist() == [1250, 1250], "as where the model was trained"


@pytest.mark.parametrize("weight", ["-1", "", "3 kg", "inf"])
def test_a_weight_that_is_none_says_what_to_do(weight: str, tmp_path: Path, command: Command) -> None:
    (tmp_path / "n.csv").write_text("id,size,label\n" + "".join(f"n{i},{i},{'xy'[i % 2]}\n" for i in range(9)))
    (tmp_path / "e.csv").write_text(f"source,target,w\nn0,n1,1\nn1,n2,{weight}\n")
    said = command("data", "describe", *of("e.csv", "n.csv"), "--label-column", "label", "--weight-column", "w")
    assert f"has {weight!r} in row 2; weights are finite numbers and not negative: write one there" in said.stderr


def test_a_table_of_every_kind_from_description_to_prediction(tmp_path: Path, command: Command) -> None:
    """Dates, rare categories, skewed and missing numbers, prose and columns that say nothing."""
    rows = [
        f"p{i},2024-{1 + i % 12:02}-{1 + i % 28:02},{'abcdefgh'[i % 8] if i % 100 else f'rare{i}'},{2.0 ** (i % 40)},"
        f"{'' if i % 9 == 0 else i % 7 / 2},word{i} and more,same,,{('yes', 'no')[i % 3 == 0]},{'xy'[i % 2]}"
        for i in range(400)
    ]
    heading = "who,joined,group,sales,score,about,constant,nothing,member,topic"
    (tmp_path / "nodes.csv").write_text("\n".join([heading, *rows]))
    (tmp_path / "edges.csv").write_text("a,b\n" + "".join(f"p{i},p{(i + 2) % 400}\n" for i in range(400)))
    read = (*of(), "--label-column", "topic")
    columns = json.loads(command("data", "describe", *read, "--json").stdout)["columns"]
    assert {row["column"]: (row["role"], row["note"]) for row in columns} == {
        "who": ("id", ""),
        "joined": ("date", "dates are read as year-month-day"),
        "group": ("category", "4 rare categories are one"),
        "sales": ("number", "skewed: by its quantiles"),
        "score": ("number", ""),
        "about": ("dropped", "it has 400 different texts: left out; --text-column about uses its words"),
        "constant": ("dropped", "every cell is 'same': left out"),
        "nothing": ("dropped", "it is empty: left out"),
        "member": ("boolean", ""),
        "topic": ("label", ""),
    }
    run = trained(command, *read, "--text-column", "about")
    learnt = json.loads((tmp_path / run / "schema-00.json").read_text())["columns"]
    assert {each["name"]: each["kind"] for each in learnt}["about"] == "text"
    said = command("predict", run)
    assert (said.returncode, said.stderr) == (0, "")


def test_an_interval_of_an_accuracy_stays_within_its_bounds(tmp_path: Path, command: Command) -> None:
    nodes = [f"u{i},{i % 2},{'xy'[i % 2]}" for i in range(60)]
    (tmp_path / "nodes.csv").write_text("\n".join(["id,f,topic", *nodes]))
    (tmp_path / "edges.csv").write_text("a,b\n" + "".join(f"u{i},u{(i + 2) % 60}\n" for i in range(60)))
    read = (*of(), "--label-column", "topic", "--model", "mlp", "--runs", "3", "--set", "epochs=30", "-q")
    said = command("train", *read).stdout
    found = re.findall(r"95 % interval ([\d.-]+) to ([\d.-]+)", said)
    assert len(found) == 2, said
    assert all(0 <= float(low) < float(high) <= 100 for low, high in found), said


def test_what_of_another_table_is_not_read_is_said(tables: Tables, command: Command) -> None:
    """Nothing was said of cells that are missing therefore, of lost edges, or of columns that hold nothing."""
    header, *rows = tables[1].read_text().splitlines()
    more = [f"{row},{i % 3 + 1}/1/2024,{'yes' if i % 2 else 'no'},{i} %" for i, row in enumerate(rows)]
    tables[1].write_text("\n".join([f"{header},seen,paid,share", *more]))
    run = trained(command, *of(), "--label-column", "topic")
    new = tables[1].with_name("new.csv")
    other = [f"{row},,,{i / 100}" for i, row in enumerate(rows)]
    other[4] = "u4,old,Rome,,,,0.04"
    new.write_text("\n".join([f"{header},seen,paid,share", *other, "u99,30,Oslo,,,,0.5"]))
    tables[0].with_name("few.csv").write_text("from,to\nu1,u1\nu1,u2\nu2,u1\nu99,u1\n")
    said = command("predict", run, *of("few.csv", "new.csv")).stderr
    assert "\ncolumn 'age': 'old' in row 5 is no number and missing therefore\n" in said
    assert "\nleft out: 1 self-loop, 1 repeated edge\n" in said
    assert "\n58 of 61 nodes without an edge\n" in said
    for column, why in (
        ("seen", "every cell is empty"),
        ("paid", "every cell is empty"),
        ("share", "its numbers had % in the training and have none here: see that they mean the same"),
    ):
        assert f"gwn: warning: new.csv: column {column!r}: {why}\n" in said
    assert "warning" not in command("predict", run, *of()).stderr
