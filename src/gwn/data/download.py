"""Where the files are: the folder `GWN_DATA`, which is never written to, then the cache, then the network."""

from __future__ import annotations

import http.client
import os
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from gwn.data.catalogue import DatasetSpec
from gwn.errors import GWNError
from gwn.io import CHUNK_BYTES, being_written, file_sha256

TIMEOUT_SECONDS = 30


@dataclass(frozen=True)
class Located:
    """A root that has all files of a dataset, and their SHA-256."""

    root: Path
    files: dict[str, str]


def cache_root() -> Path:
    """`GWN_CACHE`, else a folder in the user's home; downloads go here."""
    given = os.environ.get("GWN_CACHE")
    return Path(given).expanduser() if given else Path.home() / ".cache" / "gwn"


def data_roots() -> tuple[Path, ...]:
    """The folders that are searched, in order."""
    given = os.environ.get("GWN_DATA")
    if not given:
        return (cache_root() / "data",)
    root = Path(given).expanduser()
    if not root.is_dir():
        raise GWNError(f"GWN_DATA is {given!r}, which is not a folder; set it to the folder that has the datasets")
    return (root, cache_root() / "data")


def on_disk(spec: DatasetSpec) -> bool:
    """Whether a root has all files of `spec`; they are not opened. One that is computed has none and is always here."""
    return not spec.files or any(
        paths and all((root / path).is_file() for path in paths)
        for root in data_roots()
        for paths in (tuple(spec.files), spec.unpacked)
    )


def locate(spec: DatasetSpec) -> Located:
    """The root that has the files of `spec`, every hash checked before anything is opened."""
    roots = data_roots()
    for root in roots:
        for paths in (tuple(spec.files), spec.unpacked):
            if (paths or not spec.files) and all((root / path).is_file() for path in paths):
                return Located(root, {path: _checked(spec, root, path) for path in paths})
    missing = next(path for path in spec.files if not (roots[0] / path).is_file())
    for path in spec.files:
        target = roots[-1] / path
        if not target.is_file():
            _download(spec, path, target, missing=roots[0] / missing)
    return Located(roots[-1], {path: _checked(spec, roots[-1], path) for path in spec.files})


def _checked(spec: DatasetSpec, root: Path, path: str) -> str:
    try:
        found = file_sha256(root / path)
    except OSError as error:
        raise GWNError(f"{path} in {root} cannot be read: {error.strerror}") from error
    _require_hash(spec, path, found, where=f"in {root}")
    return found


def _require_hash(spec: DatasetSpec, path: str, found: str, *, where: str) -> None:
    expected = spec.files.get(path, "")
    if spec.pinned and found != expected:
        raise GWNError(
            f"{spec.name}: {path} {where} is not the original (SHA-256 {found[:12]}…, expected {expected[:12]}…) "
            "and was not opened; delete it to download it again, or restore the original"
        )


def _download(spec: DatasetSpec, path: str, target: Path, *, missing: Path) -> None:
    """Fetch one file; what comes is checked before it gets its name."""
    advice = "set GWN_CACHE to a folder that can be written to"
    with being_written(target, advice=advice) as private:
        try:
            with private.open("wb") as file, urllib.request.urlopen(spec.urls[path], timeout=TIMEOUT_SECONDS) as answer:
                while chunk := answer.read(CHUNK_BYTES):
                    file.write(chunk)
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
            raise GWNError(
                f"{spec.name}: {missing.name} is missing in {missing.parent} and could not be downloaded ({reason}); "
                "set GWN_DATA to a folder that has it, or try again with a network"
            ) from error
        _require_hash(spec, path, file_sha256(private), where=f"from {spec.urls[path]}")
