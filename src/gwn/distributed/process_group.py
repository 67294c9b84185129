"""The processes that share one graph: who they are, and what they say to each other.

Everything is `torch.distributed`: gloo between CPUs, NCCL between GPUs. `torchrun` (or `gwn train --processes`) starts
the processes and tells each its rank; process 0 leads: it reads, writes and prints.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from gwn.errors import TeamBroken

TIMEOUT = timedelta(minutes=30)
"""How long a process waits for another that is alive and silent; a dead one is noticed at once."""


@dataclass(frozen=True, kw_only=True)
class Team:
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
            with blaming_others():
                dist.all_reduce(x)
        return x

    def from_leader(self, value: Any) -> Any:
        """The leader's value, for everybody."""
        if self.size == 1:
            return value
        box = [value]
        with blaming_others():
            dist.broadcast_object_list(box, src=0, device=self.device)
        return box[0]

    def deal(self, values: Sequence[Any] | None) -> Any:
        """The leader has one value for each process; everybody gets their own."""
        if self.size == 1:
            assert values is not None
            return values[0]
        box: list[Any] = [None]
        with blaming_others():
            dist.scatter_object_list(box, None if values is None else list(values), src=0)
        return box[0]

    def swap(self, x: Tensor, give: Sequence[int], take: Sequence[int]) -> Swap:
        """Start to send the first `give[0]` rows to process 0, the next `give[1]` to process 1, and so on."""
        out = x.new_empty(sum(take), *x.shape[1:])
        if self.size == 1:
            return Swap(out, None)
        with blaming_others():
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
            with blaming_others():
                self._work.wait()
        return self._out


@contextmanager
def joined(device: str = "cpu") -> Iterator[Team | None]:
    """The team this process was started for by torchrun, or None where it was started alone."""
    if not dist.is_torchelastic_launched():
        yield None
        return
    on_gpu = device.startswith("cuda") or (device == "auto" and torch.cuda.is_available())
    if on_gpu:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if on_gpu else "gloo", timeout=TIMEOUT)
    try:
        place = torch.device("cuda", torch.cuda.current_device()) if on_gpu else torch.device("cpu")
        yield Team(rank=dist.get_rank(), size=dist.get_world_size(), device=place)
    finally:
        dist.destroy_process_group()


@contextmanager
def blaming_others() -> Iterator[None]:
    """A collective fails when another process is gone, and that one has the story to tell."""
    try:
        yield
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:200]
        raise TeamBroken(f"another of the processes ended or does not answer ({reason})") from None
