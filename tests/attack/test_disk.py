"""The watched disk: it sees what a missing flush would lose."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import gwn.io

from .arena import nothing
from .disk import Disk

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the campaign forks and reads /proc")


def states(tmp_path: Path, work: Callable[[Path], object]) -> dict[str, dict[str, str]]:
    """Kind -> what is on the disk after `work`, which a process of its own does."""
    folder, kept = tmp_path / "folder", tmp_path / "states"
    folder.mkdir()
    kept.mkdir()
    child = os.fork()
    if child == 0:
        disk = Disk(folder, states=kept)
        disk.install()
        work(folder)
        disk.ended()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    last = [line.split() for line in (kept / "list").read_text().splitlines()]
    final = {kind: kept / state for number, kind, state in last if number == last[-1][0]}
    return {
        kind: {str(path.relative_to(state)): path.read_text() for path in state.rglob("*") if path.is_file()}
        for kind, state in final.items()
    }


def test_what_is_written_as_we_write_survives_everything(tmp_path: Path) -> None:
    found = states(tmp_path, lambda folder: gwn.io.write_atomic(folder / "new" / "file", b"content"))
    assert found == {kind: {"new/file": "content"} for kind in ("kill", "power", "names")}


@pytest.mark.parametrize("kind", ["power", "names"])
def test_a_missing_flush_is_seen(tmp_path: Path, kind: str) -> None:
    """Of the content, then of the folder: the name is there without content, or not at all."""

    def work(folder: Path) -> None:
        def only(path: Path) -> None:
            if path.is_dir() == (kind == "power"):
                flush(path)

        flush, gwn.io.sync = gwn.io.sync, only
        gwn.io.write_atomic(folder / "file", b"content")

    found = states(tmp_path, work)
    assert found["kill"] == {"file": "content"}
    assert found[kind] == ({"file": ""} if kind == "power" else {})


def test_nothing_is_lost_where_nothing_is_done(tmp_path: Path) -> None:
    assert states(tmp_path, lambda folder: nothing()) == {"kill": {}, "power": {}, "names": {}}
