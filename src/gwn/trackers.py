"""Optional logs for TensorBoard, Weights & Biases and MLflow: a point an epoch and a run, or a point a trial.

Nothing leaves the machine unless the person's own configuration says so: files in the results' folder otherwise.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from gwn.errors import require_extra
from gwn.registry import lookup

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

    from gwn.training import RunResult


class Tracker(ABC):
    """Somewhere to send numbers to."""

    @abstractmethod
    def numbers(self, values: Mapping[str, float], step: int) -> None:
        """Some numbers of one epoch, run or trial."""

    @abstractmethod
    def text(self, name: str, text: str, step: int) -> None:
        """What is no number."""

    @abstractmethod
    def close(self) -> None: ...

    def on_trial(self, trial: FrozenTrial, best: float | None) -> None:
        """A finished trial of a search."""
        self.numbers(_numbers(trial, best), trial.number)
        self.text("trial", _line(trial), trial.number)

    def on_epoch(self, run: int, epoch: int, score: float) -> None:
        """One epoch of a run is done."""
        self.numbers({f"run {run}/validation": score}, epoch)

    def on_run(self, result: RunResult) -> None:
        """A run is done, or was found finished."""
        scores = {"final/validation": result.val, "final/test": result.test, "final/epochs": result.best_epoch}
        found = {name: float(value) for name, value in scores.items() if value is not None}
        if found:
            self.numbers(found, result.run)
        else:
            self.text("failed", result.reason, result.run)


class Silent(Tracker):
    """No log was asked for."""

    def numbers(self, values: Mapping[str, float], step: int) -> None: ...

    def text(self, name: str, text: str, step: int) -> None: ...

    def close(self) -> None: ...


class TensorBoardTracker(Tracker):
    """Event files in `folder/tensorboard/NAME`; look at them with `tensorboard --logdir folder/tensorboard`."""

    def __init__(self, name: str, folder: Path) -> None:
        require_extra("--log tensorboard", "tensorboard")
        self._writer = import_module("torch.utils.tensorboard").SummaryWriter(str(folder / "tensorboard" / name))

    def numbers(self, values: Mapping[str, float], step: int) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def text(self, name: str, text: str, step: int) -> None:
        self._writer.add_text(name, text, step)

    def close(self) -> None:
        self._writer.close()


class WandbTracker(Tracker):
    """One run, offline in `folder/wandb` unless WANDB_MODE says otherwise; `wandb sync` sends it later."""

    def __init__(self, name: str, folder: Path) -> None:
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
        wandb = require_extra("--log wandb", "wandb")
        folder.mkdir(parents=True, exist_ok=True)
        self._run = wandb.init(
            project="graph-wave-networks",
            name=name,
            dir=str(folder),
            mode=os.environ.get("WANDB_MODE", "offline"),
            settings=wandb.Settings(silent=True),
        )

    def numbers(self, values: Mapping[str, float], step: int) -> None:
        self._run.log({**values, "step": step})  # its own steps may only rise, ours begin anew in every run

    def text(self, name: str, text: str, step: int) -> None:
        self._run.log({name: text, "step": step})

    def on_trial(self, trial: FrozenTrial, best: float | None) -> None:
        self._run.log({**_numbers(trial, best), "state": trial.state.name, **trial.params, "trial": trial.number})

    def close(self) -> None:
        self._run.finish()


class MlflowTracker(Tracker):
    """One run in the database `folder/mlflow.db` unless MLFLOW_TRACKING_URI names another place."""

    def __init__(self, name: str, folder: Path) -> None:
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        self._mlflow = require_extra("--log mlflow", "mlflow")
        if "MLFLOW_TRACKING_URI" not in os.environ:
            folder.mkdir(parents=True, exist_ok=True)
            self._mlflow.set_tracking_uri(f"sqlite:///{folder.resolve() / 'mlflow.db'}")
        self._mlflow.set_experiment("graph-wave-networks")
        self._mlflow.start_run(run_name=name)

    def numbers(self, values: Mapping[str, float], step: int) -> None:
        self._mlflow.log_metrics(dict(values), step=step)

    def text(self, name: str, text: str, step: int) -> None:
        self._mlflow.set_tag(f"{name} {step}", text)

    def close(self) -> None:
        self._mlflow.end_run()


TRACKERS: dict[str, Callable[[str, Path], Tracker]] = {
    "tensorboard": TensorBoardTracker,
    "wandb": WandbTracker,
    "mlflow": MlflowTracker,
}


def open_tracker(log: str, name: str, folder: Path) -> Tracker:
    """The tracker `log`, or one line that says which extra is missing."""
    return lookup("log", log, TRACKERS)(name, folder)


@contextmanager
def tracking(log: str | None, name: str, folder: Path) -> Iterator[Tracker]:
    """The tracker `log` for the time of a block, or one that hears nothing."""
    tracker = Silent() if log is None else open_tracker(log, name, folder)
    try:
        yield tracker
    finally:
        tracker.close()


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
