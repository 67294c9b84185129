"""A small graph as two CSV tables, as a user would have it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from commands import Command, Finished
from gwn.cli.main import main

TOPICS = ("sport", "science", "art")


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    """`edges.csv` and `nodes.csv`: 60 people, text ids, a number, a category, weights, some labels missing."""
    rng = random.Random(0)
    nodes, edges = ["id,age,city,topic"], ["from,to,w"]
    for i in range(60):
        topic = TOPICS[i % 3] if i % 5 else ""
        nodes.append(f"u{i},{20 + 5 * (i % 3) + rng.random():.2f},{rng.choice(['Rome', 'Oslo'])},{topic}")
        edges.extend(f"u{i},u{(i + 3 * rng.randint(1, 9)) % 60},{rng.random():.3f}" for _ in range(3))
    paths = tmp_path / "edges.csv", tmp_path / "nodes.csv"
    for path, lines in zip(paths, (edges, nodes), strict=True):
        path.write_text("\n".join(lines) + "\n")
    return paths


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """`gwn` with these arguments in the folder `cwd`, in this process: a new one takes seconds to import PyTorch."""

    def call(*arguments: str, cwd: Path = tmp_path) -> Finished:
        monkeypatch.chdir(cwd)
        capfd.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        said = capfd.readouterr()
        return Finished(int(stop.value.code or 0), said.out, said.err)

    return call
