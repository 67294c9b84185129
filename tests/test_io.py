"""Files under `runs/`: whole or not at all, never somebody else's, never a pickle."""

from __future__ import annotations

import errno
import hashlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gwn import GWNError
from gwn.io import (
    being_written,
    content_key,
    file_sha256,
    machine_lock,
    read_json,
    read_weights,
    safe_name,
    write_atomic,
    write_json,
    write_weights,
)


def fail(error: BaseException) -> Any:
    def raise_it(*arguments: Any) -> None:
        raise error

    return raise_it


def test_content_key() -> None:
    key = content_key({"a": 1, "b": {"c": [1, 2]}})
    assert len(key) == 12
    assert key == content_key({"b": {"c": [1, 2]}, "a": 1})
    others: list[dict[str, Any]] = [
        {"a": 1, "b": {"c": [2, 1]}},
        {"a": 2, "b": {"c": [1, 2]}},
        {"a": 1.5, "b": {"c": [1, 2]}},
        {"a": 1},
    ]
    assert len({key, *map(content_key, others)}) == 5


def test_writing_makes_folders_and_replaces(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "file.json"
    write_json(target, {"n": 1})
    write_json(target, {"n": 2})
    assert read_json(target) == {"n": 2}
    assert [path.name for path in target.parent.iterdir()] == ["file.json"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    target = tmp_path / "file.json"
    write_json(target, {"n": 1})
    monkeypatch.setattr(os, call, fail(OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(GWNError, match="the disk is full") as error:
        write_json(target, {"n": 2})
    assert str(target) in str(error.value)
    assert "\n" not in str(error.value)
    assert read_json(target) == {"n": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["file.json"], "no half-written file is left behind"


def test_an_interrupt_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "file.json"
    write_json(target, {"n": 1})
    monkeypatch.setattr(os, "fsync", fail(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        write_json(target, {"n": 2})
    assert read_json(target) == {"n": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["file.json"]


def noted(call: Callable[..., Any], name: str, calls: list[str]) -> Callable[..., Any]:
    """The call, which also leaves its name in `calls`."""

    def both(*arguments: Any) -> Any:
        calls.append(name)
        return call(*arguments)

    return both


def test_the_content_is_on_disk_before_the_name_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    for name in ("fsync", "replace"):
        monkeypatch.setattr(os, name, noted(getattr(os, name), name, calls))
    write_atomic(tmp_path / "file", b"content")
    assert calls == ["fsync", "replace", "fsync"], "the file, its new name, then the folder that holds the name"
    assert (tmp_path / "file").read_bytes() == b"content"


def test_an_unwritable_place_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(GWNError, match="cannot write") as error:
        write_json(tmp_path / "file" / "result.json", {})
    assert "\n" not in str(error.value)
    assert (tmp_path / "file").read_text() == "in the way"


def test_nan_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "file.json", {"score": float("nan")})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1', "cannot be read as JSON"),
        (b"", "cannot be read as JSON"),
        (b"[1]", "JSON object"),
        (b"\xff", "JSON"),
    ],
)
def test_a_broken_json_file_is_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "file.json").write_bytes(content)
    with pytest.raises(GWNError, match=message) as error:
        read_json(tmp_path / "file.json")
    assert "\n" not in str(error.value)


def test_a_missing_json_file(tmp_path: Path) -> None:
    with pytest.raises(GWNError, match="does not exist"):
        read_json(tmp_path / "file.json")


def weights() -> dict[str, torch.Tensor]:
    return {"a": torch.arange(6.0).reshape(2, 3).t(), "none": torch.empty(0), "b": torch.ones(2, dtype=torch.float64)}


def test_weights_there_and_back(tmp_path: Path) -> None:
    sha256 = write_weights(tmp_path / "w.safetensors", weights())
    assert sha256 == hashlib.sha256((tmp_path / "w.safetensors").read_bytes()).hexdigest()
    again = read_weights(tmp_path / "w.safetensors", sha256)
    assert again.keys() == weights().keys()
    for name, tensor in weights().items():
        assert torch.equal(again[name], tensor)
        assert again[name].dtype == tensor.dtype


def test_changed_or_cut_weights_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    sha256 = write_weights(path, weights())
    content = path.read_bytes()
    flipped = bytearray(content)
    flipped[-1] ^= 1
    for broken in (bytes(flipped), content[:-4], content + b"\0", b""):
        path.write_bytes(broken)
        with pytest.raises(GWNError, match="truncated or were changed"):
            read_weights(path, sha256)
    path.unlink()
    with pytest.raises(GWNError, match="cannot read the weights"):
        read_weights(path, sha256)


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, tuple[str]]:
            return os.mkdir, (str(tmp_path / "sprung"),)

    path = tmp_path / "w.safetensors"
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(GWNError, match="cannot be read"):
        read_weights(path, hashlib.sha256(path.read_bytes()).hexdigest())
    assert not (tmp_path / "sprung").exists()


def test_what_fails_while_it_is_written_is_not_there(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    with pytest.raises(RuntimeError), being_written(target) as private:  # noqa: PT012
        private.write_text("half")
        raise RuntimeError("the network blew up")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path: Path) -> None:
    target = tmp_path / "[a] *.json"
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    mine, theirs = (tmp_path / f".{target.name}.part-{owner}-x" for owner in (ended.pid, os.getppid()))
    other = tmp_path / f".other.json.part-{ended.pid}-x"
    for left in (mine, theirs, other):
        left.write_text("half")
    write_json(target, {"n": 1})
    assert {path.name for path in tmp_path.iterdir()} == {target.name, theirs.name, other.name}


@pytest.mark.parametrize("name", ["cora", "my graph", "größe-1.5", "a.b"])
def test_an_ordinary_name_stays(name: str) -> None:
    assert safe_name(name) == name


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "a/b", "..", "", "C:\\x", "a\nb", ".hidden", "x" * 999])
def test_no_name_leads_out_of_its_folder(tmp_path: Path, name: str) -> None:
    path = tmp_path / safe_name(name)
    assert path.parent == tmp_path
    assert path.resolve().parent == tmp_path.resolve()
    write_atomic(path, b"content")
    assert file_sha256(path) == hashlib.sha256(b"content").hexdigest()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="users have numbers on POSIX alone")
def test_a_lock_needs_no_name_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that runs under a number of its own."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    nameless: dict[int, Any] = {}
    monkeypatch.setattr("pwd.getpwuid", nameless.__getitem__)
    with machine_lock("of nobody").acquire(timeout=0):
        pass
