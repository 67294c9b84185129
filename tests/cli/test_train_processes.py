"""`gwn train` in several processes, as installed: killed in the middle, gone on with by another number of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from gwn.cli.main import main

TRAIN = ["train", "csbm", "--model", "gwn-sym", "--runs", "1", "--set", "dropout=0", "--set", "hidden_channels=8"]
EPOCHS = ["--set", "epochs=150", "--set", "dtype=float64", "--set", "stopping=none", "--json", "--checkpoint", "0"]
PATIENCE = 1800.0
LISTEN = "0A"
LOOPBACK = {"0100007F", "00000000000000000000000001000000"}
"""127.0.0.1 and ::1, as /proc writes them."""


def children_of(parent: int) -> list[int]:
    """Every process that `parent` started."""
    listed = Path(f"/proc/{parent}/task").glob("*/children")
    return [int(pid) for path in listed for pid in path.read_text().split()]


def listening(pid: int) -> set[str]:
    """The addresses on which a process waits for TCP connections, and those of all its UDP sockets, in hexadecimal."""
    sockets = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed in between
            sockets.add(os.readlink(descriptor))
    found = set()
    for protocol in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{pid}/net/{protocol}").read_text().splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if f"socket:[{rest[5]}]" in sockets and (state == LISTEN or protocol.startswith("udp")):
                found.add(local.split(":")[0])
    return found


@contextmanager
def training(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """The command in two processes, in the middle of its run; all of them write to one pipe."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "gwn", *TRAIN, *options, "--processes", "2", "--out", "runs"]
    with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as started:
        deadline = time.monotonic() + PATIENCE
        while not list(folder.glob("runs/*/*.checkpoint")):
            assert time.monotonic() < deadline
            assert started.poll() is None
            time.sleep(0.1)
        yield started


def result_of(text: str) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(text)["runs"][0]
    return {name: run[name] for name in ("val", "test", "val_loss", "best_epoch", "epochs")}


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes under /proc")
def test_killed_process_ends_all_and_torchrun_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with training(tmp_path, *EPOCHS) as started:
        os.kill(children_of(started.pid)[-1], signal.SIGKILL)
        _, said = started.communicate(timeout=PATIENCE)
    assert started.returncode == 2
    assert said.count("\n") == 1, said
    assert "of 2 was killed by SIGKILL, perhaps for lack of memory, so all were stopped" in said
    assert "the same command goes on from the last checkpoint" in said
    assert len(list(tmp_path.glob("runs/*/run-00.checkpoint"))) == 1  # nothing lost
    assert not list(tmp_path.glob("runs/*/run-00.json"))  # and no half result

    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "3", "-m", "gwn"]
    rest = [*TRAIN, *EPOCHS, "--out", "runs"]
    finished = subprocess.run(
        [*torchrun, *rest], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert finished.returncode == 0, finished.stderr
    assert "going on after epoch" in finished.stderr
    with pytest.raises(SystemExit) as ended:
        main([*TRAIN, *EPOCHS, "--out", str(tmp_path / "alone")])
    assert ended.value.code == 0
    assert result_of(finished.stdout) == pytest.approx(result_of(capsys.readouterr().out), rel=1e-5)
    assert not list(tmp_path.glob("runs/*/*.checkpoint"))  # of no more use


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for sockets under /proc")
def test_only_this_machine_can_reach_the_processes_and_they_end_with_their_launcher(tmp_path: Path) -> None:
    with training(tmp_path, *EPOCHS, "--set", "epochs=1000000") as started:
        members = children_of(started.pid)
        assert len(members) == 2
        assert listening(started.pid) == set()
        found = set().union(*(listening(pid) for pid in members))
        assert found, "gloo waits for its peers somewhere"
        assert found <= LOOPBACK
        started.kill()
        _, said = started.communicate(timeout=PATIENCE)  # the pipe is at its end when the last of them has gone
    assert said == ""


def test_a_process_watches_its_launcher_where_the_system_does_not() -> None:
    """As on a Mac: the process asks now and then whether the one that started it is still there."""
    child = "import sys; sys.platform = 'other'\n"
    child += "from gwn.distributed.launch import ended_with_launcher\n"
    child += "import threading\n"
    child += "with ended_with_launcher(): print('here', flush=True); threading.Event().wait()"
    parent = "import os, subprocess, sys\n"
    parent += (
        "subprocess.run([sys.executable, '-c', sys.argv[1]], env={**os.environ, 'GWN_LAUNCHER': str(os.getpid())})"
    )
    with subprocess.Popen([sys.executable, "-c", parent, child], stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == "here\n"
        started.kill()
        assert started.stdout.read() == ""  # at its end when the child has gone


def test_bad_numbers_of_processes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*TRAIN, "--processes", "0", "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "gwn: --processes must be at least 1; got 0\n"
