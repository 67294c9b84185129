"""A measurement in a process of its own, whose memory no earlier work has touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from gwn.errors import GWNError


def run_alone(
    module: str, job: Mapping[str, Any], *, what: str, threads: int, live: bool = True, timeout: float = 1800.0
) -> str:
    """What `python -m MODULE` prints when it is given `job` as JSON.

    live   the C library gives every freed tensor back at once, so that the peak is what was in use: figures repeat to
           half a per cent, where its own thresholds add or leave out a tensor or two. False: as any user's process
           is, which is the question where the memory of the whole process is meant.
    """
    allocator = {"MALLOC_MMAP_THRESHOLD_": "131072"} if live else {}
    limits = {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    finished = subprocess.run(
        [sys.executable, "-m", module],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, **limits, **allocator},
    )
    if finished.returncode != 0:
        last = finished.stderr.strip().splitlines()[-1:] or [f"ended with code {finished.returncode}"]
        raise GWNError(f"{what} could not be measured: {last[0]}")
    return finished.stdout
