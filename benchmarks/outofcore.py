"""Training from files: an epoch of it against full batch, and ten million edges in little memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

from benchmarks.competitors import gwn_model
from benchmarks.harness import Result, Row, Settings, Verdict
from benchmarks.problem import arxiv_folder, problem_in, sizes_of, ten_million_folder
from benchmarks.worker import process_environment
from gwn.errors import GWNError
from gwn.outofcore.fit import fit_files
from gwn.outofcore.propagate import propagate
from gwn.training import TrainConfig, fit

WIDTH, STEPS = 128, 5
MEMORY = 4 * 10**9
EPOCHS = {"from files": 30, "full batch": 3}


def precomputed(settings: Settings) -> Result:
    """The fastest epoch of either, validation included, in one process; propagation is timed beside it."""
    graph = arxiv_folder(settings)
    split = graph.time_split()
    assert split is not None
    problem = problem_in(graph.path, width=WIDTH, steps=STEPS)
    torch.manual_seed(0)
    model = gwn_model(problem, "sym", precompute=True)
    for old in settings.work.glob(f"propagated-{graph.name}-*/columns-*"):
        old.unlink()  # what is timed here must be done here
    started = time.perf_counter()
    features = propagate(graph, model, settings.work, memory=MEMORY)
    propagation = time.perf_counter() - started
    runs: dict[str, Callable[[TrainConfig, Any], Any]] = {
        "from files": lambda config, tell: fit_files(
            model, graph, features, split, config, memory=MEMORY, on_epoch=tell
        ),
        "full batch": lambda config, tell: fit(gwn_model(problem, "sym"), problem.graph, split, config, on_epoch=tell),
    }
    rows = []
    for name, run in runs.items():
        ends = [time.perf_counter()]
        config = TrainConfig(epochs=EPOCHS[name], stopping="none", device="cpu")
        run(config, lambda epoch, score, ends=ends: ends.append(time.perf_counter()))
        taken = [b - a for a, b in pairwise(ends)]
        rows.append({"training": name, "epoch_ms": 1e3 * min(taken), "epochs": len(taken)})
    found = {"propagation_seconds": propagation, "propagated_bytes": features.bytes}
    facts = {**sizes_of(graph), "width": WIDTH, "steps": STEPS, **found}
    return Result(facts=facts, rows=rows, verdicts=precomputed_verdicts(rows))


def precomputed_verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """How much an epoch saves."""
    taken = {row["training"]: row["epoch_ms"] for row in rows}
    what = "times faster an epoch from files than full batch"
    value = taken["full batch"] / taken["from files"]
    return [Verdict(subject="gwn-sym", what=what, value=value, sign=">=", bar=20)]


COMMAND_MEMORY = "2GB"
COMMAND_EPOCHS = 5


def ten_million(settings: Settings) -> Result:
    """Ten million edges through `gwn train`: the whole process at its peak, mapped pages included."""
    graph = ten_million_folder(settings)
    with tempfile.TemporaryDirectory(dir=settings.work) as out:
        command = [
            *(sys.executable, "-m", "gwn", "train", str(graph.path), "--model", "gwn-sym", "--precompute"),
            *("--memory", COMMAND_MEMORY, "--runs", "1", "--set", f"time={STEPS}", "--set", f"epochs={COMMAND_EPOCHS}"),
            *("--set", f"hidden_channels={WIDTH}", "--set", f"threads={settings.threads}", "--out", out, "--quiet"),
        ]
        gigabytes, seconds = _peak(command, settings.threads, Path(out) / "log")
    row = {"memory_option": COMMAND_MEMORY, "peak_gb": gigabytes, "seconds": seconds, "epochs": COMMAND_EPOCHS}
    facts = {**sizes_of(graph), "width": WIDTH, "steps": STEPS}
    return Result(facts=facts, rows=[row], verdicts=ten_million_verdicts([row]))


def ten_million_verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """In less than 8 GB."""
    what = "10 million edges through propagation and training: whole process in GB"
    return [Verdict(subject="gwn-sym", what=what, value=row["peak_gb"], sign="<", bar=8.0) for row in rows]


def _peak(command: list[str], threads: int, log: Path) -> tuple[float, float]:
    """Gigabytes and seconds of a command, from the system's own account of that one process."""
    started = time.perf_counter()
    with log.open("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=process_environment(threads))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            output.seek(0)
            last = output.read().strip().splitlines()[-1:]
            raise GWNError(f"the ten-million-edge graph could not be trained on: {' '.join(last)}")
    kilobytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return kilobytes * 1024 / 1e9, time.perf_counter() - started
