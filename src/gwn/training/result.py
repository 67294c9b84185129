"""What was measured, with everything needed to judge it and to compute it again."""

from __future__ import annotations

import math
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import torch
from scipy import stats

from gwn.errors import GWNError

FORMAT = 1
"""Of the JSON files under `runs/`; a reader refuses a newer one."""


ADDED = frozenset({"schema_sha256"})
"""Entries that records of version 0.1.0 do not have."""


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """One run: one split, one seed. `status` is "ok" or "diverged"; a diverged run has a reason and no score."""

    run: int
    seed: int
    split_hash: str
    split_sizes: tuple[int, int, int]
    status: str
    reason: str = ""
    val: float | None = None
    test: float | None = None
    val_loss: float | None = None
    best_epoch: int | None = None
    epochs: int | None = None
    seconds: float | None = None
    parameters: int = 0
    peak_memory_mib: float | None = None
    weights_sha256: str = ""
    schema_sha256: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RunResult:
        """Back from `to_json`; anything else is refused."""
        known = {field.name for field in fields(cls)}
        if odd := (data.keys() ^ known) - (ADDED - data.keys()):
            named = ", ".join(sorted(odd))
            raise GWNError(f"a run's record has missing or unknown entries ({named}); it was edited: train again")
        sizes = data["split_sizes"]
        if not isinstance(sizes, (list, tuple)) or len(sizes) != 3:
            raise GWNError(f"a run's record has split_sizes {sizes!r}; it was edited: train again")
        return cls(**{**data, "split_sizes": tuple(sizes)})


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Mean, sample standard deviation and the 95 % Student interval of a mean over runs."""

    mean: float
    sd: float | None
    low: float | None
    high: float | None
    count: int


def summarise(values: Sequence[float]) -> Summary | None:
    """The summary of some scores; None where there are none, no interval where there is one."""
    if not values:
        return None
    mean, count = float(np.mean(values)), len(values)
    if count == 1:
        return Summary(mean=mean, sd=None, low=None, high=None, count=1)
    sd = float(np.std(values, ddof=1))
    half = float(stats.t.ppf(0.975, count - 1)) * sd / math.sqrt(count)
    return Summary(mean=mean, sd=sd, low=mean - half, high=mean + half, count=count)


@dataclass(frozen=True, kw_only=True)
class Gain:
    """What a change gained over the same splits and seeds: the mean difference and its 95 % Student interval.

    kept   whether the gain is larger than its interval, so that the change is worth keeping
    """

    mean: float
    low: float | None
    high: float | None
    count: int

    @property
    def kept(self) -> bool:
        return self.low is not None and self.low > 0


def paired_gain(changed: Sequence[float], usual: Sequence[float]) -> Gain:
    """`changed - usual` pair by pair, scores of the same splits and seeds in the same order; one pair decides nothing.

    Give validation scores to choose by, test scores to report what the choice was worth.
    """
    if len(changed) != len(usual) or not usual:
        raise GWNError(f"a paired gain needs as many scores with as without; got {len(changed)} and {len(usual)}")
    differences = np.subtract(changed, usual)
    mean, count = float(differences.mean()), len(usual)
    if count == 1:
        return Gain(mean=mean, low=None, high=None, count=1)
    half = float(stats.t.ppf(0.975, count - 1) * differences.std(ddof=1) / math.sqrt(count))
    return Gain(mean=mean, low=mean - half, high=mean + half, count=count)


def summary_of_runs(runs: Sequence[RunResult]) -> dict[str, Any]:
    """Validation and test over the runs that finished, and how many did not."""
    finished = [run for run in runs if run.status == "ok"]
    val = summarise([run.val for run in finished if run.val is not None])
    test = summarise([run.test for run in finished if run.test is not None])
    return {
        "val": None if val is None else asdict(val),
        "test": None if test is None else asdict(test),
        "finished": len(finished),
        "diverged": len(runs) - len(finished),
        "seconds": sum(run.seconds or 0.0 for run in finished),
    }


def environment(device: torch.device) -> dict[str, Any]:
    """Versions and machine, as far as they can change a figure."""
    packages = ("graph-wave-networks", "torch", "torch_geometric", "numpy", "scipy", "scikit-learn")
    versions = {"python": platform.python_version()}
    for package in packages:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return {
        "versions": versions,
        "platform": f"{sys.platform}-{platform.machine()}",
        "device": str(device),
        "threads": torch.get_num_threads(),
    }
