"""Optional logs of a search for TensorBoard and Weights & Biases: one point a trial."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Protocol

from optuna.trial import FrozenTrial

from gwn.errors import require_extra
from gwn.registry import lookup


class Tracker(Protocol):
    """Somewhere to send finished trials to."""

    def log(self, trial: FrozenTrial, best: float | None) -> None: ...

    def close(self) -> None: ...


class TensorBoardTracker:
    """Event files in `folder/tensorboard/STUDY`; look at them with `tensorboard --logdir folder/tensorboard`."""

    def __init__(self, study: str, folder: Path) -> None:
        require_extra("--log tensorboard", "tensorboard")
        self._writer = import_module("torch.utils.tensorboard").SummaryWriter(str(folder / "tensorboard" / study))

    def log(self, trial: FrozenTrial, best: float | None) -> None:
        for name, value in _numbers(trial, best).items():
            self._writer.add_scalar(name, value, trial.number)
        self._writer.add_text("trial", _line(trial), trial.number)

    def close(self) -> None:
        self._writer.close()


class WandbTracker:
    """One run a study, offline in `folder/wandb` unless WANDB_MODE says otherwise; `wandb sync` sends it later."""

    def __init__(self, study: str, folder: Path) -> None:
        wandb = require_extra("--log wandb", "wandb")
        folder.mkdir(parents=True, exist_ok=True)
        self._run = wandb.init(
            project="graph-wave-networks",
            name=study,
            dir=str(folder),
            mode=os.environ.get("WANDB_MODE", "offline"),
            settings=wandb.Settings(silent=True),
        )

    def log(self, trial: FrozenTrial, best: float | None) -> None:
        self._run.log({**_numbers(trial, best), "state": trial.state.name, **trial.params, "trial": trial.number})

    def close(self) -> None:
        self._run.finish()


TRACKERS: dict[str, Callable[[str, Path], Tracker]] = {"tensorboard": TensorBoardTracker, "wandb": WandbTracker}


def open_tracker(name: str, study: str, folder: Path) -> Tracker:
    """The tracker `name`, or one line that says which extra is missing."""
    return lookup("log", name, TRACKERS)(study, folder)


def _numbers(trial: FrozenTrial, best: float | None) -> dict[str, float]:
    settings = {
        f"settings/{name}": float(value)
        for name, value in trial.params.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    scores = {"validation": trial.value, "best": best}
    return {**{name: value for name, value in scores.items() if value is not None}, **settings}


def _line(trial: FrozenTrial) -> str:
    return f"{trial.state.name}: {', '.join(f'{name}={value}' for name, value in trial.params.items())}"
