"""Imports point one way: the paper's mathematics at the bottom, the command line on top, no cycle between rooms."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import gwn

ROOT = Path(gwn.__file__).parent
ROOMS = (
    *("laplacians", "schemes", "networks", "models", "data", "training", "tuning", "settings", "compare"),
    *("outofcore", "distributed", "pages", "explore", "paper", "runs", "cli"),
)
BASE = {"_version", "errors", "registry", "io", "dimension"}
CORE = BASE | {
    "graph",
    "adjacency",
    "sparse",
    "dense",
    "kernels",
    "compiled",
    "dropout",
    "stability",
    "laplacians",
    "schemes",
    "networks",
}
ON_TOP = ("paper", "explore", "runs")
ENTRANCES = {"cli", "__main__"}


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules of the package that a file imports, anywhere in it: for types alone and inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in known else node.module for name in full]
        else:
            continue
        yield from (name for name in names if name in known)


KNOWN = modules()
GRAPH = {name: set(imported(path, KNOWN)) - {name, "gwn"} for name, path in KNOWN.items()}


def room_of(module: str) -> str:
    """`gwn.models.peers.gcn` lives in `models`, `gwn.graph` in `graph`."""
    return module.split(".")[1] if "." in module else module


def test_the_tree_is_the_one_this_test_knows() -> None:
    assert {path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file()} == set(ROOMS)
    assert len(GRAPH) > 100
    assert GRAPH["gwn.schemes.leapfrog"] >= {"gwn.laplacians", "gwn.schemes.base"}


def test_no_module_imports_itself_in_a_circle() -> None:
    # A package's own front door may name what lives in it; behind the door, modules import each other directly.
    behind = {
        name: {other for other in others if not other.startswith(f"{name}.")}
        if KNOWN[name].name == "__init__.py"
        else others
        for name, others in GRAPH.items()
    }
    try:
        tuple(TopologicalSorter(behind).static_order())
    except CycleError as error:
        pytest.fail(f"modules import each other in a circle: {' -> '.join(reversed(error.args[1]))}")


def test_no_room_imports_another_in_a_circle() -> None:
    rooms: dict[str, set[str]] = {}
    for name, others in GRAPH.items():
        rooms.setdefault(room_of(name), set()).update(room_of(other) for other in others)
    try:
        tuple(TopologicalSorter({room: others - {room} for room, others in rooms.items()}).static_order())
    except CycleError as error:
        pytest.fail(f"rooms import each other in a circle: {' -> '.join(reversed(error.args[1]))}")


@pytest.mark.parametrize(("inside", "allowed"), [(BASE, BASE), (CORE, CORE)], ids=["base", "core"])
def test_the_core_knows_nothing_outside_the_core(inside: set[str], allowed: set[str]) -> None:
    outside = {
        f"{name} imports {other}"
        for name, others in GRAPH.items()
        if room_of(name) in inside
        for other in others
        if room_of(other) not in allowed
    }
    assert not outside


@pytest.mark.parametrize("room", ON_TOP)
def test_pages_and_reproduction_are_used_by_the_command_line_alone(room: str) -> None:
    users = {room_of(name) for name, others in GRAPH.items() if room in map(room_of, others)}
    assert users - {room} <= ENTRANCES


def test_the_package_does_not_know_its_benchmarks() -> None:
    assert not [
        path
        for path in KNOWN.values()
        if "import benchmarks" in path.read_text() or "from benchmarks" in path.read_text()
    ]


@pytest.mark.parametrize(
    "command",
    [["--help"], ["models"], ["data", "list"], ["train", "--help"], ["reproduce", "--help"], ["explore", "--help"]],
    ids=" ".join,
)
def test_a_command_that_only_tells_loads_no_heavy_library(command: list[str]) -> None:
    """Half a second of processor time: measured in modules, which no load on the machine can change."""
    code = (
        "import sys\n"
        "from gwn.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\n"
        "except SystemExit as stop:\n    assert not stop.code, stop.code\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(done.stderr.strip().splitlines()[-1]))
    heavy = {"torch", "torch_geometric", "scipy", "sklearn", "pandas", "pyarrow", "matplotlib", "optuna"}
    assert done.stdout
    assert "typer" in loaded
    assert not heavy & loaded


def test_training_a_wave_waits_for_no_library_of_the_peers() -> None:
    code = "import sys, gwn.cli.source, gwn.training; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "torch" in done.stdout.split()
    assert not {"torch_geometric", "sklearn", "matplotlib", "optuna"} & set(done.stdout.split())
