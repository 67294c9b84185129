"""Where files come from: never opened before their hash is known, never written to the root, downloaded whole."""

from __future__ import annotations

import io
import os
import pickle
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from gwn.data import DATASETS, load_dataset
from gwn.data.describe import verify
from gwn.data.download import locate
from gwn.errors import GWNError


class Trap:
    """A pickle that leaves a file behind when it is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


def link(data_root: Path, folder: Path, *names: str) -> Path:
    for name in names:
        for path in DATASETS[name].files:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).symlink_to(data_root / path)
    return folder


def one_line(error: GWNError) -> str:
    assert "\n" not in str(error)
    return str(error)


def test_a_changed_pickle_is_refused_before_it_is_opened(
    data_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = link(data_root, tmp_path / "data", "cora")
    sprung = tmp_path / "sprung"
    target = root / "Cora/raw/ind.cora.allx"
    target.unlink()
    target.write_bytes(pickle.dumps(Trap(sprung)))
    monkeypatch.setenv("GWN_DATA", str(root))
    with pytest.raises(GWNError, match=r"ind\.cora\.allx .*is not the original.*was not opened") as caught:
        load_dataset("cora")
    one_line(caught.value)
    assert not sprung.exists()
    assert dict(verify("cora"))["Cora/raw/ind.cora.allx"] == "changed"
    pickle.loads(target.read_bytes())
    assert sprung.exists()  # the trap works: this test can fail


@pytest.mark.parametrize("name", ["texas", "photo", "minesweeper", "chameleon-filtered"])
def test_one_changed_byte_is_refused(
    name: str, data_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = link(data_root, tmp_path, name)
    path = root / next(iter(DATASETS[name].files))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.unlink()
    path.write_bytes(content)
    monkeypatch.setenv("GWN_DATA", str(root))
    with pytest.raises(GWNError, match="is not the original"):
        load_dataset(name)


def test_the_root_is_never_written_to(
    data_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path
) -> None:
    root = tmp_path / "data"
    shutil.copytree(data_root / "texas", root / "texas")
    for folder in (root / "texas" / "raw", root / "texas", root):
        folder.chmod(0o555)
    before = sorted(root.rglob("*"))
    monkeypatch.setenv("GWN_DATA", str(root))
    try:
        assert load_dataset("texas").graph.num_nodes == 183
        assert sorted(root.rglob("*")) == before
        assert not list(own_cache.rglob("*.pt"))
    finally:
        for folder in (root, root / "texas", root / "texas" / "raw"):
            folder.chmod(0o755)


def test_loading_is_quiet(data_root: Path) -> None:
    code = "from gwn.data import load_dataset; load_dataset('texas'); load_dataset('cora')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""


@pytest.mark.parametrize("name", [name for name, spec in DATASETS.items() if spec.files])
def test_without_file_and_network_one_line_says_what_is_missing_where(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GWN_DATA", str(tmp_path))
    first = tmp_path / next(iter(DATASETS[name].files))
    with pytest.raises(GWNError) as caught:
        load_dataset(name)
    message = one_line(caught.value)
    assert first.name in message
    assert str(first.parent) in message
    assert "GWN_DATA" in message
    assert "no network in tests" in message
    assert {status for _, status in verify(name)} == {"missing"}


def test_without_gwn_data_the_cache_is_the_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GWN_DATA", raising=False)
    monkeypatch.setenv("GWN_CACHE", str(tmp_path))
    with pytest.raises(GWNError, match=str(tmp_path / "data" / "Cora" / "raw")):
        load_dataset("cora")


def test_a_root_that_is_no_folder_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GWN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(GWNError, match=r"nowhere.*not a folder"):
        load_dataset("cora")


def test_an_unwritable_cache_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.delenv("GWN_DATA", raising=False)
    monkeypatch.setenv("GWN_CACHE", str(tmp_path / "file"))
    with pytest.raises(GWNError, match="set GWN_CACHE to a folder that can be written to") as caught:
        load_dataset("cora")
    one_line(caught.value)


def test_digits_and_csbm_need_no_file_and_no_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GWN_DATA", raising=False)
    monkeypatch.setenv("GWN_CACHE", str(tmp_path / "cache"))
    assert load_dataset("digits").files == {}
    assert load_dataset("csbm").files == {}
    assert not (tmp_path / "cache").exists()


def test_missing_files_are_downloaded_into_the_cache_and_checked(
    data_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = DATASETS["cornell"]
    served = {url: data_root / path for path, url in spec.urls.items()}
    asked: list[str] = []

    def serve(url: str, *, timeout: float) -> io.BytesIO:
        asked.append(url)
        return io.BytesIO(served[url].read_bytes())

    monkeypatch.setattr(urllib.request, "urlopen", serve)
    monkeypatch.delenv("GWN_DATA", raising=False)
    monkeypatch.setenv("GWN_CACHE", str(tmp_path))
    assert load_dataset("cornell").files == spec.files
    assert sorted(asked) == sorted(spec.urls.values())
    load_dataset("cornell")
    assert len(asked) == len(spec.urls)  # the second time from the cache
    assert not list(tmp_path.rglob(".partial-*"))


def test_a_download_with_the_wrong_content_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urllib.request, "urlopen", lambda url, timeout: io.BytesIO(b"<html>moved</html>"))
    monkeypatch.delenv("GWN_DATA", raising=False)
    monkeypatch.setenv("GWN_CACHE", str(tmp_path))
    with pytest.raises(GWNError, match=r"from https://.* is not the original"):
        load_dataset("cora")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_file_of_unknown_hash_is_read_only_where_it_cannot_run_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy as np

    sprung = tmp_path / "sprung"
    target = tmp_path / "DeezerEurope/raw/deezer_europe.npz"
    target.parent.mkdir(parents=True)
    trap = np.array([Trap(sprung)], dtype=object)
    np.savez(target, features=trap, target=trap, edges=trap)
    monkeypatch.setenv("GWN_DATA", str(tmp_path))
    assert locate(DATASETS["deezer-europe"]).root == tmp_path
    assert verify("deezer-europe") == [("DeezerEurope/raw/deezer_europe.npz", "unknown")]
    with pytest.raises(GWNError, match="plain arrays"):
        load_dataset("deezer-europe")
    assert not sprung.exists()
