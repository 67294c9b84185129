"""`gwn train --processes N`: the same as torchrun on one machine, with one line of text where it fails."""

from __future__ import annotations

import logging
import os
import signal
import sys
import tempfile
import uuid
from collections.abc import Sequence

from torch.distributed.elastic.multiprocessing.api import DefaultLogsSpecs, SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from gwn.errors import GWNError

LAUNCHED = "GWN_LAUNCHED"
"""Set for the processes that `launch` starts: it tells what went wrong, so they need not all do so."""

BROKEN = 75
"""The exit code of a process that ended because another one did."""

SAID = 2
"""The exit code of a process that has told its reason."""


def launch(processes: int, arguments: Sequence[str]) -> None:
    """Run `gwn` with these arguments in `processes` processes on this machine, which form a team."""
    if processes < 1:
        raise GWNError(f"--processes must be at least 1; got {processes}")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores // processes)))
    os.environ[LAUNCHED] = "1"
    logging.getLogger("torch.distributed").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="gwn-") as folder:
        config = LaunchConfig(
            min_nodes=1,
            max_nodes=1,
            nproc_per_node=processes,
            run_id=uuid.uuid4().hex,
            rdzv_backend="c10d",
            rdzv_endpoint="localhost:0",
            local_addr="localhost",
            max_restarts=0,
            logs_specs=DefaultLogsSpecs(log_dir=folder),
        )
        try:
            elastic_launch(config, sys.executable)("-m", "gwn", *arguments)
        except ChildFailedError as error:
            _explain(error.failures, processes)
        except SignalException as error:
            if error.sigval == signal.SIGINT:
                raise KeyboardInterrupt from None
            raise GWNError(f"stopped by {error.sigval.name}; {CONTINUE}") from None


CONTINUE = "what was finished is kept, and the same command goes on from the last checkpoint"


def _explain(failures: dict[int, ProcessFailure], processes: int) -> None:
    """Turn what happened to the processes into one line, unless one of them has said it."""
    first = {rank: failure.exitcode for rank, failure in sorted(failures.items())}
    if SAID in first.values():
        sys.exit(SAID)
    causes = {rank: code for rank, code in first.items() if code not in (BROKEN, -signal.SIGTERM)} or first
    rank, code = next(iter(causes.items()))
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    hint = ", perhaps for lack of memory" if code == -signal.SIGKILL else ""
    raise GWNError(f"process {rank} of {processes} {how}{hint}, so all were stopped; {CONTINUE}")
