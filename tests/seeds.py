"""The seed of every random number in the tests: `GWN_TEST_SEED`, another one for another draw of all of them."""

from __future__ import annotations

import os
import random

import numpy as np
import torch

SEED = int(os.environ.get("GWN_TEST_SEED", "0"))


def seed(number: int = 0) -> int:
    """Seed `number` of this run of the tests; no two runs have one in common."""
    return 1000 * SEED + number


def reseed(number: int = 0) -> None:
    """Begin the global random numbers anew."""
    torch.manual_seed(seed(number))
    np.random.seed(seed(number))
    random.seed(seed(number))


def generator(number: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed(number))
