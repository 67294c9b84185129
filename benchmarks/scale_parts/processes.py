"""A training step on the arxiv-shaped graph by two processes on two cores, against one process on one core."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from importlib.util import find_spec

from benchmarks.process_worker import ProcessAnswer, ProcessJob
from benchmarks.scale_part import PartResult, ScaleSettings, sizes_of
from benchmarks.targets import Verdict
from gwn.errors import GWNError

PROCESSES = 2
BAR = 1.5


def measure_processes(settings: ScaleSettings) -> PartResult:
    """Both take turns in one run, one thread each; METIS where it is installed."""
    graph = settings.arxiv()
    partition = "contiguous" if find_spec("pymetis") is None else "metis"
    rows, verdicts = [], []
    for laplacian in ("sym", "fa"):
        settings.say(f"scale: GWN-{laplacian} in {PROCESSES} processes")
        job = ProcessJob(
            folder=str(graph.path),
            laplacian=laplacian,
            partition=partition,
            width=settings.width,
            steps=settings.steps,
            seconds=settings.seconds,
        )
        answer = measure_processes_of(job, PROCESSES)
        megabytes = answer.halo_rows * settings.width * 4 / 1e6
        rows.append(
            {"model": f"gwn-{laplacian}", "partition": partition, **asdict(answer), "mb_an_exchange": megabytes}
        )
        what = f"{PROCESSES} processes on {PROCESSES} cores, times as fast as one on one"
        verdicts.append(
            Verdict(subject=f"gwn-{laplacian}", what=what, value=answer.one_ms / answer.team_ms, sign=">=", bar=BAR)
        )
    cores = os.cpu_count() or 1
    notes = () if cores >= PROCESSES else (f"this machine has {cores} core: the processes take turns on it",)
    facts = {**sizes_of(graph), "width": settings.width, "steps": settings.steps, "processes": PROCESSES}
    return PartResult(facts=facts, rows=tuple(rows), verdicts=tuple(verdicts), notes=notes)


def measure_processes_of(job: ProcessJob, processes: int, timeout: float = 3600.0) -> ProcessAnswer:
    """The answer of a team that torchrun starts."""
    team = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    finished = subprocess.run(
        [sys.executable, *team, "-m", "benchmarks.process_worker", json.dumps(asdict(job))],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
    )
    lines = finished.stdout.strip().splitlines()
    if finished.returncode != 0 or not lines:
        last = [line for line in finished.stderr.splitlines() if "Error" in line][-1:] or ["no answer"]
        raise GWNError(f"{processes} processes on {job.folder} could not be measured: {last[0]}")
    return ProcessAnswer(**json.loads(lines[-1]))
