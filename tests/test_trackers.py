"""Optional logs: what is sent, and one line where the extra is missing."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import optuna
import pytest

from gwn import GWNError
from gwn.cli.main import main
from gwn.trackers import TRACKERS, open_tracker, tracking
from gwn.training import RunResult


@pytest.fixture
def trial() -> optuna.trial.FrozenTrial:
    return optuna.trial.create_trial(
        params={"tau": 0.5, "scheme": "heat"},
        distributions={
            "tau": optuna.distributions.FloatDistribution(0, 1),
            "scheme": optuna.distributions.CategoricalDistribution(("heat", "damped")),
        },
        value=0.75,
    )


@pytest.mark.parametrize("name", sorted(TRACKERS))
def test_missing_extra_is_one_line(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(GWNError, match=r"pip install 'graph-wave-networks\[trackers\]'"):
        open_tracker(name, "study", tmp_path)


def test_unknown_log(tmp_path: Path) -> None:
    with pytest.raises(GWNError, match="did you mean 'wandb'"):
        open_tracker("wandbb", "study", tmp_path)


def test_tensorboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trial: optuna.trial.FrozenTrial) -> None:
    sent: list[tuple[Any, ...]] = []

    class Writer:
        def __init__(self, folder: str) -> None:
            sent.append((folder,))

        def add_scalar(self, *what: Any) -> None:
            sent.append(what)

        def add_text(self, *what: Any) -> None:
            sent.append(what)

        def close(self) -> None:
            sent.append(("closed",))

    monkeypatch.setitem(sys.modules, "tensorboard", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", SimpleNamespace(SummaryWriter=Writer))
    tracker = open_tracker("tensorboard", "study", tmp_path)
    tracker.on_trial(trial, 0.8)
    tracker.close()
    assert sent[0] == (str(tmp_path / "tensorboard" / "study"),)
    assert {what[0]: what[1] for what in sent[1:4]} == {"validation": 0.75, "best": 0.8, "settings/tau": 0.5}
    assert "scheme=heat" in sent[4][1]
    assert sent[-1] == ("closed",)


def test_wandb_is_offline_unless_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trial: optuna.trial.FrozenTrial
) -> None:
    asked: dict[str, Any] = {}
    sent: list[dict[str, Any]] = []

    def init(**options: Any) -> Any:
        asked.update(options)
        return SimpleNamespace(log=sent.append, finish=lambda: sent.append({"finished": True}))

    monkeypatch.delenv("WANDB_MODE", raising=False)
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init, Settings=lambda **options: options))
    tracker = open_tracker("wandb", "study", tmp_path)
    tracker.on_trial(trial, None)
    tracker.close()
    assert (asked["mode"], asked["name"], asked["dir"]) == ("offline", "study", str(tmp_path))
    assert sent[0] == {
        "validation": 0.75,
        "settings/tau": 0.5,
        "state": "COMPLETE",
        "tau": 0.5,
        "scheme": "heat",
        "trial": trial.number,
    }
    assert sent[1] == {"finished": True}


def test_mlflow_stays_in_a_file_unless_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[Any, ...]] = []

    def hears(name: str) -> Any:
        return lambda *what, **named: sent.append((name, *what, *named.values()))

    names = ("set_tracking_uri", "set_experiment", "start_run", "log_metrics", "set_tag", "end_run")
    monkeypatch.setitem(sys.modules, "mlflow", SimpleNamespace(**{name: hears(name) for name in names}))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    done = RunResult(run=1, seed=1, split_hash="", split_sizes=(1, 1, 1), status="ok", val=0.5, test=0.25, best_epoch=3)
    with tracking("mlflow", "mine", tmp_path) as tracker:
        tracker.on_epoch(1, 7, 0.5)
        tracker.on_run(done)
        tracker.on_run(
            replace(done, run=2, status="diverged", reason="too large", val=None, test=None, best_epoch=None)
        )
    assert sent == [
        ("set_tracking_uri", f"sqlite:///{tmp_path / 'mlflow.db'}"),
        ("set_experiment", "graph-wave-networks"),
        ("start_run", "mine"),
        ("log_metrics", {"run 1/validation": 0.5}, 7),
        ("log_metrics", {"final/validation": 0.5, "final/test": 0.25, "final/epochs": 3.0}, 1),
        ("set_tag", "failed 2", "too large"),
        ("end_run",),
    ]
    sent.clear()
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://example.invalid")
    with tracking("mlflow", "mine", tmp_path):
        pass
    assert "set_tracking_uri" not in [what[0] for what in sent]


def test_train_sends_epochs_and_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []
    run = SimpleNamespace(log=sent.append, finish=lambda: sent.append({"finished": True}))
    wandb = SimpleNamespace(init=lambda **options: run, Settings=lambda **options: options)
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")
    options = ("--model", "mlp", "--runs", "1", "--set", "epochs=2", "-q", "--out", str(tmp_path), "--log", "wandb")
    with pytest.raises(SystemExit) as stop:
        main(["train", "csbm", *options])
    assert not stop.value.code
    assert [each.get("step") for each in sent] == [1, 2, 0, None]
    assert 0 <= sent[0]["run 0/validation"] <= 1
    assert {"final/validation", "final/test"} <= sent[2].keys()
    assert sent[3] == {"finished": True}
