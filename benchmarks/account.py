"""`python -m benchmarks.account OUT MODULE ...`: run a module as `python -m` does, then write what it took to OUT.

The process tells of itself: what a parent learns of a child's peak includes the parent's own size.
"""

from __future__ import annotations

import json
import resource
import runpy
import sys
import time
from pathlib import Path


def _numbers(path: str) -> dict[str, int]:
    """The lines `name: number ...` of a file in /proc."""
    lines = (line.split() for line in Path(path).read_text().splitlines())
    return {words[0].rstrip(":"): int(words[1]) for words in lines if len(words) > 1 and words[1].isdecimal()}


def account(started: float) -> dict[str, float]:
    """Seconds, the peak of resident memory, and bytes through read and write calls, from the disk or the cache."""
    usage, moved = resource.getrusage(resource.RUSAGE_SELF), _numbers("/proc/self/io")
    return {
        "seconds": time.perf_counter() - started,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_gb": _numbers("/proc/self/status")["VmHWM"] * 1024 / 1e9,
        "read_gb": moved["rchar"] / 1e9,
        "written_gb": moved["wchar"] / 1e9,
    }


if __name__ == "__main__":
    began = time.perf_counter()
    _, out, module, *arguments = sys.argv
    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        Path(out).write_text(json.dumps(account(began)))
