"""How much memory may be used: what the user says, and what this process already holds.

Counted is anonymous memory: what the process has allocated and the system cannot take back. Pages of mapped files are
not counted, because the system drops them whenever something else needs the room; they make work faster, not possible.
"""

from __future__ import annotations

import re
import sys

from gwn.errors import GWNError

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
USUAL_PROCESS = 300_000_000
"""Python with PyTorch, where the system does not say how much this process holds."""


def parse_memory(text: str) -> int:
    """Bytes from `4GB`, `512MiB`, `1.5 gb`; a bare number is bytes."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    unit = None if found is None else UNITS.get(found.group(2).lower())
    if found is None or unit is None or float(found.group(1)) <= 0:
        raise GWNError(f"memory takes a number and a unit, for example 4GB or 512MiB; got {text!r}")
    return int(float(found.group(1)) * unit)


def say_memory(count: float) -> str:
    """`1.5 GB`, for messages."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"


def anonymous_bytes() -> int:
    """What this process holds besides mapped files."""
    if sys.platform == "linux":
        with open("/proc/self/status") as handle:
            for line in handle:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1]) * 1024
    return USUAL_PROCESS


def left_of(memory: int) -> int:
    """What is left of a budget beside what the process holds already; may be negative."""
    return memory - anonymous_bytes()
