"""A run killed in the middle goes on, in one process too: to the bit the run that was left alone."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch

import gwn.training.checkpoint
from gwn.cli.main import main
from gwn.training.checkpoint import Progress

KILLED_AT = 4
TRAIN = ["--runs", "2", "--set", "hidden_channels=8", "--set", "epochs=9", "--set", "stopping=none", "--no-tuned"]


def train_and_kill(arguments: list[str]) -> None:
    """The command, in a process that kills itself before it writes a certain checkpoint."""
    save = gwn.training.checkpoint.save_checkpoint

    def kill_later(path: Path, key: str, model: Any, optimizer: Any, progress: Progress) -> None:
        if progress.epoch == KILLED_AT:
            os.kill(os.getpid(), signal.SIGKILL)
        save(path, key, model, optimizer, progress)

    gwn.training.checkpoint.save_checkpoint = kill_later
    torch.set_num_threads(1)
    main(arguments)


def command(*arguments: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert ended.value.code == 0


def what_came_out(folder: Path) -> dict[str, Any]:
    """The result without what is measured by a clock or by the system's counters."""
    (path,) = folder.glob("*/result.json")
    result: dict[str, Any] = json.loads(path.read_text())
    del result["created"], result["seal"], result["summary"]["seconds"]
    for run in result["runs"]:
        del run["seconds"], run["peak_memory_mib"]
    assert all(run["weights_sha256"] for run in result["runs"])
    return result


@pytest.mark.parametrize("how", ["in memory", "batches", "partitions", "files", "labels"])
def test_killed_run_goes_on_to_the_same_bits(how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if how == "partitions":
        pytest.importorskip("pymetis")
    folder = str(tmp_path / "graph")
    if how == "files":
        sizes = ("--nodes", "500", "--edges", "900", "--features", "4", "--classes", "3")
        command("data", "generate", *sizes, "--quiet", "--out", folder)
    train = {
        "in memory": ["train", "csbm", "--model", "gwn-fa", *TRAIN],
        "batches": ["train", "csbm", "--model", "gwn-sym", "--precompute", "--set", "batch_size=100", *TRAIN],
        "partitions": ["train", "csbm", "--model", "gwn-fa", "--set", "partitions=3", *TRAIN],
        "labels": ["train", "csbm", "--model", "gwn-sym", "--labels", "masked", "--smooth", "correct", *TRAIN],
        "files": ["train", folder, "--model", "gwn-sym", "--precompute", "--memory", "4GB", *TRAIN],
    }[how]
    killed, whole = [*train, "--checkpoint", "0", "--out", str(tmp_path / "killed")], tmp_path / "whole"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["gwn.cli.main", "gwn.training", "gwn.models"])
    process = context.Process(target=train_and_kill, args=(killed,))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert len(list(tmp_path.glob("killed/*/run-00.checkpoint"))) == 1
    capsys.readouterr()
    command(*killed)
    assert f"run-00: going on after epoch {KILLED_AT - 1}\n" in capsys.readouterr().err
    assert not list(tmp_path.glob("killed/*/*.checkpoint"))
    command(*train, "--out", str(whole))
    assert what_came_out(tmp_path / "killed") == what_came_out(whole)


def test_force_begins_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train = ["train", "csbm", "--model", "gwn-sym", *TRAIN, "--runs", "1", "--out", str(tmp_path)]
    command(*train)
    (record,) = tmp_path.glob("*/run-00.json")
    record.with_suffix(".checkpoint").write_bytes(b"left over and damaged")
    capsys.readouterr()
    command(*train, "--force")
    assert "going on" not in capsys.readouterr().err
    assert not record.with_suffix(".checkpoint").exists()
