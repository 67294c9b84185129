"""Fixtures for every test: the benchmark datasets where they are, a reason to skip where they are not."""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import settings

import gwn.sparse

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def seeded() -> None:
    """Every test draws the same random numbers, whatever ran before it and on whichever worker it runs."""
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The folder of the benchmark datasets."""
    given = os.environ.get("GWN_DATA")
    if not given:
        pytest.skip("GWN_DATA is not set: this test needs the benchmark datasets")
    return Path(given).resolve()


settings.register_profile("gwn", deadline=None, max_examples=30, database=None, derandomize=True)
settings.load_profile("gwn")


@pytest.fixture(params=["csr", "blocks"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The test runs twice: on CSR kernels, and on the fallback for devices without them, in blocks of three edges."""
    if request.param == "blocks":
        monkeypatch.setattr(gwn.sparse, "has_csr_kernels", lambda device: False)
        monkeypatch.setattr(gwn.sparse, "BLOCK_EDGES", 3)
    return str(request.param)
