"""Groups of real processes for tests: forked from a server that has imported everything once."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Callable
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from gwn.distributed.process_group import TIMEOUT, ProcessGroup

Work = Callable[..., Any]


def run_group(size: int, folder: Path, work: Work, *args: Any) -> list[Any]:
    """What `work(group, *args)` returned in every process; an exception comes back as its text."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["gwn.distributed.runs", "gwn.models", "graphs"])
    meeting = folder / f"meeting-{len(list(folder.glob('meeting-*')))}"
    answers: SimpleQueue[tuple[int, Any]] = context.SimpleQueue()
    members = [
        context.Process(target=_member, args=(rank, size, meeting, answers, work, args), daemon=True)
        for rank in range(size)
    ]
    for member in members:
        member.start()
    found = dict(answers.get() for _ in members)
    for member in members:
        member.join()
    return [found[rank] for rank in range(size)]


def _member(rank: int, size: int, meeting: Path, answers: Any, work: Work, args: tuple[Any, ...]) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=size, timeout=TIMEOUT)
    try:
        answer = work(ProcessGroup(rank=rank, size=size, device=torch.device("cpu")), *args)
    except BaseException as error:
        answer = f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
    answers.put((rank, answer))
    dist.destroy_process_group()
