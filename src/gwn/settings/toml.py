"""TOML in and out: the standard library reads it and nobody in it writes it, so a small writer for plain tables."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gwn.errors import GWNError
from gwn.training.store import write_atomic

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
