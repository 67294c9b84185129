"""A run interrupted and gone on with is the run; what is not its checkpoint is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from gwn import GWNError
from gwn.training import TrainConfig
from gwn.training.checkpoint import load_checkpoint, save_checkpoint
from gwn.training.loop import Evaluation, Fit, Progress, choose_epoch
from seeds import reseed

CONFIG = TrainConfig(epochs=9, patience=3, stopping="patience")


class Stop(Exception):
    pass


def run(path: Path | None = None, stop: int = 0, key: str = "a run") -> Fit:
    """Train a small network on random numbers, so that a generator that was not restored would show."""
    reseed(0)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    found = None if path is None else load_checkpoint(path, key)
    resumed = None if found is None else found.restore(model, optimizer)

    def train_epoch(epoch: int) -> None:
        if epoch == stop:
            raise Stop
        optimizer.zero_grad()
        model(torch.randn(4, 3)).square().sum().backward()
        optimizer.step()

    def evaluate(epoch: int) -> Evaluation:
        loss = float(model.weight.detach().square().sum())
        return Evaluation(val=-abs(epoch - 4.0), val_loss=loss, test=lambda: loss)

    def keep(progress: Progress) -> None:
        if path is not None:
            save_checkpoint(path, key, model, optimizer, progress)

    return choose_epoch(model, CONFIG, train_epoch, evaluate, resumed=resumed, keep=keep)


def facts(fitted: Fit) -> dict[str, Any]:
    return {name: value for name, value in vars(fitted).items() if name not in ("weights", "seconds")}


@pytest.mark.parametrize("stop", [2, 5, 7])
def test_goes_on_as_if_nothing_had_happened(stop: int, tmp_path: Path) -> None:
    whole = run()
    assert whole.epochs == 7  # three epochs of patience after the fourth
    path = tmp_path / "run.checkpoint"
    with pytest.raises(Stop):
        run(path, stop)
    again = run(path)
    assert facts(again) == facts(whole)
    for name, weight in whole.weights.items():
        assert torch.equal(again.weights[name], weight)


def test_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.checkpoint"
    with pytest.raises(Stop):
        run(path, 3)
    with pytest.raises(GWNError, match=r"belongs to another run \(a run, not another\).*delete it to begin"):
        run(path, key="another")


def test_damaged_ones_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.checkpoint"
    with pytest.raises(Stop):
        run(path, 3)
    content = path.read_bytes()
    for damaged in (content[: len(content) // 2], b"", b"x" * 100):
        path.write_bytes(damaged)
        with pytest.raises(GWNError, match=r"cannot be read.*delete it to begin this run anew"):
            load_checkpoint(path, "a run")
    assert load_checkpoint(tmp_path / "none", "a run") is None
