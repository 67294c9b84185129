"""A run interrupted and gone on with is the run; what is not its checkpoint is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from gwn import Diverged, GWNError
from gwn.training import TrainConfig
from gwn.training.checkpoint import Checkpoints, Damaged, Fit, load_checkpoint
from gwn.training.loop import Evaluation, Loss, Task, train_task
from seeds import reseed

CONFIG = TrainConfig(epochs=9, lr=0.1, weight_decay=0.0, patience=3, stopping="patience", device="cpu")


class Stop(Exception):
    pass


class Numbers(Task):
    """Random numbers, so that a generator that was not restored would show."""

    def __init__(self, model: nn.Linear, *, done: int, stop: int) -> None:
        self.model, self.epoch, self.stop = model, done, stop

    def losses(self) -> Iterator[Loss]:
        self.epoch += 1
        if self.epoch == self.stop:
            raise Stop
        yield lambda: self.model(torch.randn(4, 3)).square().sum()

    def evaluate(self) -> Evaluation:
        loss = float(self.model.weight.detach().square().sum())
        return Evaluation(val=-abs(self.epoch - 4.0), val_loss=loss, test=lambda: loss)

    def diverged(self, epoch: int, loss: float) -> Diverged:
        raise AssertionError


class Grouped(nn.Linear):
    """A network whose weight may be a group apart, so that it comes after the bias in the optimiser."""

    parameter_group = ("weight",)


def run(path: Path | None = None, stop: int = 0, key: str = "a run", **options: Any) -> Fit:
    """Train a small network, stopping in the middle of epoch `stop`."""
    reseed(0)
    model = Grouped(3, 1)
    checkpoints = None if path is None else Checkpoints(path, key, seconds=0.0)
    resumed = None if checkpoints is None else checkpoints.load()
    task = Numbers(model, done=0 if resumed is None else resumed.progress.epoch, stop=stop)
    return train_task(model, task, replace(CONFIG, **options), resumed=resumed, checkpoints=checkpoints)


def facts(fitted: Fit) -> dict[str, Any]:
    return {name: value for name, value in vars(fitted).items() if name not in ("weights", "seconds")}


@pytest.mark.parametrize("options", [{}, {"group_lr": 0.02, "group_weight_decay": 0.1}], ids=["plain", "groups"])
@pytest.mark.parametrize("stop", [2, 5, 7])
def test_goes_on_as_if_nothing_had_happened(stop: int, options: dict[str, Any], tmp_path: Path) -> None:
    whole = run(**options)
    assert whole.epochs == 7  # three epochs of patience after the fourth
    path = tmp_path / "run.checkpoint"
    with pytest.raises(Stop):
        run(path, stop, **options)
    again = run(path, **options)
    assert facts(again) == facts(whole)
    for name, weight in whole.weights.items():
        assert torch.equal(again.weights[name], weight)


def test_the_rule_that_chooses_the_epoch_goes_on_too(tmp_path: Path) -> None:
    whole = run(select="loss")
    assert (whole.best_epoch, whole.epochs) != (run().best_epoch, run().epochs)
    with pytest.raises(Stop):
        run(tmp_path / "run.checkpoint", 5, select="loss")
    assert facts(run(tmp_path / "run.checkpoint", select="loss")) == facts(whole)


def test_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.checkpoint"
    with pytest.raises(Stop):
        run(path, 3)
    with pytest.raises(GWNError, match=r"belongs to another run \(a run, not another\).*delete it to begin"):
        run(path, key="another")


def test_damaged_ones_are_said_and_the_run_begins_anew(tmp_path: Path) -> None:
    """Cut, replaced, or a single bit flipped anywhere: the result is that of the undisturbed run."""
    path = tmp_path / "run.checkpoint"
    with pytest.raises(Stop):
        run(path, 3)
    content = path.read_bytes()
    flipped = []
    for place in [*range(64), *range(64, len(content), max(1, len(content) // 100))]:
        flipped.append(content[:place] + bytes([content[place] ^ (1 << place % 8)]) + content[place + 1 :])
    for damaged in (content[: len(content) // 2], b"", b"x" * 100, *flipped):
        path.write_bytes(damaged)
        with pytest.raises(Damaged, match="is cut or damaged"):
            load_checkpoint(path, "a run")
    said: list[str] = []
    assert Checkpoints(path, "a run", say=said.append).load() is None
    assert "begins anew" in said[0]
    assert load_checkpoint(tmp_path / "none", "a run") is None
