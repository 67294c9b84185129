"""The processes that share one graph: who they are, and what they say to each other.

Everything is `torch.distributed`: gloo between CPUs, NCCL between GPUs. Messages are tensors and JSON; nothing that
comes from another process is ever unpickled. Process 0 leads: it reads, writes and prints.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from gwn.distributed.launch import started_by_torchrun, started_here
from gwn.errors import ProcessLost

TIMEOUT = timedelta(minutes=30)
"""How long a process waits for another that is alive and silent; a dead one is noticed at once."""

FACTS = "facts"


@dataclass(frozen=True, kw_only=True, eq=False)
class Message:
    """Plain facts, as JSON can say them, and named tensors."""

    facts: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)

    @classmethod
    def of(cls, value: Any) -> Message:
        """The fields of a dataclass; `Kind(**message.fields)` is it again."""
        tensors = {name: entry for name, entry in vars(value).items() if isinstance(entry, Tensor)}
        return cls(facts={name: entry for name, entry in vars(value).items() if name not in tensors}, tensors=tensors)

    @property
    def fields(self) -> dict[str, Any]:
        """Facts and tensors by their names."""
        return {**self.facts, **self.tensors}

    def encode(self) -> Tensor:
        """As bytes: a safetensors file, with the facts as one of its tensors."""
        facts = torch.frombuffer(bytearray(json.dumps(self.facts).encode()), dtype=torch.uint8)
        tensors = {f"tensor.{name}": tensor.detach().cpu().contiguous() for name, tensor in self.tensors.items()}
        return torch.frombuffer(bytearray(save_tensors({FACTS: facts, **tensors})), dtype=torch.uint8)

    @classmethod
    def decode(cls, content: Tensor) -> Message:
        """Back from `encode`."""
        tensors = load_tensors(content.cpu().numpy().tobytes())
        facts: dict[str, Any] = json.loads(tensors.pop(FACTS).numpy().tobytes())
        return cls(facts=facts, tensors={name.removeprefix("tensor."): tensor for name, tensor in tensors.items()})

    def below(self, prefix: str) -> dict[str, Tensor]:
        """The tensors whose names begin with `prefix` and a dot, without it."""
        return {n[len(prefix) + 1 :]: tensor for n, tensor in self.tensors.items() if n.startswith(f"{prefix}.")}


@dataclass(frozen=True, kw_only=True)
class ProcessGroup:
    """Process `rank` of `size`, and the device its tensors are on."""

    rank: int
    size: int
    device: torch.device

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def sum_(self, x: Tensor) -> Tensor:
        """The sum of everybody's `x`, in place and the same bits everywhere."""
        if self.size > 1:
            with reporting_lost_processes():
                dist.all_reduce(x)
        return x

    def broadcast(self, message: Message | None) -> Message:
        """The leader's message, for everybody."""
        if self.size == 1:
            assert message is not None
            return message
        content = torch.empty(0, dtype=torch.uint8) if message is None else message.encode()
        length = torch.tensor([content.numel()], device=self.device)
        with reporting_lost_processes():
            dist.broadcast(length, src=0)
            content = content.to(self.device) if self.leads else self._room(length)
            dist.broadcast(content, src=0)
        return Message.decode(content) if message is None else message

    def scatter(self, messages: Iterable[Message] | None) -> Message:
        """The leader has one message for each process; everybody gets their own."""
        if messages is None:
            length = torch.empty(1, dtype=torch.int64, device=self.device)
            with reporting_lost_processes():
                dist.recv(length, src=0)
                content = self._room(length)
                dist.recv(content, src=0)
            return Message.decode(content)
        own, *others = messages
        for rank, message in enumerate(others, start=1):
            content = message.encode().to(self.device)
            with reporting_lost_processes():
                dist.send(torch.tensor([content.numel()], device=self.device), dst=rank)
                dist.send(content, dst=rank)
        return own

    def _room(self, length: Tensor) -> Tensor:
        return torch.empty(int(length), dtype=torch.uint8, device=self.device)

    def swap(self, x: Tensor, give: Sequence[int], take: Sequence[int]) -> Swap:
        """Start to send the first `give[0]` rows to process 0, the next `give[1]` to process 1, and so on."""
        out = x.new_empty(sum(take), *x.shape[1:])
        if self.size == 1:
            return Swap(out, None)
        with reporting_lost_processes():
            work = dist.all_to_all_single(out, x.contiguous(), list(take), list(give), async_op=True)
        return Swap(out, work)

    def swap_counts(self, counts: Sequence[int]) -> list[int]:
        """How many rows the others give us, from how many we give them."""
        given = torch.tensor(counts, device=self.device)
        ones = [1] * self.size
        found: list[int] = (given if self.size == 1 else self.swap(given, ones, ones).wait()).tolist()
        return found

    def gather(self, x: Tensor) -> Tensor | None:
        """Everybody's rows for the leader, in the order of the processes; None for the others."""
        if self.size == 1:
            return x
        counts = self.swap_counts([x.shape[0], *[0] * (self.size - 1)])
        rows = self.swap(x, [x.shape[0], *[0] * (self.size - 1)], counts).wait()
        return rows if self.leads else None


class Swap:
    """Rows on their way."""

    def __init__(self, out: Tensor, work: Any) -> None:
        self._out, self._work = out, work

    def wait(self) -> Tensor:
        """The rows of the others, those of process 0 first."""
        if self._work is not None:
            with reporting_lost_processes():
                self._work.wait()
        return self._out


@contextmanager
def joined(device: str = "cpu") -> Iterator[ProcessGroup | None]:
    """The group this process was started for by `launch` or by torchrun, or None where it was started alone."""
    place = started_here()
    if place is None and not started_by_torchrun():
        yield None
        return
    on_gpu = device.startswith("cuda") or (device == "auto" and torch.cuda.is_available())
    if on_gpu:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) if place is None else place.rank)
    backend = "nccl" if on_gpu else "gloo"
    if place is None:
        dist.init_process_group(backend, timeout=TIMEOUT)
    else:
        store = dist.FileStore(str(place.meeting), place.size)  # type: ignore[attr-defined]
        with reporting_lost_processes():
            dist.init_process_group(backend, store=store, rank=place.rank, world_size=place.size, timeout=TIMEOUT)
    try:
        here = torch.device("cuda", torch.cuda.current_device()) if on_gpu else torch.device("cpu")
        yield ProcessGroup(rank=dist.get_rank(), size=dist.get_world_size(), device=here)
    finally:
        dist.destroy_process_group()


@contextmanager
def reporting_lost_processes() -> Iterator[None]:
    """A collective fails when another process is gone, and that one has the story to tell."""
    try:
        yield
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:200]
        raise ProcessLost(f"another of the processes ended or does not answer ({reason})") from None
