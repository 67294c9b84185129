"""How much memory a piece of work held at its peak, and how much it may hold: what the user says, less what is taken.

Counted for the latter is what `top` shows for the process: what it has allocated, and the pages of libraries and mapped
files that are in memory. Large files are therefore read and not mapped, see `gwn.data.folders.arrays`.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

import torch

from gwn.errors import GWNError, require_between


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


_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -3, -4
"""Names of `malloc.h`: what `mallopt` takes."""
GROWN = 1.25
"""Times what an epoch left behind: from there on what was freed is scattered too much to be of use."""
BETWEEN_LOOKS = 0.1


def _glibc() -> ctypes.CDLL | None:
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    return library if hasattr(library, "gnu_get_libc_version") else None


def give_back_freed_blocks() -> None:
    """What is free goes back to the system, where the C library can be asked to."""
    if (library := _glibc()) is not None:
        library.malloc_trim(0)


@contextmanager
def freed_blocks_kept(wanted: bool = True) -> Iterator[Callable[[], None]]:
    """What a training step frees stays with the process for the next one; call what this yields after every epoch.

    The C library of Linux (glibc) maps every block above 32 MB for itself and gives it back when it is freed; the
    system must then clear the same memory anew in every step, which is two fifths of a step with ten million edges.
    In here all blocks come from the heap, which is not cut back. A block of PyTorch begins at a multiple of 64 bytes,
    so it may not fit where one of its size was freed: where the process has grown, what is free goes back after all.
    Afterwards all that is free goes back, and large blocks for which the heap has no room are mapped again. Other C
    libraries have no such rule, or none that can be set: nothing is done there.
    """
    library = _glibc() if wanted else None
    if library is None:
        yield lambda: None
        return
    after_an_epoch, looked = 0, 0.0

    def look() -> None:
        nonlocal after_an_epoch, looked
        if time.monotonic() - looked < BETWEEN_LOOKS:
            return
        held, looked = resident_bytes(), time.monotonic()
        if after_an_epoch == 0:
            after_an_epoch = held
        elif held > GROWN * after_an_epoch:
            library.malloc_trim(0)
            after_an_epoch = 0

    library.mallopt(_MMAP_MAX, 0)
    library.mallopt(_TRIM_THRESHOLD, -1)
    try:
        yield look
    finally:
        # What glibc's own moving thresholds come to in a process that has freed a large block.
        library.mallopt(_MMAP_MAX, 65536)
        library.mallopt(_MMAP_THRESHOLD, 32 << 20)
        library.mallopt(_TRIM_THRESHOLD, 64 << 20)
        library.malloc_trim(0)


UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
USUAL_PROCESS = 500_000_000
"""Python with PyTorch, where the system does not say how much this process holds."""


def parse_memory(text: str) -> int:
    """Bytes from `4GB`, `512MiB`, `1.5 gb`; a bare number is bytes."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    unit = None if found is None else UNITS.get(found.group(2).lower())
    if found is None or unit is None or float(found.group(1)) <= 0:
        raise GWNError(f"memory takes a number and a unit, for example 4GB or 512MiB; got {text!r}")
    require_between("memory", float(found.group(1)) * unit, 1, 1e18)
    return int(float(found.group(1)) * unit)


def say_memory(count: float) -> str:
    """`1.5 GB`, for messages."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"


def resident_bytes() -> int:
    """What this process holds in memory, its libraries included."""
    if sys.platform == "linux":
        with open("/proc/self/status") as handle:
            for line in handle:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
    return USUAL_PROCESS


def free_bytes() -> int:
    """What the system has left for new work; all that the machine has where it does not say, no bound on Windows."""
    try:
        with open("/proc/meminfo") as handle:
            return next(int(line.split()[1]) * 1024 for line in handle if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        names = getattr(os, "sysconf_names", {})
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if "SC_PHYS_PAGES" in names else sys.maxsize


def left_of(memory: int) -> int:
    """What is left of a budget beside what the process holds in use; may be negative.

    What was freed and still counts as held goes back first: how much that is depends on where blocks happened to lie.
    """
    give_back_freed_blocks()
    return memory - resident_bytes()


def budget(memory: int | None) -> int:
    """The bytes that the process may hold; None: a gibibyte more than it does, whatever else a notebook has loaded."""
    return resident_bytes() + (1 << 30) if memory is None else memory


def require_left(what: str, needed: int, memory: int, advice: str = "") -> int:
    """What is left of the memory, refused where it is less than `needed`, with the number that would do."""
    left = left_of(memory)
    if left < needed:
        total = memory - left + needed
        raise GWNError(
            f"{what} needs about {say_memory(total)} with this process, and {say_memory(memory)} were allowed; "
            f"{advice}use --memory {-(-total // 10**6) + 1}MB or more"
        )
    return left
