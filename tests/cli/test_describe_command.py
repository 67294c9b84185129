"""`gwn data describe` on tables and by name; names from a table cannot steer the terminal."""

from __future__ import annotations

import json
from pathlib import Path

from commands import Command


def test_describe_tables(command: Command, tables: tuple[Path, Path]) -> None:
    given = ("--edges", "edges.csv", "--nodes", "nodes.csv", "--label-column", "topic")
    said = command("data", "describe", *given, "--split", "stratified")
    assert said.returncode == 0, said.stderr
    for word in ("city", "category", "adjusted homophily", "label shift", "repeated edges"):
        assert word in said.stdout
    facts = json.loads(command("data", "describe", *given, "--json").stdout)
    assert facts["class_counts"] == {"art": 16, "science": 16, "sport": 16}
    assert next(row for row in facts["columns"] if row["column"] == "topic")["missing"] == 12
    assert command("data", "describe").returncode == 2
    by_name = json.loads(command("data", "describe", "digits", "--json").stdout)
    assert by_name == json.loads(command("data", "info", "digits", "--json").stdout)


def test_control_characters_are_written_out(command: Command, tables: tuple[Path, Path]) -> None:
    edges, nodes = tables
    nodes.write_text(nodes.read_text().replace("city", "ci\x1b[31mty").replace("sport", "spo\x1b]0;owned\x07rt"))
    given = ("--edges", str(edges), "--nodes", str(nodes), "--label-column", "topic")
    for arguments in (("data", "describe", *given), ("train", *given, "--runs", "1", "--set", "epochs=1")):
        said = command(*arguments)
        assert said.returncode == 0, said.stderr
        assert "\x1b]0" not in said.stdout + said.stderr
        assert "\x1b[31mty" not in said.stdout + said.stderr
        assert "\\x1b]0;owned" in said.stdout + said.stderr
