"""`gwn train` in several processes: who starts them, who leads, and what each says when it ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

import typer

from gwn.errors import GWNError, TeamBroken

if TYPE_CHECKING:
    from gwn.data.folders.folder import GraphFolder
    from gwn.distributed.runs import Leader
    from gwn.training import Experiment

_leader: Leader | None = None
P = ParamSpec("P")


def shared_by_processes(command: Callable[P, None]) -> Callable[P, None]:
    """Run a command with `--processes`, `--partition`, `--checkpoint` and `--force` in one process or in several.

    The process that only starts others, and those that only follow the leader, never enter the command itself.
    """

    @wraps(command)
    def run(*args: P.args, **given: P.kwargs) -> None:
        global _leader
        with _team_of(given) as _leader:
            command(*args, **given)

    return run


def shared() -> bool:
    """Whether several processes work on this command."""
    return _leader is not None


def with_team(experiment: Experiment, graph: GraphFolder | None) -> Experiment:
    """The experiment as the processes of this command compute it; of a graph folder, each reads its rows."""
    if _leader is None:
        return experiment
    from gwn.distributed.runs import TeamExperiment

    return TeamExperiment.of(experiment, _leader, graph)


@contextmanager
def _team_of(given: Mapping[str, Any]) -> Iterator[Leader | None]:
    """The leader of the processes that work on this command, or None where there is one process."""
    import torch.distributed as dist

    processes, started_by_torchrun = given["processes"], dist.is_torchelastic_launched()
    if processes is not None and not started_by_torchrun:
        from gwn.distributed.launch import launch

        launch(processes, sys.argv[1:])
        raise typer.Exit
    if not started_by_torchrun:
        yield None
        return
    from gwn.distributed.launch import BROKEN, LAUNCHED
    from gwn.distributed.process_group import joined
    from gwn.distributed.runs import Leader, follow

    try:
        with joined(given["device"]) as team:
            assert team is not None
            if processes not in (None, team.size):
                raise GWNError(f"--processes {processes} was given, but torchrun started {team.size}; leave it out")
            if not team.leads:
                follow(team)
                raise typer.Exit
            leader = Leader(team, partition=given["partition"])
            try:
                yield leader
            finally:
                leader.dismiss()
    except TeamBroken as error:
        if LAUNCHED not in os.environ and os.environ.get("RANK") == "0":
            print(f"gwn: {error}; what was finished is kept, the same command continues", file=sys.stderr)
        sys.exit(BROKEN)
