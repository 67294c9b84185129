"""Mutated inputs of every format: the right answer with exit code 0, or one line with exit code 2.

A mutation is named by its seed, so that any of them can be made again. What a mutated table means cannot be known, so
"right" means: no traceback, no unexpected exception, bounded time and memory, and what was stored before is untouched.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .arena import fresh, in_child, run, run_many, versions
from .bounds import arrays
from .subjects import COMPARE, GENERATE, SMALL, TABLES, call_it_only, compare_here, save_estimator, write_tables

SECONDS = 20
WORDS = (
    *("", "0", "-1", "1e308", "-1e400", "nan", "inf", "9" * 400, "1.5", "0x10", "1_000", "true", "null", "None", "\\N"),
    *(
        "\x00",
        "\x1b[31m",
        "\ufeff",
        "\u202e",
        "é",
        "\ud7ff",
        "=1+1",
        "'",
        '"',
        '""',
        ",",
        ";",
        "\t",
        "\r",
        "\n",
        "\r\n",
    ),
    *(
        "../../x",
        "a" * 300,
        "{",
        "}",
        "[",
        "]",
        "1e-400",
        "-0",
        "+5",
        " 7 ",
        "٣",
        "１２",
        "2**63",
        str(2**63),
        str(-(2**63)),
    ),
)


@dataclass(frozen=True, kw_only=True)
class Format:
    """An input: the command that reads it, and the files that are mutated.

    slow   takes long: a sixth as many as of the others
    """

    name: str
    arguments: tuple[str, ...]
    files: tuple[str, ...]
    slow: bool = False


TUNE = ("tune", "csbm", "--trials", "1", "--search-splits", "1", "--final-runs", "1", "--quiet")
RUN = ("config.json", "run-00.json", "schema-00.json", "run-00.safetensors")
REFIT = ("refit.json", "refit.safetensors")
MLP = ("--model", "mlp", "--runs", "1", *SMALL, "--out", "out")
FORMATS = (
    Format(name="csv", arguments=("train", *TABLES, *MLP), files=("nodes.csv", "edges.csv")),
    Format(
        name="parquet",
        arguments=("train", "--edges", "edges.parquet", "--nodes", "nodes.parquet", *TABLES[4:], *MLP),
        files=("nodes.parquet", "edges.parquet"),
    ),
    Format(name="npz", arguments=("train", "--graph", "g.npz", *MLP), files=("g.npz",)),
    Format(name="npz, compressed", arguments=("train", "--graph", "c.npz", *MLP), files=("c.npz",)),
    Format(name="pt", arguments=("train", "--graph", "g.pt", *MLP), files=("g.pt",)),
    Format(
        name="settings",
        arguments=("train", "csbm", "--model", "mlp", "--runs", "1", "--quiet", "--set", "epochs=2", "--out", "out"),
        files=("settings/mlp.toml",),
    ),
    Format(
        name="bank settings",
        arguments=(
            *("train", "csbm", "--model", "gwn-bank", "--runs", "1", "--quiet", "--set", "epochs=2", "--out", "out"),
            *("--set", "hidden_channels=4"),
        ),
        files=("settings/gwn-bank.toml",),
        slow=True,
    ),
    Format(name="run folder", arguments=("predict", "runs/only", "--out", "out/predictions.csv"), files=RUN),
    Format(
        name="refit",
        arguments=("predict", "runs/only", "--refit", "--out", "out/p.csv"),
        files=(*RUN, *REFIT),
        slow=True,
    ),
    Format(
        name="explain", arguments=("explain", "runs/only", "--node", "u1", "--out", "out/why.csv"), files=RUN, slow=True
    ),
    Format(name="run page", arguments=("report", "runs/only", "--out", "out/page.html"), files=RUN, slow=True),
    Format(
        name="comparison",
        arguments=("predict", "runs/compared", "--out", "out/predictions.csv"),
        files=("runs/compared/comparison.json",),
    ),
    Format(
        name="estimator",
        arguments=("predict", "estimator", "--out", "out/predictions.csv"),
        files=tuple(f"estimator/{name}" for name in (*RUN, "nodes.parquet", "edges.parquet")),
    ),
    Format(name="describe", arguments=("data", "describe", *TABLES), files=("nodes.csv", "edges.csv")),
    Format(
        name="graph folder", arguments=("train", "graph", *MLP), files=("meta.json", "x.npy", "indptr.npy", "y.npy")
    ),
    Format(
        name="convert",
        arguments=(
            *("data", "convert", "edges.csv", "--nodes", "nodes.csv", "--label-column", "topic"),
            *("--out", "out", "--quiet"),
        ),
        files=("nodes.csv", "edges.csv"),
    ),
    Format(name="info", arguments=("data", "info", "graph"), files=("meta.json", "indices.npy", "y.npy")),
)


def template(folder: Path) -> Path:
    """All the inputs, unharmed, and a run, in `folder`."""
    import numpy as np
    import pyarrow.csv
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    write_tables(folder)
    for name in ("nodes", "edges"):
        pq.write_table(pyarrow.csv.read_csv(folder / f"{name}.csv"), folder / f"{name}.parquet")
    rng = np.random.default_rng(0)
    parts: dict[str, Any] = arrays(
        x=rng.random((24, 3), dtype=np.float32), edge_index=rng.integers(24, size=(2, 40)), y=np.arange(24) % 3
    )
    np.savez(folder / "g.npz", **parts)
    np.savez_compressed(folder / "c.npz", **parts)
    in_child(lambda: _save_pt(folder, parts))
    small = ("--runs", "1", *SMALL)
    for arguments in (
        ("train", *TABLES, "--model", "gwn-sym", *small),
        (*GENERATE, "--out", "graph"),
        (*TUNE, "--model", "mlp", "--set", "epochs=2", "--runs", "tuned"),
        (*TUNE, "--model", "gwn-bank", "--set", "epochs=2", "--runs", "tuned"),
        (*COMPARE, "--out", "compared"),
    ):
        made = run(arguments, folder, prepare=compare_here)
        if made.code != 0:
            raise RuntimeError(made.err)
    call_it_only(folder / "runs")
    for found in list((folder / "compared").iterdir()):
        found.rename(folder / "runs" / ("compared" if (found / "comparison.json").exists() else found.name))
    made = run(("predict", "runs/only", "--refit", "--out", "refitted.csv"), folder)
    in_child(lambda: save_estimator(folder))
    for name in ("studies", "tuned"):  # the settings are what was wanted
        shutil.rmtree(folder / name)
    return folder


def _save_pt(folder: Path, parts: dict[str, Any]) -> None:
    import torch
    from torch_geometric.data import Data

    torch.save(Data(**{name: torch.as_tensor(value) for name, value in parts.items()}), folder / "g.pt")


def mutate(content: bytes, rng: random.Random) -> bytes:
    """One to a few changes: bits, bytes, words, stretches that are cut, doubled, moved or blown up."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        size = len(data)
        if size == 0:
            return bytes(data)
        at, kind = rng.randrange(size), rng.randrange(9)
        until = min(size, at + rng.choice((1, 2, 8, 64, 1024)))
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.randrange(256)
        elif kind == 2:
            del data[at:until]
        elif kind == 3:
            data[at:at] = data[at:until] * rng.choice((1, 2, 30))
        elif kind == 4:
            data[at:until] = rng.choice(WORDS).encode("utf-8", "surrogatepass")
        elif kind == 5:
            del data[at:]
        elif kind == 6:
            goal = rng.randrange(size)
            data[goal:goal] = data[at:until]
        elif kind == 7:
            _replace_a_field(data, rng)
        else:
            lines = data.split(b"\n")
            rng.shuffle(lines)
            data = bytearray(b"\n".join(lines))
    return bytes(data)


def _replace_a_field(data: bytearray, rng: random.Random) -> None:
    """One cell, number or name becomes a word that was chosen to hurt."""
    import re

    fields = [match.span() for match in re.finditer(rb"[A-Za-z0-9_.+-]+", bytes(data[:20_000]))]
    if fields:
        first, last = rng.choice(fields)
        data[first:last] = rng.choice(WORDS).encode("utf-8", "surrogatepass")


VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**12, 10**400, 1e300, 0.5, "", "x", "../../x", "\x1b[31m", "9" * 5000, [], {}, [[]], [None]),
    *([1, 2, 3], {"a": 1}, [["x"] * 9], "a" * 300),
)


def resealed(path: Path, rng: random.Random) -> None:
    """A record in which one thing is another, with a seal that fits: as who wants to do harm would write it."""
    from gwn.io import read_json, write_json

    data = read_json(path)
    places: list[tuple[Any, Any]] = []
    waiting: list[Any] = [data]
    while waiting:
        held = waiting.pop()
        for key in held if isinstance(held, dict) else range(len(held)):
            places.append((held, key))
            if isinstance(held[key], (dict, list)):
                waiting.append(held[key])
    held, key = rng.choice(places)
    if isinstance(held, dict) and rng.random() < 0.3:
        value = held.pop(key)
        if rng.random() < 0.3:
            held[rng.choice(WORDS)] = value
    else:
        held[key] = rng.choice(VALUES)
    write_json(path, data)


def find(folder: Path, name: str) -> Path:
    """The file of this name in a template."""
    return next(
        path for path in (folder / name, folder / "runs" / "only" / name, folder / "graph" / name) if path.exists()
    )


def attack(jobs: Sequence[tuple[Format, int]], whole: Path, place: Path) -> Iterator[tuple[Format, int, Path, str]]:
    """Mutate one file for every (format, seed): the file, and what is wrong with the answer, "" where nothing is."""
    prepared = []
    for number, (form, seed) in enumerate(jobs):
        rng = random.Random(f"{form.name} {seed}")
        work = fresh(whole, place / f"mutated-{number}")
        target = find(work, rng.choice(form.files))
        if target.suffix == ".json" and rng.random() < 0.5:
            resealed(target, rng)
        else:
            target.write_bytes(mutate(target.read_bytes(), rng))
        prepared.append((work, target, versions(work)))
    outcomes = run_many(
        [(form.arguments, work) for (form, _), (work, _, _) in zip(jobs, prepared, strict=True)], seconds=SECONDS
    )
    for (form, seed), (work, target, before), done in zip(jobs, prepared, outcomes, strict=True):
        now = versions(work)
        changed = [path for path, version in before.items() if now.get(path) != version]
        harmed = [path for path in changed if Path(path).name not in REFIT]  # trained again where it does not fit
        trouble = done.complaint() or (f"{harmed[0]} was changed" if harmed else "")
        yield form, seed, target, f"{target.name}: {trouble}" if trouble else ""
