"""A hundred million edges from nothing to predictions within a stated memory, every stage in a process of its own.

    generate    `gwn data generate`
    tables      the graph as two Parquet files, as somebody might have it
    convert     `gwn data convert`
    propagate   as `gwn train --precompute` begins
    train       `gwn train --precompute`, which finds what was propagated
    predict     `gwn predict`, a CSV file

Finished stages are kept: the same command goes on with the first one that is missing, and a stage that was killed goes
on where it can. `killed` kills two of them in the middle and says what that cost.
`python -m benchmarks.hundred_million STAGE ...` is what the two stages without a command run.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import Result, Row, Settings, Verdict
from benchmarks.training_runs import Kept
from benchmarks.worker import process_environment
from gwn.data.folders.folder import GraphFolder
from gwn.errors import GWNError
from gwn.io import file_sha256
from gwn.memory import parse_memory
from gwn.networks import GWN
from gwn.outofcore.propagate import propagate

NODES, EDGES, FEATURES, CLASSES = 10_000_000, 100_000_000, 64, 16
COMMUNITY = 1000
MEMORY = "6GB"
STEPS, WIDTH, EPOCHS = 5, 64, 5
ROWS = 1 << 20
CHUNK = 1 << 23
FLOOR = ("files_read_gb", "files_left_gb", "reading_once_seconds")


def hundred_million(settings: Settings) -> Result:
    """Seconds, peak of the whole process and bytes through the system's calls of every stage."""
    work, sizes = _place(settings)
    kept = Kept(work / "stages.json")
    rows = []
    for name, stage in _stages(work, sizes).items():
        settings.say(name)

        def measure(name: str = name, stage: Stage = stage) -> dict[str, Any]:
            found = _measured(stage.command(), work / f"{name}.log", settings.threads)
            return {"stage": name, **found, **_floor(stage)}

        found = kept.get({"stage": name, **sizes, "memory": MEMORY, "threads": settings.threads}, measure)
        rows.append({**found, "edges": sizes["edges"]})
    facts = {**sizes, "memory": MEMORY, "width": WIDTH, "steps": STEPS, "epochs": EPOCHS, "threads": settings.threads}
    facts |= _accuracy(work)
    return Result(facts=facts, rows=rows, verdicts=hundred_million_verdicts(rows))


def killed(settings: Settings) -> Result:
    """Propagation and training once more, killed (SIGKILL) after half the time that they took, then started again."""
    whole = {row["stage"]: row for row in hundred_million(settings).rows}
    work, sizes = _place(settings)
    kept, undisturbed, again = Kept(work / "killed.json"), _stages(work, sizes), _stages(work, sizes, "killed-runs")
    rows = []
    for name in ("propagate", "train"):
        settings.say(f"{name}, killed in the middle")

        def measure(name: str = name) -> dict[str, Any]:
            stage, after = again[name], whole[name]["seconds"] / 2
            _kill_after(after, stage.command(), work / f"killed-{name}.log", settings.threads)
            found = _measured(stage.command(), work / f"killed-{name}.log", settings.threads)
            results = [{path.name: file_sha256(path) for path in each[name].results()} for each in (undisturbed, again)]
            return {
                "stage": name,
                "whole": whole[name]["seconds"],
                "killed after": after,
                "then": found["seconds"],
                "of the whole": (after + found["seconds"]) / whole[name]["seconds"],
                "peak_gb": found["peak_gb"],
                "same result": bool(results[0]) and results[0] == results[1],
            }

        rows.append(kept.get({"killed": name, **sizes, "memory": MEMORY, "threads": settings.threads}, measure))
    return Result(facts={**sizes, "memory": MEMORY, "unit": "seconds"}, rows=rows, verdicts=killed_verdicts(rows))


def killed_verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """What goes on comes to the same files, bit for bit, within the memory that was stated."""
    same, peak = "killed in the middle: the same result, to the bit", f"gone on with --memory {MEMORY}: its peak, GB"
    return [
        verdict
        for row in rows
        for verdict in (
            Verdict(subject=row["stage"], what=same, value=float(row["same result"]), sign=">=", bar=1),
            Verdict(subject=row["stage"], what=peak, value=row["peak_gb"], sign="<=", bar=parse_memory(MEMORY) / 1e9),
        )
    ]


def _place(settings: Settings) -> tuple[Path, dict[str, int]]:
    """The folder of this size, and the size."""
    work = settings.work / f"hundred-million-{settings.shrink}"
    work.mkdir(parents=True, exist_ok=True)
    nodes, edges = NODES // settings.shrink, EDGES // settings.shrink
    return work, {"nodes": nodes, "edges": edges, "features": FEATURES, "classes": CLASSES}


def hundred_million_verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """Every stage within the memory that was stated."""
    what, allowed = f"edges with --memory {MEMORY}: whole process at its peak, GB", parse_memory(MEMORY) / 1e9
    return [
        Verdict(subject=row["stage"], what=f"{row['edges']:,} {what}", value=row["peak_gb"], sign="<=", bar=allowed)
        for row in rows
    ]


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A command, the files that it reads and those that it leaves."""

    command: Callable[[], list[str]]
    reads: Callable[[], Iterator[Path]]
    writes: Callable[[], Iterator[Path]]

    def results(self) -> Iterator[Path]:
        """Of the files that it leaves those that hold numbers, and no times."""
        return (path for path in self.writes() if path.suffix in (".npy", ".safetensors"))


def _stages(work: Path, sizes: dict[str, int], kept_in: str = "runs") -> dict[str, Stage]:
    made, tables, folder, runs, out = (work / name for name in ("generated", "tables", "converted", kept_in, "out.csv"))
    gwn, own = ["gwn"], ["benchmarks.hundred_million"]
    asked = [text for name, count in sizes.items() for text in (f"--{name}", str(count))]
    communities = str(max(1, sizes["nodes"] // COMMUNITY))
    model = ["--set", f"time={STEPS}", "--set", f"hidden_channels={WIDTH}", "--set", f"epochs={EPOCHS}"]
    nodes, edges = tables / "nodes.parquet", tables / "edges.parquet"

    def trained() -> str:
        return str(next(path.parent for path in runs.glob("*/config.json")))

    return {
        "generate": Stage(
            command=lambda: [
                *(*gwn, "data", "generate", *asked, "--communities", communities),
                *("--memory", MEMORY, "--force", "--out", str(made)),
            ],
            reads=lambda: iter(()),
            writes=lambda: made.glob("*.npy"),
        ),
        "tables": Stage(
            command=lambda: [*own, "tables", str(made), str(tables)],
            reads=lambda: (path for path in made.glob("*.npy") if path.stem != "year"),
            writes=lambda: tables.glob("*.parquet"),
        ),
        "convert": Stage(
            command=lambda: [
                *(*gwn, "data", "convert", str(edges), "--nodes", str(nodes), "--label-column", "class"),
                *("--memory", MEMORY, "--force", "--out", str(folder)),
            ],
            reads=lambda: tables.glob("*.parquet"),
            writes=lambda: folder.glob("*.*"),
        ),
        "propagate": Stage(
            command=lambda: [*own, "propagate", str(folder), str(runs)],
            reads=lambda: (folder / f"{name}.npy" for name in ("indptr", "indices", "x")),
            writes=lambda: runs.glob("propagated-*/*.npy"),
        ),
        "train": Stage(
            command=lambda: [
                *(*gwn, "train", str(folder), "--model", "gwn-sym", "--precompute", "--memory", MEMORY),
                *("--runs", "1", "--no-tuned", *model, "--checkpoint", "10", "--out", str(runs)),
            ],
            reads=lambda: runs.glob("propagated-*/*.npy"),
            writes=lambda: runs.glob("*-gwn-sym-*/*"),
        ),
        "predict": Stage(
            command=lambda: [
                *(*gwn, "predict", trained(), "--memory", MEMORY, "--runs", str(runs), "--out", str(out)),
            ],
            reads=lambda: runs.glob("propagated-*/*.npy"),
            writes=lambda: iter((out,)),
        ),
    }


def _measured(command: list[str], log: Path, threads: int) -> dict[str, Any]:
    """What a command took, as the process itself tells (`benchmarks.account`)."""
    told = log.with_suffix(".account")
    with log.open("a+") as output:
        if _started(command, told, output, threads).wait() != 0:
            output.seek(0)
            last = output.read().strip().splitlines()[-1:]
            raise GWNError(f"a stage of the hundred million edges failed: {' '.join(last)}")
    found: dict[str, Any] = json.loads(told.read_text())
    return found


def _started(command: list[str], told: Path, output: TextIO, threads: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.account", str(told), *command],
        stdout=output,
        stderr=subprocess.STDOUT,
        env=process_environment(threads),
    )


def _kill_after(seconds: float, command: list[str], log: Path, threads: int) -> None:
    """Start a command and end it without a warning; refused where it ended by itself, as nothing was killed then."""
    with log.open("a") as output:
        process = _started(command, log.with_suffix(".account"), output, threads)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return
    raise GWNError(f"a stage ended within {seconds:.3g} seconds, before it was killed; delete {log.parent}, run again")


def _floor(stage: Stage) -> dict[str, float]:
    """The size of what it reads and leaves, and the seconds that only reading its files once takes here and now."""
    reads, writes = list(stage.reads()), list(stage.writes())
    started, buffer = time.perf_counter(), bytearray(CHUNK)
    for path in reads:
        with path.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass
    return {
        "files_read_gb": sum(path.stat().st_size for path in reads) / 1e9,
        "files_left_gb": sum(path.stat().st_size for path in writes) / 1e9,
        "reading_once_seconds": time.perf_counter() - started if reads else 0.0,
    }


def _accuracy(work: Path) -> dict[str, float]:
    for path in work.glob("runs/*/result.json"):
        return {"test_accuracy": json.loads(path.read_text())["summary"]["test"]["mean"]}
    return {}


def write_tables(folder: GraphFolder, out: Path) -> None:
    """The graph as two Parquet files: nodes with ids of their own, and every edge once, in the order of its ends."""
    out.mkdir(parents=True, exist_ok=True)
    x, y = folder.reader("x"), folder.reader("y")
    names = ["id", "class", *(f"feature {column}" for column in range(folder.num_features))]

    def nodes(first: int, last: int) -> list[Any]:
        ids = _ids(np.arange(first, last))
        classes = pa.DictionaryArray.from_arrays(y.rows(first, last), [f"class {c}" for c in range(CLASSES)])
        return [ids, classes.dictionary_decode(), *np.ascontiguousarray(x.rows(first, last).T)]

    _write(out / "nodes.parquet", names, (nodes(*part) for part in _parts(folder.num_nodes, ROWS)))
    indptr, indices = folder.reader("indptr"), folder.reader("indices")

    def edges(first: int, last: int) -> list[Any]:
        pointers = indptr.rows(first, last + 1)
        target = indices.rows(int(pointers[0]), int(pointers[-1])).astype(np.int64)
        source = np.repeat(np.arange(first, last), np.diff(pointers))
        once = source < target
        return [_ids(source[once]), _ids(target[once])]

    _write(out / "edges.parquet", ["source", "target"], (edges(*part) for part in _parts(folder.num_nodes, ROWS // 8)))


def _ids(node: Any) -> Any:
    return 3 * node + 1_000_000


def _parts(total: int, size: int) -> Iterator[tuple[int, int]]:
    return ((first, min(first + size, total)) for first in range(0, total, size))


def _write(path: Path, names: list[str], groups: Iterator[list[Any]]) -> None:
    writer = None
    for columns in groups:
        table = pa.table(dict(zip(names, columns, strict=True)))
        writer = writer or pq.ParquetWriter(path, table.schema, compression="none", use_dictionary=["class"])
        writer.write_table(table)
    assert writer is not None
    writer.close()


def run_stage(stage: str, folder: str, out: str) -> None:
    """One of the two stages that have no command."""
    graph = GraphFolder.open(folder)
    if stage == "tables":
        write_tables(graph, Path(out))
        return
    model = GWN(graph.num_features, WIDTH, graph.num_classes, laplacian="sym", time=STEPS, precompute=True)
    propagate(graph, model, Path(out), memory=parse_memory(MEMORY))


if __name__ == "__main__":
    run_stage(*sys.argv[1:])
