"""The largest amount of memory that a piece of work held."""

from __future__ import annotations

import sys
from types import TracebackType

import torch


class PeakMemory:
    """`with PeakMemory(device) as peak: ...`, then `peak.mebibytes`: of the GPU, or of this process on a CPU.

    Linux lets a process reset its high-water mark, so each run has its own; elsewhere the mark is that of the process
    so far, and on Windows it is unknown (None).
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.mebibytes: float | None = None

    def __enter__(self) -> PeakMemory:
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self.device)
        elif sys.platform == "linux":
            try:
                with open("/proc/self/clear_refs", "w") as handle:
                    handle.write("5")
            except OSError:  # not permitted in some containers: the mark is then that of the whole process
                return self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.device.type == "cuda":
            self.mebibytes = torch.cuda.max_memory_allocated(self.device) / 2**20
        else:
            self.mebibytes = _process_peak()


def _process_peak() -> float | None:
    if sys.platform == "linux":
        with open("/proc/self/status") as handle:
            for line in handle:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 1024)
