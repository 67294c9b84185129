"""A comparison on disk: what it is, what was tried, how much time it took; sealed, and written after every task."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gwn.compare.search import Trial
from gwn.errors import GWNError, refuse_newer
from gwn.io import content_key, is_sealed, read_json, safe_name, write_json
from gwn.training.predict import COMPARE_AGAIN

FORMAT = 1


@dataclass(kw_only=True)
class Record:
    """Everything that the same command needs to go on.

    identity   what decides what the trials mean: the data, how it is split, the models, what is fixed
    spent      seconds, those of interrupted calls included
    trials     model -> its trials that are finished
    finals     model -> how many final runs of it are on the disk, and the number of the trial whose settings they have
    result     the verdict, None while there is none
    asked      trials and runs that it was given
    """

    path: Path
    identity: Mapping[str, Any]
    spent: float = 0.0
    trials: dict[str, list[Trial]] = field(default_factory=dict)
    finals: dict[str, dict[str, int]] = field(default_factory=dict)
    result: dict[str, Any] | None = None
    asked: dict[str, int] = field(default_factory=dict)

    @classmethod
    def open(cls, root: Path, identity: Mapping[str, Any]) -> Record:
        """The record of this comparison, new or continued."""
        name = f"{safe_name(identity['dataset']['name'])}-compare-{content_key(identity)}"
        path = root / name / "comparison.json"
        if not path.exists():
            return cls(path=path, identity=identity)
        data = read_json(path, again=COMPARE_AGAIN)
        refuse_newer(path, data.get("format"), FORMAT)
        if not is_sealed(path) or data.get("identity") != json.loads(json.dumps(identity)):
            raise GWNError(f"{path} was cut or edited; restore it, or {COMPARE_AGAIN}")
        return cls(
            path=path,
            identity=identity,
            spent=float(data["spent"]),
            trials={model: [Trial.from_json(trial) for trial in trials] for model, trials in data["trials"].items()},
            finals=dict(data.get("finals", {})),  # records of before have none
            result=data["result"],
            asked=dict(data.get("asked", {})),
        )

    def write(self, spent: float, trials: Mapping[str, Sequence[Trial]]) -> None:
        """Keep what is finished."""
        self.spent = spent
        whole = {
            "format": FORMAT,
            "identity": dict(self.identity),
            "spent": round(spent, 3),
            "trials": {model: [trial.to_json() for trial in found] for model, found in trials.items()},
            "finals": self.finals,
            "result": self.result,
            "asked": self.asked,
        }
        write_json(self.path, whole)
