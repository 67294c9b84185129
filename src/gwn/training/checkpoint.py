"""A run in the middle, on disk: everything that decides how it goes on, and nothing of who computed it.

One safetensors file: the weights, those of the best epoch, Adam's moments, the random generator, and every epoch's
validation loss and score, from which the stopping rule is brought to where it was. Nothing in it depends on how many
processes shared the graph, or how. Before it stand a mark and the SHA-256 of all the rest: a damaged file is found out,
and the run begins anew. A file of version 0.1 has neither, and no damage makes a file with a mark pass for one without:
the mark would be a length of its header that no file has.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor, nn

from gwn.errors import GWNError
from gwn.io import read_bytes, write_atomic
from gwn.training.outputs import Outputs

FORMAT = 1
MARK = b"gwn checkpoint\n\0"
MOMENTS = {"step", "exp_avg", "exp_avg_sq"}
"""What Adam remembers of a parameter."""


class Damaged(GWNError):
    """A checkpoint that is not what was written."""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """What one run of the loop gave: scores at the epoch chosen on validation, and that epoch's weights.

    outputs     what the network says there on validation and test; known at the end alone
    loss_fell   whether the validation loss was ever below that of the first epoch
    """

    val: float
    test: float
    val_loss: float
    best_epoch: int
    epochs: int
    seconds: float
    weights: dict[str, Tensor]
    outputs: Outputs | None = None
    loss_fell: bool = True
    curves: Curves = field(default_factory=lambda: Curves(train_loss=[], val_loss=[], val=[]))


class Curves(NamedTuple):
    """One number an epoch of a whole run; a training loss is NaN where a checkpoint of version 0.1.0 has none."""

    train_loss: list[float]
    val_loss: list[float]
    val: list[float]


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a run stands after an epoch: the best so far, every epoch's losses and score, seconds used."""

    epoch: int
    best: Fit
    history: list[tuple[float, float]]
    seconds: float
    train_loss: list[float] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True, eq=False)
class Checkpoint:
    """Where a run stands, and the tensors to go on from there.

    generator         of the CPU
    cuda_generator    of the model's device, where that is one; mps_generator likewise
    """

    progress: Progress
    weights: dict[str, Tensor]
    moments: dict[str, Tensor]
    generator: Tensor
    cuda_generator: Tensor | None = None
    mps_generator: Tensor | None = None

    @classmethod
    def of(cls, model: nn.Module, optimizer: torch.optim.Optimizer, progress: Progress) -> Checkpoint:
        """Where the run stands now; the tensors are those of the run, not copies."""
        device = next(model.parameters()).device
        return cls(
            progress=progress,
            weights=model.state_dict(),
            moments={
                f"{index}.{what}": tensor
                for index, entry in optimizer.state_dict()["state"].items()
                for what, tensor in entry.items()
            },
            generator=torch.get_rng_state(),
            cuda_generator=torch.cuda.get_rng_state(device) if device.type == "cuda" else None,
            mps_generator=torch.mps.get_rng_state() if device.type == "mps" else None,
        )

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Plain facts and named tensors, as they are written to a file and sent to other processes."""
        progress = self.progress
        tensors = {
            "generator": self.generator,
            "history": torch.tensor(progress.history, dtype=torch.float64).reshape(-1, 2),
        }
        if progress.train_loss:
            tensors["train_loss"] = torch.tensor(progress.train_loss, dtype=torch.float64)
        if self.cuda_generator is not None:
            tensors["cuda_generator"] = self.cuda_generator
        if self.mps_generator is not None:
            tensors["mps_generator"] = self.mps_generator
        groups = {"weights": self.weights, "best": progress.best.weights, "moments": self.moments}
        for group, members in groups.items():
            tensors.update({f"{group}.{name}": tensor for name, tensor in members.items()})
        best = {
            name: value for name, value in vars(progress.best).items() if name not in ("weights", "outputs", "curves")
        }
        return {"epoch": progress.epoch, "seconds": progress.seconds, "best": best}, tensors

    @classmethod
    def from_parts(cls, facts: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Checkpoint:
        """Back from `to_parts`."""
        best = Fit(**facts["best"], weights=_group(tensors, "best"))
        history = [(loss, score) for loss, score in tensors["history"].tolist()]
        return cls(
            progress=Progress(
                epoch=facts["epoch"],
                best=best,
                history=history,
                seconds=facts["seconds"],
                train_loss=tensors["train_loss"].tolist() if "train_loss" in tensors else [math.nan] * len(history),
            ),
            weights=_group(tensors, "weights"),
            moments=_group(tensors, "moments"),
            generator=tensors["generator"],
            cuda_generator=tensors.get("cuda_generator"),
            mps_generator=tensors.get("mps_generator"),
        )

    def restore(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> Progress:
        """Bring model, optimiser and this process's random generators to where the run stood."""
        try:
            model.load_state_dict(self.progress.best.weights)  # those that the run ends with must fit as well
            model.load_state_dict(self.weights)
            optimizer.load_state_dict({**optimizer.state_dict(), "state": self._state_of(optimizer)})
            torch.set_rng_state(self.generator)
        except (IndexError, RuntimeError, TypeError, ValueError) as error:
            line = " ".join(str(error).split())[:300]
            raise GWNError(
                f"a checkpoint does not fit its network ({line}); delete it to begin this run anew"
            ) from None
        device = next(model.parameters()).device
        if self.cuda_generator is not None and device.type == "cuda":
            torch.cuda.set_rng_state(self.cuda_generator, device)
        if self.mps_generator is not None and device.type == "mps":
            torch.mps.set_rng_state(self.mps_generator)
        return self.progress

    def _state_of(self, optimizer: torch.optim.Optimizer) -> dict[int, dict[str, Tensor]]:
        """What Adam remembers of every parameter; PyTorch compares no shapes, and its fused kernel would write beyond
        moments that are too small."""
        parameters: list[Tensor] = [own for group in optimizer.param_groups for own in group["params"]]
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in self.moments.items():
            number, _, what = name.partition(".")
            state.setdefault(int(number), {})[what] = tensor
        for index, entry in state.items():
            if index < 0 or entry.keys() != MOMENTS:
                raise ValueError(f"moments {', '.join(sorted(entry))[:80]} of parameter {index}")
            own = parameters[index]
            for what, tensor in entry.items():
                shape, dtype = (torch.Size(), torch.float32) if what == "step" else (own.shape, own.dtype)
                if tensor.shape != shape or tensor.dtype != dtype:
                    found = f"{tuple(tensor.shape)} {tensor.dtype}"
                    raise ValueError(f"{what} of parameter {index} is {found}, not {tuple(shape)} {dtype}")
        return state


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
        """The one to go on from; None where there is none, or where it is damaged, which is said."""
        try:
            found = load_checkpoint(self.path, self.key)
        except Damaged as error:
            self.say(f"{self.path.stem}: {error}; this run begins anew")
            found = None
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
    facts, tensors = Checkpoint.of(model, optimizer, progress).to_parts()
    about = {"format": FORMAT, "key": key, **facts}
    content = save_tensors(
        {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()},
        metadata={"gwn": json.dumps(about)},
    )
    write_atomic(path, MARK + hashlib.sha256(content).digest() + content)


def load_checkpoint(path: Path, key: str) -> Checkpoint | None:
    """The checkpoint at `path`, None where there is none; that of another run is refused, and so is a damaged one."""
    if not path.exists():
        return None
    found, about, _ = _read(path)
    if about["key"] != key:
        raise GWNError(
            f"the checkpoint {path} belongs to another run ({about['key']}, not {key}): its graph, split, settings "
            f"or seed differ; put it back where it was, or delete it to begin this run anew"
        )
    return found


def verify_checkpoint(path: Path) -> bool:
    """Refuse a checkpoint that is damaged; whether it has a seal."""
    return _read(path)[2]


def _read(path: Path) -> tuple[Checkpoint, dict[str, Any], bool]:
    """A checkpoint, what it says of itself, and whether it has a seal."""
    try:
        sealed = read_bytes(path)
        about, tensors = _contents(sealed)
        if about["format"] > FORMAT:
            raise GWNError(f"{path} was written by a newer version of gwn; upgrade to go on from it")
        return Checkpoint.from_parts(about, tensors), about, sealed.startswith(MARK)
    except GWNError:
        raise
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise Damaged(f"the checkpoint {path} is cut or damaged ({reason})") from None


def _contents(sealed: bytes) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The facts and the tensors of a file whose seal fits, or of one without a seal."""
    content = sealed
    if sealed.startswith(MARK):
        digest, content = sealed[len(MARK) : len(MARK) + 32], sealed[len(MARK) + 32 :]
        if hashlib.sha256(content).digest() != digest:
            raise ValueError("SHA-256 differs")
    tensors = load_tensors(content)
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return json.loads(header["__metadata__"]["gwn"]), tensors


def _group(tensors: Mapping[str, Tensor], group: str) -> dict[str, Tensor]:
    return {name[len(group) + 1 :]: tensor for name, tensor in tensors.items() if name.startswith(f"{group}.")}
