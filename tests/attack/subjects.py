"""What is attacked: small inputs of every format, and the commands that write."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SMALL = ("--set", "epochs=3", "--set", "hidden_channels=4", "--no-tuned", "--quiet")
TABLES = ("--edges", "edges.csv", "--nodes", "nodes.csv", "--label-column", "topic")
GENERATE = ("data", "generate", "--nodes", "60", "--edges", "90", "--features", "3", "--classes", "3", "--quiet")


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A command that writes.

    before   commands that make what it needs
    """

    name: str
    arguments: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()


TRAIN = ("train", *TABLES, "--model", "gwn-sym", "--runs", "2", "--checkpoint", "0", *SMALL)
FILES = ("train", "graph", "--model", "gwn-sym", "--precompute", "--memory", "8GB", "--runs", "1", *SMALL)
SUBJECTS = (
    Subject(name="train", arguments=TRAIN),
    Subject(name="precompute", arguments=FILES, before=((*GENERATE, "--out", "graph"),)),
    Subject(
        name="tune",
        arguments=(
            *("tune", "csbm", "--model", "mlp", "--trials", "2", "--search-splits", "1", "--final-runs", "1"),
            *("--set", "epochs=2", "--set", "hidden_channels=4", "--quiet"),
        ),
    ),
    Subject(
        name="predict",
        arguments=("predict", "runs/only", "--out", "predictions.csv"),
        before=(("train", *TABLES, "--model", "gwn-sym", "--runs", "1", *SMALL),),
    ),
    Subject(
        name="reproduce",
        arguments=(
            *("reproduce", "table-parameters", "--no-compute", "--format", "markdown", "--out", "tables", "--quiet"),
            *("--results", str(Path(__file__).parents[2] / "results")),
        ),
    ),
    Subject(
        name="generate --force",
        arguments=(*GENERATE, "--seed", "5", "--out", "graph", "--force"),
        before=((*GENERATE, "--out", "graph"),),
    ),
    Subject(
        name="convert",
        arguments=(
            *("data", "convert", "edges.csv", "--nodes", "nodes.csv", "--label-column", "topic"),
            *("--out", "graph", "--quiet"),
        ),
    ),
)


def write_tables(folder: Path) -> None:
    """A graph of thirty people in two tables."""
    rng = random.Random(0)
    nodes, edges = ["id,age,city,topic"], ["from,to"]
    for i in range(30):
        topic = ("sport", "science", "art")[i % 3] if i % 5 else ""
        nodes.append(f"u{i},{20 + 5 * (i % 3) + rng.random():.2f},{rng.choice(['Rome', 'Oslo'])},{topic}")
        edges.extend(f"u{i},u{(i + 3 * rng.randint(1, 9)) % 30}" for _ in range(2))
    (folder / "nodes.csv").write_text("\n".join(nodes) + "\n")
    (folder / "edges.csv").write_text("\n".join(edges) + "\n")


def only_run(folder: Path) -> Iterator[Path]:
    """The run folders in a folder."""
    yield from (path.parent for path in folder.glob("*/config.json"))
