"""Files, written whole or not at all: the only place that knows how bytes, JSON, TOML and tensors get to a disk.

A file is written under a private name beside its target, flushed to the disk, and renamed; then the folder is flushed,
so that the new name survives a power cut too. A reader sees the old file or the new one. Nothing is ever pickled.

Every JSON file of ours is sealed: it begins with `"sealed"` and ends with `"seal"`, the SHA-256 of its content. What
has one of the two must have both, so no single flipped bit makes a sealed file look like an old one without a seal.
"""

from __future__ import annotations

import ctypes
import errno
import getpass
import hashlib
import json
import math
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from filelock import FileLock

from gwn.errors import GWNError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from torch import Tensor

CHUNK_BYTES = 1 << 20
LONGEST_NAME = 100
MOST_BYTES = 1 << 32
"""Of a file that is read as a whole."""

MOST_TOML = 1 << 22
MOST_DOTS = 100
SEALED, SEAL = "sealed", "seal"
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069/\\:*?"<>|]')
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def content_key(description: Mapping[str, Any]) -> str:
    """Twelve hex digits that are equal exactly when the description is."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:12]


def safe_name(name: str, longest: int = LONGEST_NAME) -> str:
    """`name` as part of a file name that cannot lead out of its folder; a name that is one already stays as it is."""
    return _UNSAFE.sub("_", name).lstrip(".")[:longest] or "_"


def machine_lock(what: str) -> FileLock:
    """The lock for `what`; its file lies in the temporary folder, so that results have no lock files beside them."""
    user = os.getuid() if hasattr(os, "getuid") else getpass.getuser()  # in a container a user may have no name
    key = content_key({"user": user, "what": what})
    return FileLock(Path(tempfile.gettempdir()) / f"gwn-{key}.lock", thread_local=False)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes; it is read, never interpreted."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def being_written(path: Path, *, advice: str = "choose another place with --out or free some space") -> Iterator[Path]:
    """A private file beside `path`, which takes its place when the block ends well and is gone otherwise.

    advice   what a person can do where it cannot be written
    """
    private = None
    try:
        make_folder(path.parent)
        _remove_abandoned(path)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.part-{os.getpid()}-")
        os.close(handle)
        private = Path(name)
        yield private
        os.chmod(private, 0o666 & ~_umask())  # temporary files are private; results are not
        publish(private, path)
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else (error.strerror or str(error))
        raise GWNError(f"cannot write {path}: {reason}; {advice}") from None
    finally:  # after an interrupt too
        if private is not None:
            private.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """A folder with those above it; the names of new ones are flushed, so that what is written there is found again."""
    new = []
    while not path.exists():
        new.append(path)
        path = path.parent
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "Not a directory", str(path))
    for folder in reversed(new):
        folder.mkdir(exist_ok=True)
        with suppress(OSError):  # Windows and some network disks know no flushing of a folder
            sync(folder.parent)


def require_writable(
    path: Path, *, option: str = "--out", folder: bool = False, reading: Iterable[str | Path | None] = ()
) -> None:
    """Refuse a place where nothing can be written, before the work whose outcome belongs there.

    folder    whether a folder is to be written there, and not a file
    reading   files that are read for this work, or that it was learnt from: they are not to be lost
    """
    for file in reading:
        if file is not None and path.exists() and Path(file).exists() and path.samefile(file):
            raise GWNError(f"{path} is read for this, and would be replaced; choose another place with {option}")
    if path.is_dir() and not folder:
        raise GWNError(f"{path} is a folder, and a file is to be written; name one in it with {option}")
    place = path
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        if place != path and not place.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "Not a directory")
        inside = place if place.is_dir() else place.parent
        tempfile.TemporaryFile(dir=inside).close()  # where the system can, a file that never has a name
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else (error.strerror or str(error))
        raise GWNError(f"cannot write {path}: {reason}; choose another place with {option}") from None


def require_space(path: Path, needed: int) -> None:
    """Refuse a disk that cannot hold `needed` more bytes at `path`."""
    place = path
    while not place.exists() and place != place.parent:
        place = place.parent
    free = shutil.disk_usage(place).free
    if needed > free:
        raise GWNError(
            f"{path} needs about {needed / 1e9:,.3g} GB and its disk has {free / 1e9:,.3g} GB free; "
            f"free some space or choose another place with --out"
        )


def publish(private: Path, path: Path, *, replace: bool = False) -> None:
    """Give a finished file or folder its name, in one step that survives a power cut.

    replace   a folder that has the name already is exchanged for the new one, and then removed
    """
    if replace and private.is_dir() and path.exists():
        with suppress(OSError):
            sync(private)
        _exchange(private, path)
        with suppress(OSError):
            sync(path.parent)
        shutil.rmtree(private, ignore_errors=True)
        return
    if private.is_file():
        sync(private)
    os.replace(private, path)
    with suppress(OSError):  # Windows and some network disks know no flushing of a folder
        sync(path.parent)


def sync(path: Path) -> None:
    """Have a file or the names in a folder on the disk."""
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _exchange(private: Path, path: Path) -> None:
    """Two folders swap their names: at once where Linux can, else with the old one aside for a moment.

    A process that is killed in that moment leaves `.NAME.old-PROCESS`, which `remove_abandoned_folders` puts back.
    """
    if sys.platform == "linux":
        library = ctypes.CDLL(None, use_errno=True)
        if hasattr(library, "renameat2"):
            here, swap = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
            if library.renameat2(here, os.fsencode(private), here, os.fsencode(path), swap) == 0:
                return
    aside = path.with_name(f".{path.name}.old-{os.getpid()}")
    os.replace(path, aside)
    try:
        os.replace(private, path)
    except OSError:
        os.replace(aside, path)
        raise
    os.replace(aside, private)


def remove_abandoned_folders(path: Path) -> None:
    """Put back a folder that a killed process had moved aside; remove what else it left of its work on `path`."""
    for left in _abandoned(path, "old"):
        if path.exists():
            shutil.rmtree(left, ignore_errors=True)
        else:
            os.replace(left, path)
    for left in _abandoned(path, "partial"):
        shutil.rmtree(left, ignore_errors=True)


def _remove_abandoned(path: Path) -> None:
    """Private files for `path` whose process was killed."""
    for left in _abandoned(path, "part"):
        left.unlink(missing_ok=True)


def _abandoned(path: Path, what: str) -> Iterator[Path]:
    """Private names for `path` whose process is gone."""
    for left in sorted(path.parent.glob(f".{_globbed(path.name)}.{what}-*")):
        owner = left.name.rsplit(f".{what}-", 1)[1].split("-", 1)[0]
        if owner.isdigit() and not is_running(int(owner)):
            yield left


def _globbed(name: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", name)


def is_running(process: int) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def write_atomic(path: Path, content: bytes) -> None:
    """The whole content of a file."""
    with being_written(path) as private:
        private.write_bytes(content)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_json(path: Path, data: Mapping[str, Any], *, sealed: bool = True) -> None:
    """A JSON object; `sealed` unless the data have a seal of their own."""
    if sealed:
        content = json.loads(json.dumps(data, allow_nan=False))
        content.pop(SEALED, None), content.pop(SEAL, None)  # of a file that was read without `read_json`
        data = {SEALED: "sha256", **content, SEAL: json_sha256(content)}
    write_atomic(path, (json.dumps(data, indent=2, allow_nan=False) + "\n").encode())


def json_sha256(content: Mapping[str, Any]) -> str:
    """SHA-256 of what a JSON object says, however it is laid out."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_json(path: Path, *, again: str = "train again") -> dict[str, Any]:
    """A JSON object without its seal, or one line that says what is wrong with the file.

    again   how to get the file anew
    """
    try:
        data = json.loads(read_bytes(path).decode())
    except FileNotFoundError:
        raise GWNError(f"{path} does not exist") from None
    except RecursionError:
        raise GWNError(f"{path} cannot be read as JSON (nested too deeply); it was edited: {again}") from None
    except OSError as error:
        raise GWNError(f"{path} cannot be read: {error.strerror or error}; {again}") from None
    except ValueError as error:
        raise GWNError(f"{path} cannot be read as JSON ({error}); it was cut or edited: {again}") from None
    if not isinstance(data, dict):
        raise GWNError(f"{path} does not hold a JSON object; it was edited: {again}")
    if SEALED in data or SEAL in data:
        method, seal = data.pop(SEALED, None), data.pop(SEAL, None)
        if method != "sha256" or seal != json_sha256(data):
            raise GWNError(f"{path} is not what was written (its seal does not fit): restore it, or {again}")
    return data


def require_shape(data: Any, shape: Any, place: str) -> None:
    """Refuse data that are not built as a record of ours is; `place` says where they stand.

    shape   a type or a tuple of types; [shape] for a list of it; {name: shape} for an object that has these entries
    """
    if isinstance(shape, dict):
        require_shape(data, dict, place)
        for name, inner in shape.items():
            if name not in data:
                raise GWNError(f"{place} has no {name!r}; it was edited: train again")
            require_shape(data[name], inner, f"{name} in {place}")
    elif isinstance(shape, list):
        require_shape(data, (list, tuple), place)
        for each in data:
            require_shape(each, shape[0], place)
    elif not isinstance(data, shape):
        raise GWNError(f"{place} is {str(data)[:60]!r}, which does not belong there; it was edited: train again")


def require_fields(data: Mapping[str, Any], kind: Any, place: str) -> None:
    """Refuse data that do not fit the annotated fields of the dataclass `kind`; entries may be missing."""
    for field in fields(kind):
        if field.name in data:
            require_annotated(data[field.name], str(field.type), f"{field.name} of {place}")


def require_annotated(value: Any, annotation: str, place: str) -> None:
    """Refuse a value that does not fit an annotation; one that is not known here takes everything."""
    if annotation in _SHAPES:
        require_shape(value, _SHAPES[annotation], place)


_NONE = type(None)
_SHAPES: dict[str, Any] = {
    "int": int,
    "str": str,
    "bool": bool,
    "float": (int, float),
    "int | None": (int, _NONE),
    "str | None": (str, _NONE),
    "bool | None": (bool, _NONE),
    "float | None": (int, float, _NONE),
    "dict[str, Any] | None": (dict, _NONE),
    "tuple[str, ...]": [str],
    "tuple[float, ...]": [(int, float)],
    "tuple[int, int, int]": [int],
}
"""Annotation -> what JSON has for it."""


def is_sealed(path: Path) -> bool:
    """Whether a JSON file claims to have a seal; files of version 0.1 have none."""
    content = path.read_bytes()
    return any(f'"{mark}"'.encode() in content for mark in (SEALED, SEAL))


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content of a regular file of bounded size; a pipe or a device is refused instead of waited for."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"it has {size:,} bytes, at most {most:,} are read", str(path))
        return file.read()


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading, unless it is a folder, a pipe or a device."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return os.fdopen(handle, "rb")


def write_weights(path: Path, weights: Mapping[str, Tensor]) -> str:
    """Save tensors as safetensors; the SHA-256 of the file."""
    from safetensors.torch import save as save_tensors

    content = save_tensors({name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()})
    write_atomic(path, content)
    return hashlib.sha256(content).hexdigest()


def read_weights(path: Path, sha256: str) -> dict[str, Tensor]:
    """Load tensors, refusing a file that is not the one that was written."""
    from safetensors import SafetensorError
    from safetensors.torch import load as load_tensors

    try:
        content = read_bytes(path)
    except OSError as error:
        raise GWNError(f"cannot read the weights {path}: {error.strerror}; train again") from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise GWNError(f"the weights {path} are truncated or were changed (SHA-256 differs); train again")
    try:
        tensors: dict[str, Tensor] = load_tensors(content)
    except SafetensorError as error:
        raise GWNError(f"the weights {path} cannot be read ({error}); train again") from None
    return tensors


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file, or one line that says what is wrong with it."""
    try:
        text = read_bytes(path, MOST_TOML).decode()
        if any(line.partition("=")[0].count(".") > MOST_DOTS for line in text.splitlines()):
            raise ValueError(f"a key has more than {MOST_DOTS} dots")  # the parser takes hours for fifty thousand
        return tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise GWNError(f"{path} cannot be read as TOML ({reason}); mend or delete it") from None


def write_toml(path: Path, tables: Mapping[str, Any], comment: str = "") -> None:
    """Write nested tables of numbers, texts, booleans and lists of these."""
    head = f"# {comment}\n\n" if comment else ""
    write_atomic(path, (head + to_toml(tables)).encode())


def to_toml(tables: Mapping[str, Any]) -> str:
    """The text; an entry that is None is left out, because TOML has no word for it."""
    return "\n\n".join(_blocks(tables, ())) + "\n"


def _blocks(table: Mapping[str, Any], place: tuple[str, ...]) -> list[str]:
    plain = [
        f"{_key(name)} = {_value(value)}"
        for name, value in table.items()
        if value is not None and not isinstance(value, Mapping)
    ]
    heading = [f"[{'.'.join(map(_key, place))}]"] if place and (plain or not table) else []
    blocks = ["\n".join([*heading, *plain])] if heading or plain else []
    for name, value in table.items():
        if isinstance(value, Mapping):
            blocks.extend(_blocks(value, (*place, name)))
    return blocks


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise GWNError(f"{value} does not belong into a settings file")
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"no TOML for {type(value).__name__}")


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON's escapes are among TOML's
