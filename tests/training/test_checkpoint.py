"""A run interrupted and gone on with is the run; what is not its checkpoint is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from gwn import Diverged, GWNError
from gwn.training import TrainConfig
from gwn.training.checkpoint import Checkpoint, Checkpoints, Damaged, Fit, Progress, load_checkpoint, save_checkpoint
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


class Elsewhere(nn.Linear):
    """A network that says it is on another device."""

    device: torch.device

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        yield SimpleNamespace(device=self.device)


@pytest.mark.parametrize("name", ["cpu", "cuda:1", "mps"])
def test_the_generator_is_that_of_the_models_device(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not that of the current device, which draws nobody's dropout."""
    device, asked = torch.device(name), list[tuple[Any, ...]]()

    def get(of: str, *given: Any) -> torch.Tensor:
        asked.append((of, *given))
        return torch.arange(3, dtype=torch.uint8)

    def put(of: str, state: torch.Tensor, *given: Any) -> None:
        asked.append((of, *given, state.tolist()))

    for module in (torch.cuda, torch.mps):
        monkeypatch.setattr(module, "is_available", lambda: True, raising=False)
        monkeypatch.setattr(module, "get_rng_state", partial(get, module.__name__))
        monkeypatch.setattr(module, "set_rng_state", partial(put, module.__name__))
    model = Elsewhere(3, 1)
    model.device = device
    optimizer = torch.optim.Adam([model.weight, model.bias])
    best = Fit(val=0.5, test=0.5, val_loss=1.0, best_epoch=1, epochs=1, seconds=0.0, weights=model.state_dict())
    save_checkpoint(
        tmp_path / "one", "a run", model, optimizer, Progress(epoch=1, best=best, history=[(1.0, 0.5)], seconds=0.0)
    )
    found = load_checkpoint(tmp_path / "one", "a run")
    assert found is not None
    found.restore(model, optimizer)
    expected = {"cuda": ("torch.cuda", device), "mps": ("torch.mps",)}.get(device.type)
    assert asked == ([] if expected is None else [expected, (*expected, [0, 1, 2])])


def test_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.checkpoint"
    with pytest.raises(Stop):
        run(path, 3)
    with pytest.raises(GWNError, match=r"belongs to another run \(a run, not another\).*delete it to begin"):
        run(path, key="another")


@pytest.mark.parametrize(
    ("group", "changed", "said"),
    [
        ("moments", {"0.exp_avg": torch.ones(1)}, r"exp_avg of parameter 0 is \(1,\).*not \(1, 3\)"),
        ("moments", {"0.exp_avg_sq": torch.ones(1, 3, dtype=torch.float16)}, "exp_avg_sq of parameter 0"),
        ("moments", {"1.step": torch.ones(5)}, "step of parameter 1"),
        ("moments", {"1.max_exp_avg_sq": torch.ones(1)}, "moments .*max_exp_avg_sq"),
        ("moments", {"7.step": torch.ones(())}, "moments step of parameter 7"),
        ("moments", {"x.step": torch.ones(())}, "invalid literal"),
        ("weights", {"weight": torch.ones(9)}, "size mismatch for weight"),
        ("best", {"weight": torch.ones(9)}, "size mismatch for weight"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(
    group: str, changed: dict[str, torch.Tensor], said: str, tmp_path: Path
) -> None:
    """PyTorch takes moments of any shape, and its fused Adam then writes beyond them."""
    path = tmp_path / "run.checkpoint"
    with pytest.raises(Stop):
        run(path, 3)
    found = load_checkpoint(path, "a run")
    assert found is not None
    facts, tensors = found.to_parts()
    tensors |= {f"{group}.{name}": tensor for name, tensor in changed.items()}
    model = Grouped(3, 1)
    with pytest.raises(GWNError, match=rf"does not fit its network \(.*{said}.*; delete it") as caught:
        Checkpoint.from_parts(facts, tensors).restore(model, torch.optim.Adam(model.parameters()))
    assert "\n" not in str(caught.value)


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
