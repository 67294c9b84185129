"""Files under `runs/`: written whole or not at all, addressed by what was asked for, and never pickled."""

from __future__ import annotations

import errno
import hashlib
import json
import os
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
