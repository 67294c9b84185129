"""What a training frees stays with the process, and goes back at its end."""

from __future__ import annotations

import contextlib
import ctypes
import sys
import time

import pytest
import torch

import gwn.memory
from gwn.memory import freed_blocks_kept, resident_bytes

BLOCK = 200_000_000
"""Bytes, far above what the rest of a test takes meanwhile."""

needs_glibc = pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"), reason="only glibc is told so"
)


def take_and_free() -> None:
    torch.ones(BLOCK // 4)


@needs_glibc
def test_a_freed_block_stays_until_the_end() -> None:
    before = resident_bytes()
    with freed_blocks_kept():
        take_and_free()
        inside = resident_bytes()
    after = resident_bytes()
    take_and_free()
    assert inside - before > BLOCK / 2
    assert after - before < BLOCK / 2
    assert resident_bytes() - before < BLOCK / 2


@needs_glibc
def test_it_ends_with_an_error_too() -> None:
    before = resident_bytes()
    with contextlib.suppress(ZeroDivisionError), freed_blocks_kept():
        take_and_free()
        raise ZeroDivisionError
    assert resident_bytes() - before < BLOCK / 2


@needs_glibc
def test_what_grows_goes_back_after_an_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gwn.memory, "GROWN", 1.0)  # the process may be large already
    with freed_blocks_kept() as after_epoch:
        after_epoch()
        first = resident_bytes()
        take_and_free()
        grown = resident_bytes()
        time.sleep(gwn.memory.BETWEEN_LOOKS)
        after_epoch()
        assert grown - first > BLOCK / 2
        assert resident_bytes() - first < BLOCK / 2
