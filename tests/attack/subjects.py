"""What is attacked: small inputs of every format, and the commands that write."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .arena import nothing

SMALL = ("--set", "epochs=3", "--set", "hidden_channels=4", "--no-tuned", "--quiet")
TABLES = ("--edges", "edges.csv", "--nodes", "nodes.csv", "--label-column", "topic")
GENERATE = ("data", "generate", "--nodes", "60", "--edges", "90", "--features", "3", "--classes", "3", "--quiet")


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A command that writes.

    before       commands that make what it needs
    prepare      called in its process before it
    on_run       the run that was made before is called `runs/only`
    slow         takes seconds: the small campaign has a tenth of its faults
    repeatable   it gives the same files each time; otherwise it must end well and leave nothing damaged
    most_kills   so many may follow each other
    growing      endings of files that are written more than once on the way
    """

    name: str
    arguments: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()
    prepare: Callable[[], object] = nothing
    on_run: bool = False
    slow: bool = False
    repeatable: bool = True
    most_kills: int = 3
    growing: tuple[str, ...] = ("result.json", "log")


def compare_here() -> None:
    """Do the work of a comparison's workers in its own process, so that it can be watched."""
    import gwn.compare.course as course
    from gwn.compare.pool import Here
    from gwn.compare.worker import open_workshop

    setattr(course, "Processes", lambda jobs, start: Here(open_workshop(start)))  # noqa: B010


TRAIN = ("train", *TABLES, "--model", "gwn-sym", "--runs", "2", "--checkpoint", "0", *SMALL, "--set", "epochs=2")
FILES = ("train", "graph", "--model", "gwn-sym", "--precompute", "--memory", "8GB", "--runs", "1", *SMALL)
TRAINED = (("train", *TABLES, "--model", "gwn-sym", "--runs", "1", *SMALL),)
COMPARE = (
    *("compare", *TABLES, "--models", "majority", "--time", "4s", "--trials", "1", "--runs", "1", "--jobs", "1"),
    *("--set", "epochs=2", "--split", "stratified", "--quiet"),
)
SUBJECTS = (
    Subject(name="train", arguments=TRAIN),
    Subject(name="precompute", arguments=FILES, before=((*GENERATE, "--out", "graph"),)),
    Subject(
        name="tune",
        arguments=(
            *("tune", "csbm", "--model", "mlp", "--trials", "2", "--search-splits", "1", "--final-runs", "1"),
            *("--set", "epochs=2", "--set", "hidden_channels=4", "--heartbeat", "2", "--quiet"),
        ),
        most_kills=2,  # a trial that is killed for the third time is given up
    ),
    Subject(
        name="predict", arguments=("predict", "runs/only", "--out", "predictions.csv"), before=TRAINED, on_run=True
    ),
    Subject(name="refit", arguments=("predict", "runs/only", "--refit"), before=TRAINED, on_run=True),
    Subject(
        name="explain",
        arguments=("explain", "runs/only", "--node", "u1", "--out", "explain.csv"),
        before=TRAINED,
        on_run=True,
    ),
    Subject(name="run page", arguments=("report", "runs/only"), before=TRAINED, on_run=True),
    Subject(
        name="export",
        arguments=("export", "runs/only", "--out", "net.pt2"),
        before=TRAINED,
        slow=True,
        on_run=True,
    ),
    Subject(name="compare", arguments=COMPARE, prepare=compare_here, slow=True, repeatable=False),
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


def call_it_only(runs: Path) -> None:
    """Give the comparison in a folder of runs, or else its one run, the name `only`."""
    found = list(runs.glob("*/comparison.json")) or list(runs.glob("*/config.json"))
    if len(found) == 1:
        found[0].parent.rename(runs / "only")


def save_estimator(folder: Path) -> None:
    """A `WaveClassifier` that learnt the tables in a folder, as its folder `estimator`."""
    from gwn import WaveClassifier

    found = WaveClassifier("mlp", epochs=2).fit(folder / "nodes.csv", folder / "edges.csv", label="topic")
    found.save(folder / "estimator")
