"""Text that can hold anything, as people see it: templates are filled with it escaped, nothing steers a terminal."""

from __future__ import annotations

import base64
import hashlib
import json
import unicodedata
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

JOINERS = "\u200c\u200d"
"""Signs without a width that belong to words of some scripts and to emoji."""


def printable(text: str) -> str:
    """Text from a table as a person may see it: control characters and direction marks are written out."""
    return "".join(sign if _is_harmless(sign) else repr(sign)[1:-1] for sign in text)


def _is_harmless(sign: str) -> bool:
    return sign.isprintable() or sign in JOINERS or unicodedata.category(sign) == "Zs"


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
    return str(value) if isinstance(value, Markup) else escape("\n".join(map(printable, str(value).split("\n"))))


def join(parts: Iterable[Markup], between: str = "\n") -> Markup:
    return Markup(between.join(parts))


def json_block(data: Any) -> Markup:
    """Data for a `<script type="application/json">` that no text in it can leave."""
    return Markup(json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"))


def policy_hash(text: str) -> str:
    """What a Content-Security-Policy calls an inline script or style by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
