"""`gwn train` in several processes: who starts them, who leads, and what each says when it ends."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, NoReturn

import typer

from gwn.errors import GWNError, ProcessLost

if TYPE_CHECKING:
    from gwn.distributed.runs import Leader


@contextmanager
def training_processes(processes: int | None, *, device: str, partition: str) -> Iterator[Leader | None]:
    """The leader of the processes that work on this command, or None where there is one process.

    The process that only starts others, and those that only follow the leader, leave the command here.
    """
    from gwn.distributed.launch import LOST, ended_with_launcher, launch, started_by_torchrun, started_here

    launched = started_here() is not None
    if not launched and not started_by_torchrun():
        if processes is not None:
            launch(processes, sys.argv[1:])
            raise typer.Exit
        yield None
        return
    try:
        with ended_with_launcher() if launched else nullcontext():
            from gwn.distributed.process_group import joined
            from gwn.distributed.runs import Leader, follow

            with joined(device) as group:
                assert group is not None
                if processes not in (None, group.size):
                    raise GWNError(
                        f"--processes {processes} was given, but torchrun started {group.size}; leave it out"
                    )
                if group.leads:
                    leader = Leader(group, partition=partition)
                    try:
                        yield leader
                    finally:
                        leader.dismiss()
                    return
                follow(group)
        leave_at_once(0)
    except ProcessLost as error:
        if not launched and os.environ.get("RANK") == "0":
            print(f"gwn: {error}; what was finished is kept, the same command continues", file=sys.stderr)
        sys.exit(LOST)


def one_of_several() -> bool:
    """Whether this process is one of those that were started together for the command."""
    from gwn.distributed.launch import started_by_torchrun, started_here

    return started_here() is not None or started_by_torchrun()


def leave_at_once(code: int) -> NoReturn:
    """End the process of a leader or a follower, which has nothing left to write.

    Where it takes PyTorch's libraries down in order, one of their threads may still run: that ends the process by an
    abort, rarely, and torchrun then ends all the others.
    """
    atexit._run_exitfuncs()  # trackers send what they hold
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
