"""`gwn train --processes N`: N processes on this machine that nobody else can reach.

They meet in a file of a private folder and talk over the loopback interface, so nothing listens to a network. Where one
of them fails, all end, with one line that names it; and all end when this process does, however it ends.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gwn.errors import GWNError

MEETING, RANK, SIZE, LAUNCHER = "GWN_MEETING", "GWN_RANK", "GWN_PROCESSES", "GWN_LAUNCHER"
"""What a process is told about itself: where it meets the others, its number, how many there are, who started it."""

LOST = 75
"""The exit code of a process that ended because another one did."""

SAID = 2
"""The exit code of a process that has told its reason."""

CONTINUE = "what was finished is kept, and the same command goes on from the last checkpoint"
GRACE = 5.0
"""Seconds for a process to end by itself, before it is made to."""

PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, kw_only=True)
class Place:
    """Which of how many processes this one is, and the file in which they meet."""

    rank: int
    size: int
    meeting: Path


def started_here() -> Place | None:
    """The place of a process that `launch` started, None for any other."""
    if MEETING not in os.environ:
        return None
    return Place(rank=int(os.environ[RANK]), size=int(os.environ[SIZE]), meeting=Path(os.environ[MEETING]))


def started_by_torchrun() -> bool:
    """Whether PyTorch's own launcher started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def launch(processes: int, arguments: Sequence[str]) -> None:
    """Run `gwn` with these arguments in `processes` processes, which share the graph."""
    if processes < 1:
        raise GWNError(f"--processes must be at least 1; got {processes}")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    started: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory(prefix="gwn-") as folder, _stopped_by_signals():  # the folder is ours alone
        shared = {
            "OMP_NUM_THREADS": str(max(1, cores // processes)),
            **os.environ,
            **_on_loopback(),
            MEETING: str(Path(folder) / "meeting"),
            SIZE: str(processes),
            LAUNCHER: str(os.getpid()),
        }
        try:
            for rank in range(processes):
                # A session of its own: Ctrl-C is heard here, and told once.
                command = [sys.executable, "-m", "gwn", *arguments]
                started.append(subprocess.Popen(command, env={**shared, RANK: str(rank)}, start_new_session=True))
            codes = _wait(started)
        finally:
            _stop(started)
    if any(codes.values()):
        _explain(codes, processes)


def _on_loopback() -> dict[str, str]:
    """Settings that keep gloo and NCCL on the interface which only this machine sees: lo, on a Mac lo0."""
    names = [name for _, name in socket.if_nameindex() if name.rstrip("0123456789") == "lo"]
    return {f"{library}_SOCKET_IFNAME": names[0] for library in ("GLOO", "NCCL") if names}


def _wait(started: Sequence[subprocess.Popen[bytes]]) -> dict[int, int]:
    """The exit codes by rank: of all, or of those that ended until the cause of a failure was known."""
    deadline: float | None = None
    while True:
        codes = {rank: code for rank, process in enumerate(started) if (code := process.poll()) is not None}
        failed = [code for code in codes.values() if code != 0]
        if failed and deadline is None:
            deadline = time.monotonic() + GRACE
        # A process that lost another one does not know why; the other may be about to say it.
        known = any(code != LOST for code in failed) or (deadline is not None and time.monotonic() > deadline)
        if known or len(codes) == len(started):
            return codes
        time.sleep(0.05)


def _stop(started: Sequence[subprocess.Popen[bytes]]) -> None:
    """End those that still run."""
    for process in started:
        if process.poll() is None:
            process.terminate()
    deadline = time.monotonic() + GRACE
    for process in started:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _explain(codes: dict[int, int], processes: int) -> None:
    """Turn what happened to the processes into one line, unless one of them has said it."""
    failed = {rank: code for rank, code in codes.items() if code != 0}
    if SAID in failed.values():
        sys.exit(SAID)
    causes = {rank: code for rank, code in failed.items() if code != LOST} or failed
    rank, code = next(iter(causes.items()))
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    hint = ", perhaps for lack of memory" if code == -signal.SIGKILL else ""
    raise GWNError(f"process {rank} of {processes} {how}{hint}, so all were stopped; {CONTINUE}")


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Inside, a polite request to end becomes an error, so that the processes are ended first."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: Any) -> None:
        raise GWNError(f"stopped by {signal.Signals(number).name}; {CONTINUE}")

    polite = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, stop) for number in polite}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def ended_with_launcher() -> Iterator[None]:
    """Inside, this process ends when the one that started it is gone, even where that was killed."""
    launcher, done = int(os.environ[LAUNCHER]), threading.Event()
    if sys.platform == "linux":  # at once; elsewhere, and should this fail, within a second
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    def watch() -> None:
        while not done.wait(0.5):
            if os.getppid() != launcher:
                os._exit(LOST)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join()
