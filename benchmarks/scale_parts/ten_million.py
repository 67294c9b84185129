"""Ten million edges through the installed command: generated, propagated, trained, in less than 8 GB."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.scale_part import PartResult, ScaleSettings, sizes_of
from benchmarks.targets import Verdict
from gwn.errors import GWNError

MEMORY = "2GB"
EPOCHS = 5
BAR = 8.0


def measure_ten_million(settings: ScaleSettings) -> PartResult:
    """The whole process at its peak, mapped pages included: more than what it could not do without."""
    graph = settings.ten_million()
    with tempfile.TemporaryDirectory(dir=settings.work) as out:
        command = [
            *(sys.executable, "-m", "gwn", "train", str(graph.path), "--model", "gwn-sym", "--precompute"),
            *("--memory", MEMORY, "--runs", "1", "--set", f"time={settings.steps}", "--set", f"epochs={EPOCHS}"),
            *("--set", f"hidden_channels={settings.width}", "--set", f"threads={settings.threads}"),
            *("--out", out, "--quiet"),
        ]
        gigabytes, seconds = _peak(command, settings.threads, Path(out) / "log")
    row = {"memory_option": MEMORY, "peak_gb": gigabytes, "seconds": seconds, "epochs": EPOCHS}
    what = "10 million edges through propagation and training: whole process in GB"
    verdict = Verdict(subject="gwn-sym", what=what, value=gigabytes, sign="<", bar=BAR)
    facts = {**sizes_of(graph), "width": settings.width, "steps": settings.steps}
    return PartResult(facts=facts, rows=(row,), verdicts=(verdict,))


def _peak(command: list[str], threads: int, log: Path) -> tuple[float, float]:
    """Gigabytes and seconds of a command, from the system's own account of that one process."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    started = time.perf_counter()
    with log.open("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            output.seek(0)
            last = output.read().strip().splitlines()[-1:]
            raise GWNError(f"the ten-million-edge graph could not be trained on: {' '.join(last)}")
    kilobytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return kilobytes * 1024 / 1e9, time.perf_counter() - started
