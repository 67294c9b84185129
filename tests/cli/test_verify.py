"""`gwn verify` and what lies behind it: seals, folders replaced by exchange, and places that are looked at first."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import gwn.io
from commands import Command
from gwn import GWNError
from gwn.data.folders.folder import GraphFolder
from gwn.io import publish, read_json, remove_abandoned_folders, require_space, require_writable, write_json

GENERATE = ("data", "generate", "--nodes", "40", "--edges", "60", "--features", "3", "--classes", "3", "--quiet")


def flip(path: Path, place: int, bit: int = 0) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << bit
    path.write_bytes(content)


def test_sound_files_pass_and_each_damaged_one_is_named(command: Command, tmp_path: Path) -> None:
    command(*GENERATE, "--out", "graph")
    small = ("--runs", "1", "--set", "epochs=2", "--set", "hidden_channels=4", "--quiet")
    trained = command("train", "graph", "--model", "gwn-sym", "--precompute", "--memory", "4GB", *small)
    assert trained.returncode == 0, trained.stderr
    sound = command("verify", ".", "--json")
    assert sound.returncode == 0, sound.stderr
    assert json.loads(sound.stdout)["wrong"] == 0
    # The model card is a page for people: no command reads it, and it has no seal.
    stored = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".md"]
    assert {"meta.json", "config.json", "run-00.json", "result.json", "run-00.safetensors", "x.npy"} <= {
        path.name for path in stored
    }
    for path in stored:
        content = path.read_bytes()
        flip(path, len(content) - 5)
        found = command("verify", ".")
        assert found.returncode == 2, path
        assert path.stem in found.stderr, path
        path.write_bytes(content)
    assert command("verify", "nowhere").returncode == 2
    (tmp_path / "empty").mkdir()
    assert "no file of gwn" in command("verify", "empty").stderr


def test_nothing_is_vouched_for_that_has_no_seal(command: Command, tmp_path: Path) -> None:
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings" / "gcn.toml").write_text("[digits.stratified.training]\nlr = 7.5\n")
    found = command("verify", "settings")
    assert found.returncode == 0, found.stderr
    assert "1 settings and studies have no seal: they could only be read." in found.stdout
    assert "are what was written" not in found.stdout


def test_no_flipped_bit_of_a_record_is_silent(tmp_path: Path) -> None:
    """Every bit of the file, the marks of the seal included: refused, or the content is what it was."""
    path, data = tmp_path / "record.json", {"name": "a", "values": [1.5, None, -3e-7], "inside": {"x": True}}
    write_json(path, data)
    assert read_json(path) == data
    content = path.read_bytes()
    refused = 0
    for place in range(len(content)):
        for bit in range(8):
            flip(path, place, bit)
            try:
                assert read_json(path) == data
            except GWNError:
                refused += 1
            path.write_bytes(content)
    assert refused > 7.9 * len(content)


def test_damaged_graph_folder_is_refused_when_it_is_read(command: Command, tmp_path: Path) -> None:
    command(*GENERATE, "--out", "graph")
    flip(tmp_path / "graph" / "x.npy", -9)
    refused = command("train", "graph", "--model", "mlp", "--runs", "1", "--quiet")
    assert refused.returncode == 2
    assert "x.npy is not what was written" in refused.stderr


def test_force_replaces_a_folder(command: Command, tmp_path: Path) -> None:
    hashes = []
    for more in (("--seed", "1"), ("--seed", "2", "--force")):
        assert command(*GENERATE, "--out", "graph", *more).returncode == 0
        hashes.append(GraphFolder.open(tmp_path / "graph").hashes)
    assert hashes[0] != hashes[1]
    assert not list(tmp_path.glob(".graph*"))


class Killed(BaseException):
    """In the place of a signal."""


@pytest.mark.parametrize("at", [1, 2, 3, None])
def test_where_names_cannot_be_exchanged_no_folder_is_lost(
    at: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before any of the three renames, the next command finds the old folder or the new one."""
    target, private = tmp_path / "graph", tmp_path / ".graph.partial-1"
    for folder, content in ((target, "old"), (private, "new")):
        folder.mkdir()
        (folder / "meta.json").write_text(content)
    renames, real = [], os.replace

    def replace(source: Path, goal: Path) -> None:
        renames.append(goal)
        if len(renames) == at:
            raise Killed
        real(source, goal)

    monkeypatch.setattr(sys, "platform", "elsewhere")
    monkeypatch.setattr(os, "replace", replace)
    with suppress(Killed):
        publish(private, target, replace=True)
    monkeypatch.setattr(os, "replace", real)
    monkeypatch.setattr(gwn.io, "is_running", lambda process: False)
    remove_abandoned_folders(target)
    assert (target / "meta.json").read_text() == ("old" if at in (1, 2) else "new")
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]


def test_a_place_that_cannot_hold_the_outcome_is_refused_first(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    with pytest.raises(GWNError, match=r"cannot write .*: Not a directory; choose another place with --out"):
        require_writable(tmp_path / "file" / "page.html")
    require_writable(tmp_path / "new" / "folder" / "page.html")
    assert not (tmp_path / "new").exists()
    with pytest.raises(GWNError, match=r"needs about 1e\+09 GB and its disk has .* GB free"):
        require_space(tmp_path / "new", 10**18)
