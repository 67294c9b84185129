"""A run in the middle, on disk: everything that decides how it goes on, and nothing of who computed it.

One safetensors file: the weights, those of the best epoch, Adam's moments, the random generator, and every epoch's
validation loss and score, from which the stopping rule is brought to where it was. Nothing in it depends on how many
processes shared the graph, or how.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as save_tensors
from torch import Tensor, nn

from gwn.errors import GWNError
from gwn.io import write_atomic

FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Fit:
    """What one run of the loop gave: scores at the epoch chosen on validation, and that epoch's weights."""

    val: float
    test: float
    val_loss: float
    best_epoch: int
    epochs: int
    seconds: float
    weights: dict[str, Tensor]


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a run stands after an epoch: the best so far, every epoch's validation loss and score, seconds used."""

    epoch: int
    best: Fit
    history: list[tuple[float, float]]
    seconds: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Checkpoint:
    """Where a run stands, and the tensors to go on from there."""

    progress: Progress
    weights: dict[str, Tensor]
    moments: dict[str, Tensor]
    generator: Tensor
    cuda_generator: Tensor | None = None

    def restore(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> Progress:
        """Bring model, optimiser and this process's random generator to where the run stood."""
        model.load_state_dict(self.weights)
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in self.moments.items():
            index, _, what = name.partition(".")
            state.setdefault(int(index), {})[what] = tensor
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
        torch.set_rng_state(self.generator)
        if self.cuda_generator is not None and torch.cuda.is_available():
            torch.cuda.set_rng_state(self.cuda_generator)
        return self.progress


class Checkpoints:
    """The checkpoints of one run: one file, replaced every `seconds` seconds.

    key   names the run; the checkpoint of another one is refused
    say   hears what a person should know
    """

    def __init__(
        self, path: Path, key: str, *, seconds: float = 60.0, say: Callable[[str], None] = lambda line: None
    ) -> None:
        self.path, self.key, self.seconds, self.say = path, key, seconds, say
        self._written = time.monotonic()

    def load(self) -> Checkpoint | None:
        """The one to go on from, None where there is none."""
        found = load_checkpoint(self.path, self.key)
        if found is not None:
            self.say(f"{self.path.stem}: going on after epoch {found.progress.epoch}")
        self._written = time.monotonic()
        return found

    def keep(self, model: nn.Module, optimizer: torch.optim.Optimizer, progress: Progress) -> None:
        """Write one if the last is old enough."""
        if time.monotonic() - self._written >= self.seconds:
            save_checkpoint(self.path, self.key, model, optimizer, progress)
            self._written = time.monotonic()


def save_checkpoint(
    path: Path, key: str, model: nn.Module, optimizer: torch.optim.Optimizer, progress: Progress
) -> None:
    """Write where the run `key` stands; the former checkpoint is replaced only when this one is whole."""
    tensors: dict[str, Tensor] = {
        "generator": torch.get_rng_state(),
        "history": torch.tensor(progress.history, dtype=torch.float64).reshape(-1, 2),
    }
    if torch.cuda.is_available():
        tensors["cuda_generator"] = torch.cuda.get_rng_state()
    groups = {
        "weights": model.state_dict(),
        "best": progress.best.weights,
        "moments": {
            f"{index}.{what}": tensor
            for index, entry in optimizer.state_dict()["state"].items()
            for what, tensor in entry.items()
        },
    }
    for group, members in groups.items():
        tensors.update({f"{group}.{name}": tensor for name, tensor in members.items()})
    facts = {name: value for name, value in asdict(progress.best).items() if name != "weights"}
    about = {"format": FORMAT, "key": key, "epoch": progress.epoch, "seconds": progress.seconds, "best": facts}
    content = save_tensors(
        {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()},
        metadata={"gwn": json.dumps(about)},
    )
    write_atomic(path, content)


def load_checkpoint(path: Path, key: str) -> Checkpoint | None:
    """The checkpoint at `path`, None where there is none; that of another run is refused, and so is a damaged one."""
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            about: dict[str, Any] = json.loads((file.metadata() or {})["gwn"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if about["format"] > FORMAT:
            raise GWNError(f"{path} was written by a newer version of gwn; upgrade to go on from it")
        if about["key"] != key:
            raise GWNError(
                f"the checkpoint {path} belongs to another run ({about['key']}, not {key}): its graph, split, settings "
                f"or seed differ; put it back where it was, or delete it to begin this run anew"
            )
        best = Fit(**about["best"], weights=_group(tensors, "best"))
        history = [(loss, score) for loss, score in tensors["history"].tolist()]
        progress = Progress(epoch=about["epoch"], best=best, history=history, seconds=about["seconds"])
        return Checkpoint(
            progress=progress,
            weights=_group(tensors, "weights"),
            moments=_group(tensors, "moments"),
            generator=tensors["generator"],
            cuda_generator=tensors.get("cuda_generator"),
        )
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise GWNError(f"the checkpoint {path} cannot be read ({reason}); delete it to begin this run anew") from None


def _group(tensors: dict[str, Tensor], group: str) -> dict[str, Tensor]:
    return {name[len(group) + 1 :]: tensor for name, tensor in tensors.items() if name.startswith(f"{group}.")}
