"""What a training holds: freed blocks are kept between its steps, and given back after it."""

from __future__ import annotations

import ctypes
import sys

import pytest
import torch

from gwn.memory import freed_memory_kept, resident_bytes


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep their own rules")
def test_freed_memory_is_kept_for_the_next_step_and_given_back() -> None:
    import resource

    def faults() -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(4):
            torch.ones(20_000_000)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    with freed_memory_kept():
        faults()  # the first ones are fresh
        kept, held = faults(), resident_bytes()
    if not hasattr(ctypes.CDLL(None), "mallopt"):
        pytest.skip("this C library has no mallopt")
    assert kept < 1000  # a block of 80 MB has 20,000 pages of 4 kB, or 40 of 2 MB
    assert resident_bytes() < held - 50_000_000
