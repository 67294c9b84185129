"""Templates filled with text that can hold anything: whatever is not marked as markup is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from string import Template
from typing import Any


class Markup(str):
    """Text that is already HTML."""

    __slots__ = ()


def template(name: str) -> str:
    """The text of a file in `templates/`."""
    return files("gwn").joinpath("templates", name).read_text(encoding="utf-8")


def fill(text: str, /, **values: object) -> Markup:
    """`$name` replaced by its value, escaped unless it is `Markup`; a name without a value is a mistake of ours."""
    return Markup(Template(text).substitute({name: as_html(value) for name, value in values.items()}))


def as_html(value: object) -> str:
    return str(value) if isinstance(value, Markup) else escape(str(value))


def join(parts: Iterable[Markup], between: str = "\n") -> Markup:
    return Markup(between.join(parts))


def assignment(place: str, data: Any) -> bytes:
    """`place = data;` as a script, which a page can load from the disk where it may not fetch JSON."""
    return f"{place} = {json.dumps(data, separators=(',', ':'), allow_nan=False)};\n".encode()
