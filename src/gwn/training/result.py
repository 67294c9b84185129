"""What was measured, with everything needed to judge it and to compute it again."""

from __future__ import annotations

import math
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.special import ndtri, stdtrit

from gwn.errors import MOST_RUNS, GWNError
from gwn.io import require_fields
from gwn.training.outputs import summary_of_details

FORMAT = 1
"""Of the JSON files under `runs/`; a reader refuses a newer one."""


ADDED = frozenset(
    ("schema_sha256", "target_mean", "target_spread", "temperature", "loss_fell", "details", "prior", "shift")
)
"""Entries that a record need not have: version 0.1.0 and figures do without."""


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """One run: one split, one seed. `status` is "ok" or "diverged"; a diverged run has a reason and no score.

    target_mean, target_spread   for numbers: the network's output times the spread, plus the mean, is the answer
    temperature                  for classes: what logits are divided by before the softmax, learnt on validation
    prior                        shares of the classes that the answers were corrected for, see `gwn.training.prior`
    shift                        what uncorrected answers lose by label shift, where there is a noticeable one
    loss_fell                    whether the validation loss was ever below that of the first epoch
    details                      how good the answers on validation ("val") and "test" are, see `Outputs.details`
    """

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
    target_mean: float | None = None
    target_spread: float | None = None
    temperature: float | None = None
    loss_fell: bool | None = None
    details: dict[str, Any] | None = None
    prior: dict[str, Any] | None = None
    shift: dict[str, Any] | None = None

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
        sizes = list(sizes) if isinstance(sizes, tuple) else sizes
        if not isinstance(sizes, list) or len(sizes) != 3:
            raise GWNError(f"a run's record has split_sizes {sizes!r}; it was edited: train again")
        require_fields({**data, "split_sizes": sizes}, cls, "a run's record")
        if not 0 <= data["run"] < MOST_RUNS:
            raise GWNError(
                f"a run's record has run {str(data['run'])[:40]}, and runs are 0 ... {MOST_RUNS - 1}; it was edited: "
                f"train again"
            )
        return cls(**{**data, "split_sizes": tuple(sizes)})


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Mean, sample standard deviation and the 95 % interval of a mean over runs."""

    mean: float
    sd: float | None
    low: float | None
    high: float | None
    count: int


def summarise(values: Sequence[float], shares_of: Sequence[int] = ()) -> Summary | None:
    """The summary of some scores; None where there are none, no interval where there is one.

    shares_of   how many nodes each score is a share of; none: the scores have no bounds, and the interval is Student's

    Shares m lie in [0, 1], and so does their interval, which is Wilson's with the spread s of the n runs in the place
    of the binomial one, but never narrower than that of all nodes together, N:

        (m + q / 2 ± sqrt(q m (1 - m) + q² / 4)) / (1 + q),   q = max(t² s² / (n m (1 - m)), z² / N)

    It was chosen by its coverage on simulated runs: 3, 5 and 10 of them, 20 to 2000 nodes each, means of 0.8 to 0.998,
    the same share in all or one that differs from run to run. It is as wide as Student's at 0.8 and covers as often;
    near 1 it still covers, where Student's interval (cut at 1 or not), Student on logits and the bootstrap miss, as
    they have no width at all where every run is perfect.
    """
    if not values:
        return None
    mean, count = float(np.mean(values)), len(values)
    if count == 1:
        return Summary(mean=mean, sd=None, low=None, high=None, count=1)
    sd = float(np.std(values, ddof=1))
    half = float(stdtrit(count - 1, 0.975)) * sd / math.sqrt(count)
    low, high = _wilson(mean, half, sum(shares_of)) if shares_of else (mean - half, mean + half)
    return Summary(mean=mean, sd=sd, low=low, high=high, count=count)


def _wilson(mean: float, half: float, nodes: int) -> tuple[float, float]:
    """Wilson's interval of a share; `half` of Student's says how many independent nodes it is worth."""
    variance = mean * (1 - mean)
    q = max(half**2 / variance if variance > 0 else 0.0, float(ndtri(0.975)) ** 2 / max(1, nodes))
    centre, reach = (mean + q / 2) / (1 + q), math.sqrt(q * variance + q * q / 4) / (1 + q)
    return min(mean, max(0.0, centre - reach)), max(mean, min(1.0, centre + reach))  # rounding, where all are right


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
    half = float(stdtrit(count - 1, 0.975) * differences.std(ddof=1) / math.sqrt(count))
    return Gain(mean=mean, low=mean - half, high=mean + half, count=count)


def _at_most_one(summary: Summary) -> dict[str, Any]:
    """As a plain dictionary; no score is above one, R² neither, so no interval ends there."""
    return {**asdict(summary), "high": None if summary.high is None else min(1.0, summary.high)}


def summary_of_runs(runs: Sequence[RunResult], *, shares: bool = True) -> dict[str, Any]:
    """Validation and test over the runs that finished, and how many did not.

    shares   whether the scores lie in [0, 1], as accuracy and the area under a curve do
    """
    finished = [run for run in runs if run.status == "ok"]
    scored = {
        "val": [(run.val, run.split_sizes[1]) for run in finished if run.val is not None],
        "test": [(run.test, run.split_sizes[2]) for run in finished if run.test is not None],
    }
    val, test = (
        summarise([score for score, _ in part], [nodes for _, nodes in part] if shares else ())
        for part in scored.values()
    )
    return {
        "val": None if val is None else _at_most_one(val),
        "test": None if test is None else _at_most_one(test),
        "finished": len(finished),
        "diverged": len(runs) - len(finished),
        "seconds": sum(run.seconds or 0.0 for run in finished),
        "details": summary_of_details([run.to_json() for run in runs]),
    }


def processor_name() -> str:
    """What the processor calls itself; its instructions decide the last bits of a sum."""
    described = Path("/proc/cpuinfo")
    lines = described.read_text(errors="replace").splitlines() if described.exists() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor())


def environment(device: torch.device) -> dict[str, Any]:
    """Versions and machine, as far as they can change a figure."""
    packages = ("graph-wave-networks", "torch", "torch_geometric", "numpy", "scipy", "scikit-learn", "numba")
    versions = {"python": platform.python_version()}
    for package in packages:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return {
        "versions": versions,
        "platform": f"{sys.platform}-{platform.machine()}",
        "processor": ", ".join(filter(None, (processor_name(), torch.backends.cpu.get_cpu_capability()))),
        "device": str(device),
        "threads": torch.get_num_threads(),
    }
