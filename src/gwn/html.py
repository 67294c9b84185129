"""Templates filled with text that can hold anything: whatever is not marked as markup is escaped."""

from __future__ import annotations

import base64
import hashlib
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


def json_block(data: Any) -> Markup:
    """Data for a `<script type="application/json">` that no text in it can leave."""
    return Markup(json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"))


def policy_hash(text: str) -> str:
    """What a Content-Security-Policy calls an inline script or style by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
