"""Reproducers that need no file, or one that is made in a moment: beyond reason, damaged, or not a file at all.

Each is refused in one line with exit code 2, within a few seconds of processor time and a bounded memory.
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .arena import run
from .subjects import GENERATE, SMALL, TABLES, call_it_only

SECONDS = 6
MEMORY = 3 << 30


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is given, and how the file of it is made; `says` is part of the line, `ends` its exit code."""

    name: str
    arguments: tuple[str, ...]
    make: Callable[[Path], None] = lambda folder: None
    says: str = ""
    ends: int = 2


def attack(case: Case, folder: Path) -> str:
    """What is wrong with the answer; "" where nothing is."""
    case.make(folder)
    around = {path.name for path in folder.parent.iterdir()}
    done = run(case.arguments, folder, seconds=SECONDS, memory=MEMORY)
    trouble = done.complaint(allowed=(case.ends,))
    if outside := [
        p.name for p in folder.parent.iterdir() if p.name not in around and p.suffix not in (".lock", ".txt")
    ]:
        return f"wrote {outside[0]} outside its folder"
    if case.ends == 0:
        return trouble
    lines = done.err.strip().splitlines()
    if not trouble and (case.says not in done.err or len(lines[-1]) > 1000):
        trouble = f"says {lines[-1][:300]!r}"
    return trouble


def arrays(**changes: Any) -> dict[str, Any]:
    """A graph of six nodes as arrays."""
    base: dict[str, Any] = {
        "x": np.arange(12, dtype=np.float32).reshape(6, 2),
        "edge_index": np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]]),
        "y": np.array([0, 1, 0, 1, 0, 1]),
    }
    return {name: value for name, value in {**base, **changes}.items() if value is not None}


def npz(**changes: Any) -> Callable[[Path], None]:
    return lambda folder: np.savez(folder / "g.npz", **arrays(**changes))


def pt(**changes: Any) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        import torch

        torch.save({k: torch.as_tensor(v) for k, v in arrays(**changes).items()}, folder / "g.pt")

    return make


def text(name: str, content: str | bytes) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return make


def _flipped(folder: Path) -> None:
    np.savez_compressed(folder / "g.npz", **arrays())
    content = bytearray((folder / "g.npz").read_bytes())
    content[content.index(b"x.npy") + 60] ^= 4
    (folder / "g.npz").write_bytes(content)


def _bomb(folder: Path) -> None:
    """A small archive whose list of contents says four gigabytes."""
    np.savez_compressed(folder / "g.npz", **arrays())
    content = bytearray((folder / "g.npz").read_bytes())
    at = content.index(b"PK\x01\x02") + 24
    content[at : at + 4] = struct.pack("<I", 0xFFFFFFF0)
    (folder / "g.npz").write_bytes(content)


def _claims(folder: Path) -> None:
    """An array that says it has 10^15 values."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**12, 1000)})
    with zipfile.ZipFile(folder / "g.npz", "w") as archive:
        archive.writestr("x.npy", header.getvalue() + bytes(64))
        archive.writestr("edge_index.npy", header.getvalue())


def _pipe(name: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return make


LONG = '{"format": ' + "9" * 5000 + "}"
GRAPH = ("train", "--graph", "g.npz", "--model", "mlp", "--runs", "1", *SMALL)
PT = ("train", "--graph", "g.pt", "--model", "mlp", "--runs", "1", *SMALL)
TRAIN = ("train", *TABLES, "--runs", "1", *SMALL)
CSBM = ("train", "csbm", "--runs", "1", "--no-tuned", "--quiet")


def _set(*settings: str, model: str = "gwn-sym") -> tuple[str, ...]:
    return (*CSBM, "--model", model, *(part for setting in settings for part in ("--set", setting)))


def _folder(change: Callable[[Path], None]) -> Callable[[Path], None]:
    """A graph folder, written by ourselves, and then changed."""

    def make(folder: Path) -> None:
        made = run((*GENERATE, "--out", "graph"), folder)
        assert made.code == 0, made.err
        change(folder / "graph")

    return make


def _meta(**changes: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        from gwn.io import read_json, write_json

        write_json(folder / "meta.json", {**read_json(folder / "meta.json"), **changes})

    return change


def _study(*options: str) -> tuple[str, ...]:
    return ("tune", "csbm", "--model", "mlp", "--trials", "1", "--quiet", *options)


COMPARED = ("compare", *TABLES, "--quiet")


def _array(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        from gwn.io import read_json

        held = read_json(folder / "meta.json")["arrays"]
        _meta(arrays={**held, name: held["y"]})(folder)

    return change


ON_RUN = ("train", *TABLES, "--model", "gwn-sym", "--runs", "1", *SMALL)


def _run(file: str, **changes: Any) -> Callable[[Path], None]:
    """A run of ours, called `runs/only`, with one of its records changed and sealed anew."""

    def make(folder: Path) -> None:
        from gwn.io import read_json, write_json

        made = run(ON_RUN, folder)
        assert made.code == 0, made.err
        call_it_only(folder / "runs")
        path = folder / "runs" / "only" / file
        write_json(path, {name: value for name, value in {**read_json(path), **changes}.items() if value is not GONE})

    return make


GONE = object()
PREDICT = ("predict", "runs/only", "--out", "p.csv")
PAGE = ("report", "runs/only", "--out", "p.html")
ON_FOLDER = ("train", "graph", "--model", "mlp", "--runs", "1", *SMALL)
CASES = (
    Case(name="label 10^12", arguments=GRAPH, make=npz(y=np.array([0, 1, 0, 1, 0, 10**12])), says="at most 100,000"),
    Case(name="label 10^12 (pt)", arguments=PT, make=pt(y=np.array([0, 1, 0, 1, 0, 10**12])), says="at most 100,000"),
    Case(name="fractional label", arguments=GRAPH, make=npz(y=np.array([0, 1, 0.5, 1, 0, 1])), says="0.5"),
    Case(name="fractional edge", arguments=GRAPH, make=npz(edge_index=np.array([[0.5], [1.0]])), says="whole numbers"),
    Case(name="complex features", arguments=GRAPH, make=npz(x=np.ones((6, 2), dtype=complex)), says="real numbers"),
    Case(name="complex edges", arguments=GRAPH, make=npz(edge_index=np.ones((2, 3), dtype=complex)), says="whole"),
    Case(name="text features", arguments=GRAPH, make=npz(x=np.full((6, 2), "a"))),
    Case(name="dates as features", arguments=GRAPH, make=npz(x=np.zeros((6, 2), dtype="M8[s]"))),
    Case(name="features of 1e300", arguments=GRAPH, make=npz(x=np.full((6, 2), 1e300)), says="float32 ends at 3.4e38"),
    Case(name="infinite features", arguments=GRAPH, make=npz(x=np.full((6, 2), np.inf)), says="NaN or infinite"),
    Case(
        name="no nodes", arguments=GRAPH, make=npz(x=np.zeros((0, 2)), edge_index=np.zeros((2, 0), dtype=int), y=None)
    ),
    Case(name="scalar features", arguments=GRAPH, make=npz(x=np.float32(1))),
    Case(
        name="node ids twice",
        arguments=GRAPH,
        make=npz(node_ids=np.array(["a", "b", "c", "a", "d", "e"])),
        says="'a' is there twice",
    ),
    Case(name="class names twice", arguments=GRAPH, make=npz(class_names=np.array(["k", "k"])), says="'k' is there"),
    Case(name="scalar names", arguments=GRAPH, make=npz(class_names=np.array("k"))),
    Case(
        name="short masks",
        arguments=GRAPH,
        make=npz(**{f"{part}_mask": np.array([True, False, True]) for part in ("train", "val", "test")}),
        says="each of 6 nodes",
    ),
    Case(
        name="masks of numbers",
        arguments=GRAPH,
        make=npz(**{f"{part}_mask": np.arange(6) for part in ("train", "val", "test")}),
        says="true or false",
    ),
    Case(
        name="masks of text",
        arguments=GRAPH,
        make=npz(**{f"{part}_mask": np.array(["x"] * 6) for part in ("train", "val", "test")}),
    ),
    Case(name="flipped bit in a compressed archive", arguments=GRAPH, make=_flipped),
    Case(name="an archive that unpacks to gigabytes", arguments=GRAPH, make=_bomb, says="unpacks to"),
    Case(name="an array of 10^15 values", arguments=GRAPH, make=_claims),
    Case(name="a pickle", arguments=PT, make=text("g.pt", b"cos\nsystem\n(S'true'\ntR."), says="safely"),
    Case(name="a pipe as graph", arguments=GRAPH, make=_pipe("g.npz"), says="no regular file"),
    Case(name="a pipe as table", arguments=TRAIN, make=_pipe("nodes.csv")),
    Case(name="a device as table", arguments=("train", "--edges", "/dev/zero", *TABLES[2:], "--runs", "1")),
    Case(name="an endless device as graph", arguments=("train", "--graph", "/dev/urandom", "--runs", "1")),
    Case(name="a billion runs", arguments=(*TRAIN, "--runs", "1000000000"), says="at most 10,000"),
    Case(name="no runs", arguments=(*TRAIN, "--runs", "0"), says="--runs"),
    Case(name="a seed of 10^30", arguments=(*TRAIN, "--seed", "1" + "0" * 30), says="--seed"),
    Case(name="a negative seed", arguments=(*TRAIN, "--seed", "-1"), says="--seed"),
    Case(name="checkpoints every nan seconds", arguments=(*TRAIN, "--checkpoint", "nan"), says="--checkpoint"),
    Case(name="time=1e6", arguments=_set("time=1e6"), says="at most 100,000"),
    Case(name="tau=1e-300", arguments=_set("tau=1e-300"), says="at most 100,000"),
    Case(name="ten million steps", arguments=_set("tau=1e-7", "time=1"), says="at most 100,000"),
    Case(name="time=inf", arguments=_set("time=inf"), says="time"),
    Case(name="lr=inf", arguments=_set("lr=inf"), says="lr must be at most"),
    Case(name="lr=nan", arguments=_set("lr=nan"), says="lr"),
    Case(name="dropout=nan", arguments=_set("dropout=nan"), says="dropout"),
    Case(name="a width of 10^9", arguments=_set("hidden_channels=1000000000"), says="65,536"),
    Case(name="a width of 10^30", arguments=_set("hidden_channels=1" + "0" * 30), says="hidden_channels"),
    Case(name="10^5 layers", arguments=_set("num_layers=100000", model="gcn"), says="num_layers"),
    Case(name="10^6 heads", arguments=_set("heads=1000000", model="gat"), says="heads"),
    Case(name="10^9 epochs", arguments=_set("epochs=1000000000"), says="epochs must be at most"),
    Case(name="10^6 threads", arguments=_set("threads=1000000"), says="threads must be at most"),
    Case(name="a number of 5,000 digits", arguments=_set("epochs=" + "9" * 5000), says="epochs"),
    Case(name="memory for gigabytes of weights", arguments=_set("hidden_channels=65536", model="gcnii"), says="memory"),
    Case(name="a million trials", arguments=("tune", "csbm", "--model", "mlp", "--trials", "1000000"), says="--trials"),
    Case(name="a million workers", arguments=("tune", "csbm", "--model", "mlp", "--jobs", "1000000"), says="--jobs"),
    Case(name="a seed of a search", arguments=("tune", "csbm", "--model", "mlp", "--seed", "-3"), says="--seed"),
    Case(name="classes 10^30", arguments=(*GENERATE, "--classes", "1" + "0" * 30, "--out", "g"), says="classes"),
    Case(
        name="a large graph",
        arguments=(*GENERATE, "--nodes", "2000000000", "--features", "9999", "--out", "g"),
        says="free",
    ),
    Case(name="too many nodes", arguments=(*GENERATE, "--nodes", "10000000000", "--out", "g"), says="nodes must"),
    Case(name="homophily nan", arguments=(*GENERATE, "--homophily", "nan", "--out", "g"), says="homophily"),
    Case(name="memory inf", arguments=(*ON_FOLDER, "--memory", "9" * 400 + "GB"), make=_folder(lambda folder: None)),
    Case(name="classes 1e30 of a folder", arguments=ON_FOLDER, make=_folder(_meta(classes=10**30)), says="classes"),
    Case(name="classes inf of a folder", arguments=ON_FOLDER, make=_folder(_meta(classes="many"))),
    Case(name="arrays of a folder are none", arguments=ON_FOLDER, make=_folder(_meta(arrays=3))),
    Case(name="class names of a folder", arguments=ON_FOLDER, make=_folder(_meta(class_names=[1, 1, 1]))),
    *(
        Case(
            name=f"a folder named to lead out, {name}", arguments=arguments, make=_folder(_meta(name="../../x")), ends=0
        )
        for name, arguments in {
            "train": ON_FOLDER,
            "precompute": ("train", "graph", "--precompute", "--memory", "8GB", "--runs", "1", *SMALL),
            "explore": ("explore", "graph", "--model", "none", "--quiet"),
            "tune": (
                *("tune", "graph", "--model", "mlp", "--trials", "1", "--search-splits", "1", "--final-runs", "1"),
                *("--set", "epochs=2", "--quiet"),
            ),
        }.items()
    ),
    Case(
        name="deep JSON",
        arguments=("predict", "runs/a"),
        make=text("runs/a/config.json", '{"a":' * 100_000 + "1" + "}" * 100_000),
        says="nested too deeply",
    ),
    Case(
        name="a number of 5,000 digits in JSON",
        arguments=("predict", "runs/a"),
        make=text("runs/a/config.json", LONG),
    ),
    Case(name="JSON that is a list", arguments=("predict", "runs/a"), make=text("runs/a/config.json", "[1]")),
    Case(
        name="settings with 50,000 dots",
        arguments=("train", "csbm", "--model", "mlp", "--runs", "1", "--quiet"),
        make=text("settings/mlp.toml", ".".join("a" * 50_000) + " = 1\n"),
        says="mlp.toml",
    ),
    Case(
        name="settings nested 50,000 deep",
        arguments=("train", "csbm", "--model", "mlp", "--runs", "1", "--quiet"),
        make=text("settings/mlp.toml", "a = " + "[" * 50_000 + "]" * 50_000 + "\n"),
        says="mlp.toml",
    ),
    Case(
        name="control characters in a name",
        arguments=("train", "--graph", "\x1b[2J\x07.npz", "--runs", "1"),
        says="\\x1b[2J",
    ),
    Case(name="a page where a file is", arguments=("report", "--out", "nodes.csv"), says="cannot write"),
    Case(
        name="a prediction into nothing",
        arguments=("predict", "a", "--out", "/proc/none/p.csv"),
        says="cannot write",
    ),
    Case(name="an explorer where a file is", arguments=("explore", "csbm", "--out", "nodes.csv"), says="cannot write"),
    Case(
        name="an archive that lies about its length",
        arguments=GRAPH,
        make=text("g.npz", b"PK\x03\x04" + struct.pack("<HHHHHIII", 20, 0, 8, 0, 0, 0, 1 << 31, 1 << 31) + bytes(99)),
    ),
    Case(name="a billion runs of a comparison", arguments=(*COMPARED, "--runs", "1000000000"), says="at most 10,000"),
    Case(name="a billion trials of a comparison", arguments=(*COMPARED, "--trials", "1000000000"), says="--trials"),
    Case(name="a million workers of a comparison", arguments=(*COMPARED, "--jobs", "1000000"), says="--jobs"),
    Case(name="a seed of a comparison", arguments=(*COMPARED, "--seed", "-1"), says="--seed"),
    Case(name="a comparison of nan seconds", arguments=(*COMPARED, "--time", "nan")),
    Case(name="a comparison with tau=1e-300", arguments=(*COMPARED, "--set", "tau=1e-300"), says="at most 100,000"),
    Case(name="a comparison with no prior", arguments=(*COMPARED, "--prior", "nan"), says="prior"),
    Case(name="a comparison where a file is", arguments=(*COMPARED, "--out", "nodes.csv"), says="cannot write"),
    Case(name="a billion runs of the demo", arguments=("demo", "--runs", "1000000000"), says="at most 10,000"),
    Case(
        name="a table where a file is", arguments=("reproduce", "table-parameters", "--out", "nodes.csv"), says="write"
    ),
    Case(name="step lengths", arguments=("stability", "csbm", "--tau", "1," * 100_000), says="at most 1,000"),
    Case(name="a heartbeat of 10^30", arguments=_study("--heartbeat", "1" + "0" * 30), says="--heartbeat"),
    Case(
        name="an explanation into nothing",
        arguments=("explain", "runs/only", "--node", "u1", "--out", "/proc/none/p.csv"),
        make=_run("config.json"),
        says="cannot write",
    ),
    Case(
        name="an export into nothing",
        arguments=("export", "runs/only", "--out", "/proc/none/n.pt2"),
        make=_run("config.json"),
        says="cannot write",
    ),
    Case(
        name="a node of 5,000 digits",
        arguments=("explain", "runs/only", "--node", "9" * 5000),
        make=_run("config.json"),
    ),
    Case(name="a run without classes", arguments=PAGE, make=_run("config.json", classes=GONE), says="no 'classes'"),
    Case(name="a run without a split", arguments=PAGE, make=_run("config.json", split=GONE), says="no 'split'"),
    Case(name="a run of no metric", arguments=PAGE, make=_run("config.json", metric="x"), says="metric"),
    Case(name="an origin that is a list", arguments=PREDICT, make=_run("config.json", origin={"dataset": [1]})),
    Case(name="a score that is text", arguments=PREDICT, make=_run("run-00.json", val="best"), says="val of"),
    Case(name="a curve that is text", arguments=PAGE, make=_run("history-00.json", val="up"), says="val in"),
    Case(name="curves of two lengths", arguments=PAGE, make=_run("history-00.json", val=[1]), says="lengths"),
    Case(name="a graph without a name", arguments=ON_FOLDER, make=_folder(_meta(name=None)), says="name"),
    Case(name="years of a graph", arguments=ON_FOLDER, make=_folder(_meta(time_split=[1, 2, 3])), says="two years"),
    Case(
        name="an array that leads out", arguments=ON_FOLDER, make=_folder(_array("../../x")), says="an array '../../x'"
    ),
)
