"""Fixtures for every test: the benchmark datasets where they are, a reason to skip where they are not."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest
import torch
from hypothesis import settings

import gwn.memory
import gwn.sparse
from seeds import SEED, reseed

FRESH_PROCESS = 400_000_000
"""What Python with PyTorch and this package holds, about."""

torch.set_num_threads(int(os.environ.get("GWN_TEST_THREADS", "1")))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests begin first, so that no worker is left alone with one at the end; any order gives the same results."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(autouse=True)
def seeded() -> None:
    """Every test draws the same random numbers, whatever ran before it and on whichever worker it runs."""
    reseed()


@pytest.fixture(autouse=True)
def as_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker holds what hundreds of tests have loaded; `--memory` counts what a command adds to a fresh process."""
    resident = gwn.memory.resident_bytes
    before = resident()
    monkeypatch.setattr(gwn.memory, "resident_bytes", lambda: FRESH_PROCESS + max(0, resident() - before))


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The folder of the benchmark datasets."""
    given = os.environ.get("GWN_DATA")
    if not given:
        pytest.skip("GWN_DATA is not set: this test needs the benchmark datasets")
    return Path(given).resolve()


settings.register_profile("gwn", deadline=None, max_examples=30, database=None, derandomize=SEED == 0)
settings.load_profile("gwn")
if SEED:
    hypothesis.core.global_force_seed = SEED  # type: ignore[assignment]


@pytest.fixture(params=["csr", "blocks", "compiled"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The test runs on CSR kernels, on the fallback for devices without them, in blocks of three edges, and on the
    compiled kernels that large products have."""
    if request.param == "compiled":
        pytest.importorskip("numba")
        monkeypatch.setattr(gwn.kernels, "SMALLEST", 0)
    if request.param == "blocks":
        monkeypatch.setattr(gwn.sparse, "has_csr_kernels", lambda device: False)
        monkeypatch.setattr(gwn.sparse, "BLOCK_EDGES", 3)
    return str(request.param)
