"""The installed `gwn` in a subprocess: what a person sees, exit codes and files."""

from __future__ import annotations

import csv
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commands import Command

GWN = [sys.executable, "-m", "gwn"]
INSTALLED = Path(sys.executable).with_name("gwn")


def heeds_ctrl_c() -> None:
    """A background job ignores Ctrl-C, and so would its children: they shall not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    command = [str(INSTALLED)] if INSTALLED.exists() else GWN
    return subprocess.run([*command, *arguments], cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True)


def test_version_and_help(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path).stdout.startswith("gwn 0.")
    text = run("train", "--help", cwd=tmp_path).stdout
    assert "gwn train cora --model gwn-sym" in text
    assert "--label-column" in text
    for group in ((), ("data",)):
        listed = run(*group, "--help", cwd=tmp_path, COLUMNS="70").stdout.split("Commands:")[1]
        assert "..." not in listed, "no sentence of a command is cut"
        assert max(map(len, listed.splitlines())) <= 70


def test_predict_reads_the_tables_as_train_did_from_any_folder_and_says_what_changed(
    tmp_path: Path, command: Command
) -> None:
    """The true edges stand in the columns `who` and `whom`, the ids in the first column; the rest misleads."""
    count, here, elsewhere = 60, tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    order = [(7 * row + 3) % count for row in range(count)]
    people = [f"{name},{name % 4},{'odd' if name % 2 else 'even'}" for name in order]
    ties = [f"{a},{(a + 1) % count},{a},{(a + 2 * step) % count}" for a in range(count) for step in (1, 2)]
    (here / "people.csv").write_text("user,age,topic\n" + "\n".join(people) + "\n")
    (here / "ties.csv").write_text("source,target,who,whom\n" + "\n".join(ties) + "\n")
    trained = command(
        *("train", "--edges", "ties.csv", "--nodes", "people.csv", "--label-column", "topic", "--model", "gcn"),
        *("--source-column", "who", "--target-column", "whom", "--runs", "1", "--set", "epochs=40"),
        cwd=here,
    )
    assert trained.returncode == 0, trained.stderr
    assert "the id is column 'user'" in trained.stderr
    assert "edges go from 'who' to 'whom'" in trained.stderr
    (folder,) = (here / "runs").iterdir()
    predicted = command("predict", str(folder), "--run-number", "0", "--out", "all.csv", cwd=elsewhere)
    assert (predicted.returncode, predicted.stderr) == (0, "")
    assert "as asked for" in predicted.stdout
    rows = list(csv.DictReader((elsewhere / "all.csv").open()))
    assert [int(row["node"]) for row in rows] == order
    right = sum(row["predicted"] == ("odd" if int(row["node"]) % 2 else "even") for row in rows)
    assert right >= 0.9 * count, "along source and target every edge would lead to the other class"
    with (here / "people.csv").open("a") as table:
        table.write(f"{count},3,odd\n")
    warned = command("predict", str(folder), "--out", "all.csv", cwd=elsewhere)
    assert warned.returncode == 0
    assert "people.csv changed since training: 60 nodes" in warned.stderr
    assert len(warned.stderr.splitlines()) == 1


def test_tables_that_misled_are_read_rightly_and_what_was_decided_is_said(tmp_path: Path, command: Command) -> None:
    """28.0 is 28, 1,5 a number, 01583 none; compressed, with missing cells, and without a header where that is said."""
    rows = [
        f"{row}.0;{'' if row == 5 else f'{row % 7},5'};0158{row % 3};{row}\x1b[31m word;{'odd' if row % 2 else 'even'}"
        for row in range(40)
    ]
    (tmp_path / "n.csv.gz").write_bytes(gzip.compress(("key;size;zip;bio;kind\n" + "\n".join(rows)).encode()))
    (tmp_path / "e.csv").write_text("".join(f"{row},{(row + 2) % 40}\n" for row in range(40)))
    train = ("train", "--edges", "e.csv", "--nodes", "n.csv.gz", "--label-column", "kind", "--runs", "1")
    short = ("--model", "gcn", "--set", "epochs=3")
    refused = command(*train, *short)
    assert refused.returncode == 2
    assert "the first line, 0,2, is an edge" in refused.stderr
    trained = command(*train, *short, "--no-header", "edges")
    assert trained.returncode == 0, trained.stderr
    assert "the id is column 'key'" in trained.stderr
    assert "1 number column, 1 category column" in trained.stderr
    assert "column 'bio': it has 40 different texts: left out; --text-column bio uses its words" in trained.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    schema = json.loads((folder / "schema-00.json").read_text())
    assert [column["kind"] for column in schema["columns"]] == ["number", "category", "dropped"]
    assert schema["columns"][1]["categories"] == ["01580", "01581", "01582"]
    predicted = command("predict", str(folder), "--out", "all.csv")
    assert predicted.returncode == 0, predicted.stderr
    assert [row["node"] for row in csv.DictReader((tmp_path / "all.csv").open())] == [str(row) for row in range(40)]
    (tmp_path / "n.csv").write_text("\x1b]0;a,kind,f\n" + "".join(f"{row},{row % 2},same\n" for row in range(9)))
    (tmp_path / "e.csv").write_text("source,target\n1,2\n")
    said = command(
        "train", "--edges", "e.csv", "--nodes", "n.csv", "--label-column", "kind", "--features", "degree", *short
    )
    assert "every cell is 'same': left out" in said.stderr
    assert "\x1b" not in said.stderr


def test_train_then_predict_on_csv(tmp_path: Path, tables: tuple[Path, Path], command: Command) -> None:
    edges, nodes = tables
    trained = run(
        *("train", "--edges", str(edges), "--nodes", str(nodes), "--label-column", "topic", "--weight-column", "w"),
        *("--model", "gwn-fa", "--runs", "2", "--set", "epochs=30", "--json"),
        cwd=tmp_path,
    )
    assert trained.returncode == 0, trained.stderr
    result = json.loads(trained.stdout)
    assert [run["seed"] for run in result["runs"]] == [0, 1]
    assert result["summary"]["test"]["count"] == 2
    assert result["dataset"]["files"].keys() == {"edges.csv", "nodes.csv"}
    for key in ("val", "test", "epochs", "seconds", "parameters", "peak_memory_mib", "split_hash"):
        assert result["runs"][0][key] is not None
    assert trained.stderr.count("validation") == 2  # plain lines when piped

    folder = tmp_path / result["folder"]
    assert not list(folder.glob("*.pt"))
    assert not list(folder.glob("*.pkl"))
    learnt = [json.loads((folder / f"schema-0{number}.json").read_text())["columns"][0]["mean"] for number in (0, 1)]
    assert learnt[0] != learnt[1], "each run learnt on training nodes of its own"
    predicted = run("predict", str(folder), "--out", "all.csv", cwd=tmp_path)
    assert predicted.returncode == 0, predicted.stderr
    rows = list(csv.DictReader((tmp_path / "all.csv").open()))
    assert len(rows) == 60
    assert {row["predicted"] for row in rows} <= {"art", "science", "sport"}
    probabilities = [float(rows[0][f"p_{name}"]) for name in ("art", "science", "sport")]
    assert sum(probabilities) == pytest.approx(1.0)

    new_nodes, new_edges = tmp_path / "new-nodes.csv", tmp_path / "new-edges.csv"
    new_nodes.write_text("id,age,city\nx1,31.5,Oslo\nx2,44,Atlantis\n")  # never seen, one of an unseen city
    new_edges.write_text("from,to,w\nx1,x2,0.5\n")
    fresh = command(
        "predict", str(folder), "--edges", str(new_edges), "--nodes", str(new_nodes), "--out", "new.csv", cwd=tmp_path
    )
    assert fresh.returncode == 0, fresh.stderr
    assert [row["node"] for row in csv.DictReader((tmp_path / "new.csv").open())] == ["x1", "x2"]


def test_same_command_computes_nothing_twice_and_quiet_is_silent(command: Command) -> None:
    arguments = ("train", "csbm", "--runs", "2", "--set", "epochs=5", "--quiet", "--json")
    first, second = (json.loads(command(*arguments).stdout) for _ in range(2))
    assert first["runs"] == second["runs"]  # to the second: not computed again
    longer = command(*arguments[:3], "3", *arguments[4:])
    assert longer.stderr == ""
    assert json.loads(longer.stdout)["runs"][:2] == first["runs"]


def test_a_mistake_is_one_line_and_code_2(tmp_path: Path) -> None:
    """As a person sees it; the list of mistakes is in test_bad_input.py."""
    finished = run("train", "csbm", "--no-such-option", cwd=tmp_path)
    assert finished.returncode == 2
    assert len(finished.stderr.strip().splitlines()) == 1, finished.stderr
    assert "--no-such-option" in finished.stderr
    assert finished.stdout == ""


@pytest.mark.slow
def test_interrupt_keeps_finished_runs(tmp_path: Path, command: Command) -> None:
    started = [str(INSTALLED)] if INSTALLED.exists() else GWN
    arguments = ("train", "csbm", "--runs", "5000", "--set", "epochs=20", "--set", "patience=20")
    process = subprocess.Popen(
        [*started, *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heeds_ctrl_c,
    )
    while not list(tmp_path.glob("runs/*/run-01.json")):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert stderr.strip().splitlines()[-1].startswith("gwn: interrupted")
    kept = len(list(tmp_path.glob("runs/*/run-*.json")))
    assert 2 <= kept < 5000
    assert not list(tmp_path.glob("runs/*/.part-*"))
    again = command("train", "csbm", "--runs", "2", *arguments[4:], "--json")
    assert json.loads(again.stdout)["summary"]["finished"] == 2


@pytest.mark.slow
def test_demo(tmp_path: Path) -> None:
    finished = run("demo", "--runs", "1", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    for name in ("GWN-sym", "GWN-fa", "GCN", "MLP"):
        assert name in finished.stdout
    assert "demo/digits.png" in finished.stdout.replace(os.sep, "/")
    assert (tmp_path / "demo" / "digits.png").read_bytes().startswith(b"\x89PNG")
