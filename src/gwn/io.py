"""TOML in and out: the standard library reads it and nobody in it writes it, so a small writer for plain tables."""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from gwn.errors import GWNError


def content_key(description: Mapping[str, Any]) -> str:
    """Twelve hex digits that are equal exactly when the description is."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:12]


def write_atomic(path: Path, content: bytes) -> None:
    """Write beside the target, flush to disk, then rename: a reader sees the old file or the new one."""
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".part-", delete=False) as handle:
            temporary = handle.name
            handle.write(content)
            handle.flush()
            os.fsync(handle.fileno())
        os.chmod(temporary, 0o666 & ~_umask())  # temporary files are private; results are not
        os.replace(temporary, path)
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else (error.strerror or str(error))
        raise GWNError(f"cannot write {path}: {reason}; choose another place with --out or free some space") from None
    finally:  # after an interrupt too
        if temporary is not None:
            with suppress(OSError):
                os.unlink(temporary)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    write_atomic(path, (json.dumps(data, indent=2, allow_nan=False) + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object, or one line that says what is wrong with the file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise GWNError(f"{path} does not exist") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise GWNError(f"{path} cannot be read as JSON ({error}); it was cut or edited: train again") from None
    if not isinstance(data, dict):
        raise GWNError(f"{path} does not hold a JSON object; it was edited: train again")
    return data


def write_weights(path: Path, weights: Mapping[str, Tensor]) -> str:
    """Save tensors as safetensors; the SHA-256 of the file."""
    content = save_tensors({name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()})
    write_atomic(path, content)
    return hashlib.sha256(content).hexdigest()


def read_weights(path: Path, sha256: str) -> dict[str, Tensor]:
    """Load tensors, refusing a file that is not the one that was written."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise GWNError(f"cannot read the weights {path}: {error.strerror}; train again") from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise GWNError(f"the weights {path} are truncated or were changed (SHA-256 differs); train again")
    try:
        tensors: dict[str, Tensor] = load_tensors(content)
    except SafetensorError as error:
        raise GWNError(f"the weights {path} cannot be read ({error}); train again") from None
    return tensors


if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file, or one line that says what is wrong with it."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
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
