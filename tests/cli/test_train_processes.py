"""`gwn train` in several processes, as installed: killed in the middle, gone on with by another number of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gwn.cli.main import main

TRAIN = ["train", "csbm", "--model", "gwn-sym", "--runs", "1", "--set", "dropout=0", "--set", "hidden_channels=8"]
EPOCHS = ["--set", "epochs=150", "--set", "dtype=float64", "--set", "stopping=none", "--json", "--checkpoint", "0"]
PATIENCE = 1800.0


def children_of(parent: int) -> list[int]:
    """Every process that `parent` started."""
    listed = Path(f"/proc/{parent}/task").glob("*/children")
    return [int(pid) for path in listed for pid in path.read_text().split()]


def result_of(text: str) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(text)["runs"][0]
    return {name: run[name] for name in ("val", "test", "val_loss", "best_epoch", "epochs")}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes under /proc")
def test_killed_process_ends_all_and_torchrun_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "gwn", *TRAIN, *EPOCHS, "--processes", "2", "--out", "runs"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as started:
        deadline = time.monotonic() + PATIENCE
        while not list(tmp_path.glob("runs/*/*.checkpoint")):
            assert time.monotonic() < deadline
            assert started.poll() is None
            time.sleep(0.1)
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


def test_bad_numbers_of_processes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*TRAIN, "--processes", "0", "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "gwn: --processes must be at least 1; got 0\n"
