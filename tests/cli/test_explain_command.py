"""`gwn explain` through the command: what a person sees, and files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from commands import Command


@pytest.fixture
def run(tables: tuple[Path, Path], command: Command, tmp_path: Path) -> Path:
    """A trained run on the 60 people; one of them has an id that a terminal would obey."""
    edges, nodes = tables
    nodes.write_text(nodes.read_text().replace("u7,", "u7\x1b[31m,"))
    edges.write_text(edges.read_text().replace("u7,", "u7\x1b[31m,"))
    done = command(
        *("train", "--edges", str(edges), "--nodes", str(nodes), "--label-column", "topic"),
        *("--model", "gcn", "--runs", "1", "--set", "epochs=20"),
    )
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    return folder


def test_a_node_of_ones_own_table_is_explained(run: Path, command: Command, tmp_path: Path) -> None:
    done = command("explain", str(run), "--node", "u7\x1b[31m", "--edges", "--out", "why.csv")
    assert done.returncode == 0, done.stderr
    assert "\x1b[31m" not in done.stdout + done.stderr
    assert "Node u7\\x1b[31m: predicted" in done.stdout
    assert "lost without it" in done.stdout
    assert "residual" in done.stdout
    rows = list(csv.DictReader((tmp_path / "why.csv").open()))
    short = command("explain", str(run), "--node", "u8", "--top", "1").stdout
    assert "other columns" not in short, "the last of two columns stands where the sum of one would"
    assert " other nodes" in short
    whole = json.loads(command("explain", str(run), "--node", "u8", "--class", "art", "--json").stdout)
    assert {row["name"] for row in rows if row["what"] == "column of this node"} == {"age", "city"}
    assert {each["column"]: each["value"] for each in whole["columns"]}.keys() == {"age", "city"}
    assert next(each["value"] for each in whole["columns"] if each["column"] == "city") in ("Rome", "Oslo")
    assert whole["class"] == "art"
    total = sum(each["own"] + each["others"] for each in whole["columns"])
    assert total == pytest.approx(sum(each["contribution"] for each in whole["nodes"]))
    assert total + whole["residual"] == pytest.approx(whole["margin"] - whole["start"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "no node was named; say which one's prediction to explain, for example --node u0"),
        (("--node", "u8", "--node", "u9"), "one prediction is explained at a time; got --node u8 and u9: give one"),
        (("--node", "u99x"), "its nodes are named by their ids; the nearest is 'u9'"),
        (("--node", "nobody"), "its nodes are named by their ids, such as 'u0'"),
        (("--node", "u8", "--class", "arts"), "unknown class 'arts'; did you mean 'art'?"),
        (("--node", "u8", "--class", "art", "--against", "art"), "cannot be compared with itself"),
        (("--node", "u8", "--baseline", "men"), "did you mean 'mean'?"),
    ],
)
def test_what_cannot_be_explained(run: Path, command: Command, options: tuple[str, ...], said: str) -> None:
    done = command("explain", str(run), *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr.splitlines()[-1]


def test_large_numbers_are_told_apart(tables: tuple[Path, Path], command: Command, tmp_path: Path) -> None:
    """Incomes of 1,000,020,440 and 1,000,030,870 were both 1e+09, in the answer and in what it would be by default."""
    edges, nodes = tables
    head, *rows = nodes.read_text().splitlines()
    incomes = [1_000_000_000 + 1000 * i + 440 for i in range(len(rows))]
    nodes.write_text(
        "\n".join([f"{head},income", *(f"{row},{income}" for row, income in zip(rows, incomes, strict=True))])
    )
    read = ("--edges", str(edges), "--nodes", str(nodes), "--label-column", "income", "--task", "regression")
    done = command("train", *read, "--model", "gwn-sym", "--runs", "1", "--set", "epochs=5")
    assert done.returncode == 0, done.stderr
    assert "e+09" not in done.stdout
    (run,) = (tmp_path / "runs").iterdir()
    said = command("explain", str(run), "--node", "u20").stdout
    assert "its number is 1,000,020,440 " in said
    assert "e+09" not in said
    known = json.loads(command("explain", str(run), "--node", "u20", "--json").stdout)["known"]
    assert known == "1000020440", "a file's number has no commas"
    assert command("report", str(run), "--node", "u20").returncode == 0
    page = (run / "report.html").read_text()
    assert "truly 1,000,020,440<" in page
    assert "above zero, which stands for 1,000,0" in page
    assert "test R² on the " in page
    assert "run 0, the only one<" in page
    assert "edges within a class" not in page
    assert "e+09" not in page
