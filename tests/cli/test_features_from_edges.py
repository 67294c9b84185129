"""Features from the edges through the command: advice that works, the same graph again, and another one refused."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

from commands import Command

Club = tuple[str, ...]


@pytest.fixture
def club(tmp_path: Path) -> Club:
    """Zachary's karate club as two tables without features."""
    g = nx.karate_club_graph()
    nodes = [f"member-{node},{g.nodes[node]['club']}" for node in g]
    edges = [f"member-{a},member-{b}" for a, b in g.edges]
    (tmp_path / "nodes.csv").write_text("\n".join(["id,club", *nodes]) + "\n")
    (tmp_path / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    return ("--edges", "edges.csv", "--nodes", "nodes.csv", "--label-column", "club")


def test_the_advice_for_a_graph_without_features_works(command: Command, club: Club, tmp_path: Path) -> None:
    refused = command("train", *club)
    assert refused.returncode == 2
    assert "--features spectral" in refused.stderr
    quick = ("--set", "epochs=3", "--runs", "1", "-q")
    done = command("train", *club, "--features", "spectral,structure", *quick)
    assert done.returncode == 0, done.stderr
    folder = str(next((tmp_path / "runs").iterdir()))
    assert command("predict", folder, "--out", "a.csv").returncode == 0
    nodes = (tmp_path / "nodes.csv").read_text()
    (tmp_path / "blank.csv").write_text(nodes.replace("Mr. Hi", "", 3))
    same = command("predict", folder, "--edges", "edges.csv", "--nodes", "blank.csv", "--out", "b.csv")
    assert same.returncode == 0, same.stderr
    (tmp_path / "fewer.csv").write_text("\n".join((tmp_path / "edges.csv").read_text().splitlines()[:-1]) + "\n")
    other = ("--edges", "fewer.csv", "--nodes", "nodes.csv")
    refused = command("predict", folder, *other)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert "--features structure" in refused.stderr
    done = command("train", *club, "--features", "structure", *quick, "--out", "again")
    assert done.returncode == 0, done.stderr
    anywhere = command("predict", str(next((tmp_path / "again").iterdir())), *other, "--out", "c.csv")
    assert anywhere.returncode == 0, anywhere.stderr
