"""Optional logs: what is sent, and one line where the extra is missing."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import optuna
import pytest

from gwn import GWNError
from gwn.tuning.trackers import TRACKERS, open_tracker


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
    tracker.log(trial, 0.8)
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
    tracker.log(trial, None)
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
