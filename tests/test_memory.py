"""What a training frees stays with the process, and goes back at its end."""

from __future__ import annotations

import contextlib
import ctypes
import sys
import time

import pytest
import torch

import gwn.memory
from gwn.memory import freed_blocks_kept, give_back_freed_blocks, resident_bytes

BLOCK = 200_000_000
"""Bytes, far above what the rest of a test takes meanwhile."""

needs_glibc = pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"), reason="only glibc is told so"
)


@pytest.fixture
def before() -> int:
    """What the process holds; nothing that is free, which a block might be taken from without growing it."""
    give_back_freed_blocks()
    return resident_bytes()


def take_and_free() -> None:
    torch.ones(BLOCK // 4)


@needs_glibc
def test_a_freed_block_stays_until_the_end(before: int) -> None:
    with freed_blocks_kept():
        take_and_free()
        inside = resident_bytes()
    assert inside - before > BLOCK / 2
    assert resident_bytes() - before < BLOCK / 2


@needs_glibc
def test_it_ends_with_an_error_too(before: int) -> None:
    with contextlib.suppress(ZeroDivisionError), freed_blocks_kept():
        take_and_free()
        raise ZeroDivisionError
    assert resident_bytes() - before < BLOCK / 2


@needs_glibc
def test_what_grows_goes_back_after_an_epoch(monkeypatch: pytest.MonkeyPatch, before: int) -> None:
    monkeypatch.setattr(gwn.memory, "GROWN", 1.0)  # the process may be large already
    with freed_blocks_kept() as after_epoch:
        after_epoch()
        take_and_free()
        grown = resident_bytes()
        time.sleep(gwn.memory.BETWEEN_LOOKS)
        after_epoch()
        assert grown - before > BLOCK / 2
        assert resident_bytes() - before < BLOCK / 2
